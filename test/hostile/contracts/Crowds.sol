// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {Impostor} from "Impostor.sol";

/// Makes vaults by the hundred, all announced at once.
contract Crowd {
    Impostor[] public vaults;

    function grow(address asset_, uint256 n) external {
        for (uint256 i; i < n; i++) vaults.push(new Impostor(asset_));
    }

    /// Each the asset of the next.
    function nest(address asset_, uint256 n) external {
        if (vaults.length > 0) asset_ = address(vaults[vaults.length - 1]);
        for (uint256 i; i < n; i++) {
            vaults.push(new Impostor(asset_));
            asset_ = address(vaults[vaults.length - 1]);
        }
    }

    /// The outermost first.
    function act() external {
        for (uint256 i = vaults.length; i > 0; i--) vaults[i - 1].act();
    }
}

/// Logs without end, and any log that there is.
contract Chatter is Impostor {
    constructor(address asset_) Impostor(asset_) {}

    function transfers(uint256 n) external {
        for (uint256 i; i < n; i++) emit Transfer(msg.sender, address(uint160(i + 1)), 1);
    }

    function deposits(uint256 n) external {
        for (uint256 i; i < n; i++) emit Deposit(msg.sender, address(uint160(i + 1)), 1, 1);
    }

    /// As a token of ERC-721 logs them: the id is a topic.
    function collectibles(uint256 n) external {
        bytes32 topic = keccak256("Transfer(address,address,uint256)");
        for (uint256 i; i < n; i++) {
            assembly {
                log4(0, 0, topic, 0, caller(), i)
            }
        }
    }

    function emitLogs(bytes32[][] calldata topics, bytes[] calldata data) external {
        for (uint256 i; i < topics.length; i++) _emitLog(topics[i], data[i]);
    }

    function _emitLog(bytes32[] calldata topics, bytes calldata data) private {
        bytes memory copy = data;
        uint256 n = topics.length;
        bytes32 a = n > 0 ? topics[0] : bytes32(0);
        bytes32 b = n > 1 ? topics[1] : bytes32(0);
        bytes32 c = n > 2 ? topics[2] : bytes32(0);
        bytes32 d = n > 3 ? topics[3] : bytes32(0);
        assembly {
            let at := add(copy, 0x20)
            let size := mload(copy)
            switch n
            case 0 { log0(at, size) }
            case 1 { log1(at, size, a) }
            case 2 { log2(at, size, a, b) }
            case 3 { log3(at, size, a, b, c) }
            default { log4(at, size, a, b, c, d) }
        }
    }
}
