// SPDX-License-Identifier: GPL-3.0-or-later

/// Makes calls to contracts that nobody vouches for: each with bounded gas and a bounded answer.
/// It is never deployed: an eth_call without a receiver runs it as the code of a constructor, and what it returns is the
/// answer. Every node does that, and the answer has to be no longer than a contract's code may be (EIP-170).
///
/// Behind the code: gas of a call (32 bytes), bytes of an answer at most (32), bytes of all answers after which it stops
///                  (32), gas after which it stops (32), then of each call: address (20), length of the data (4), the data.
/// Answered:        of each call: how it ended (1: 0 failed, 1 answered, 2 failed with all its gas used, 3 answered more
///                  than wanted, which is left out), length of the answer (4), gas that the call used (4), the answer. What is missing
///                  at the end was not asked. The first call always is.
object "BoundedReader" {
  code {
    let size := sub(codesize(), datasize("BoundedReader"))
    codecopy(0, datasize("BoundedReader"), size)
    let most := mload(0)
    let wanted := mload(32)
    let room := mload(64)
    let budget := mload(96)
    let gasAtFirst := gas()
    let out := size
    for { let at := 128 } lt(at, size) {} {
      let target := shr(96, mload(at))
      let length := shr(224, mload(add(at, 20)))
      at := add(at, 24)
      if gt(out, size) {
        // 63/64 of the gas can be given on; what is left has to do for the answer.
        if lt(gas(), add(most, add(div(most, 32), mul(room, 250)))) { break }
        if gt(sub(gasAtFirst, gas()), budget) { break }
        if gt(add(sub(out, size), wanted), room) { break }
      }
      let before := gas()
      let how := staticcall(most, target, at, length, 0, 0)
      let used := sub(before, gas())
      at := add(at, length)
      let answer := mul(how, returndatasize())
      if and(iszero(how), gt(used, sub(most, div(most, 32)))) { how := 2 }
      if gt(answer, wanted) {
        answer := 0
        how := 3
      }
      mstore8(out, how)
      mstore(add(out, 1), shl(224, answer))
      mstore(add(out, 5), shl(224, used))
      out := add(out, 9)
      returndatacopy(out, 0, answer)
      out := add(out, answer)
    }
    return(size, sub(out, size))
  }
}
