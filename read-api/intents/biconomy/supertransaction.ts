import {
  type Address,
  concatHex,
  encodeAbiParameters,
  type Hex,
  keccak256,
  parseAbiParameters,
  toHex,
} from 'viem'
import type { MeeUserOp } from './wire.ts'

/** Of ERC-4337, version 0.7. */
const ENTRY_POINT: Address = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'

const packed = parseAbiParameters(
  'address sender, uint256 nonce, bytes32 initCode, bytes32 callData, bytes32 accountGasLimits, uint256 preVerificationGas, bytes32 gasFees, bytes32 paymasterAndData',
)
const scoped = parseAbiParameters('bytes32 userOp, address entryPoint, uint256 chainId')
const bounded = parseAbiParameters('bytes32 userOpHash, uint256 lowerBound, uint256 upperBound')

const two = (high: bigint, low: bigint): Hex => toHex((high << 128n) | low, { size: 32 })

/** @see getUserOpHash of EntryPoint v0.7 */
export function userOpHashOf({ userOp, chainId }: Pick<MeeUserOp, 'userOp' | 'chainId'>): Hex {
  const hash = keccak256(
    encodeAbiParameters(packed, [
      userOp.sender,
      userOp.nonce,
      keccak256(userOp.initCode ?? '0x'),
      keccak256(userOp.callData),
      two(userOp.verificationGasLimit, userOp.callGasLimit),
      userOp.preVerificationGas,
      two(userOp.maxPriorityFeePerGas, userOp.maxFeePerGas),
      keccak256(userOp.paymasterAndData ?? '0x'),
    ]),
  )
  return keccak256(encodeAbiParameters(scoped, [hash, ENTRY_POINT, BigInt(chainId)]))
}

/** @see MEEUserOpHashLib.sol of bcnmy/stx-contracts */
export const meeUserOpHashOf = (userOpHash: Hex, lowerBound: number, upperBound: number): Hex =>
  keccak256(keccak256(encodeAbiParameters(bounded, [userOpHash, BigInt(lowerBound), BigInt(upperBound)])))

/**
 * The root of the tree over the user operations, which is what the owner signs.
 * @see SimpleMerkleTree of @openzeppelin/merkle-tree with sorted leaves, and PermitValidatorLib.sol of bcnmy/stx-contracts
 */
export function superTransactionHashOf(leaves: readonly Hex[]): Hex {
  const sorted = [...leaves].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  // A heap whose last places hold the leaves, the smallest at the very end.
  const heap = [...Array<Hex>(Math.max(0, sorted.length - 1)), ...sorted.reverse()]
  for (let n = sorted.length - 2; n >= 0; n--) {
    const [a, b] = [heap[2 * n + 1] as Hex, heap[2 * n + 2] as Hex]
    heap[n] = keccak256(a < b ? concatHex([a, b]) : concatHex([b, a]))
  }
  return heap[0] as Hex
}
