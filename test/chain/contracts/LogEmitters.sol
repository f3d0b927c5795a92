// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

/// Emits logs of the shape of ERC-4626 but answers none of its questions: no vault.
contract NotAVault {
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );

    function deposit(uint256 amount) external {
        emit Deposit(msg.sender, msg.sender, amount, amount);
    }

    function withdraw(uint256 amount) external {
        emit Withdraw(msg.sender, msg.sender, msg.sender, amount, amount);
    }
}

/// Emits whatever log it is told to: up to four topics and any data.
contract AnyLog {
    function emitLog(bytes32[] calldata topics, bytes calldata data) external {
        bytes memory copy = data;
        uint256 n = topics.length;
        require(n <= 4, "at most four topics");
        bytes32 a = n > 0 ? topics[0] : bytes32(0);
        bytes32 b = n > 1 ? topics[1] : bytes32(0);
        bytes32 c = n > 2 ? topics[2] : bytes32(0);
        bytes32 d = n > 3 ? topics[3] : bytes32(0);
        assembly {
            let at := add(copy, 32)
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
