// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {Impostor} from "Impostor.sol";

/// A vault to who asks from an address without code and with little gas, and something else to everybody else.
contract AnswersByCaller is Impostor {
    address private immutable OTHER;

    constructor(address asset_, address other) Impostor(asset_) {
        OTHER = other;
    }

    function asset() public view override returns (address) {
        return msg.sender.code.length == 0 && gasleft() < 3_000_000 ? _asset : OTHER;
    }

    function decimals() public view override returns (uint256) {
        return tx.origin == address(0) ? 18 : 6;
    }

    function totalAssets() public view override returns (uint256) {
        return msg.sender == tx.origin ? 10 ** 30 : block.coinbase == address(0) ? 1 : 10 ** 24;
    }

    function totalSupply() public view override returns (uint256) {
        return gasleft() > 4_000_000 ? 0 : 10 ** 24;
    }
}

/// A token that says other decimals, and another name, every day.
contract FickleToken {
    string public constant name = "USD Coin";

    function decimals() public view returns (uint256) {
        return (block.timestamp / 1 days) % 19;
    }

    function symbol() external view returns (string memory) {
        return decimals() % 2 == 0 ? "USDC" : "WETH";
    }

    function totalSupply() external pure returns (uint256) {
        return type(uint256).max;
    }

    function balanceOf(address) external view returns (uint256) {
        return 10 ** (block.timestamp % 77);
    }
}

/// Logs as a vault does while it is made, and is gone when the transaction ends.
contract Mayfly is Impostor {
    constructor(address asset_) Impostor(asset_) {
        emit Transfer(address(0), tx.origin, 10 ** 18);
        emit Deposit(tx.origin, tx.origin, 10 ** 18, 10 ** 18);
        selfdestruct(payable(tx.origin));
    }
}

contract Mayflies {
    function act(address asset_, uint256 n) external {
        for (uint256 i; i < n; i++) new Mayfly(asset_);
    }
}

/// Logs of the right names, with as many topics and as much data as nobody expects.
contract Misshapen is Impostor {
    constructor(address asset_) Impostor(asset_) {}

    function act() external override {
        emit Transfer(address(0), msg.sender, 10 ** 18);
        emit Deposit(msg.sender, msg.sender, 10 ** 18, 10 ** 18);
        bytes32[3] memory names = [
            keccak256("Transfer(address,address,uint256)"),
            keccak256("Deposit(address,address,uint256,uint256)"),
            keccak256("Withdraw(address,address,address,uint256,uint256)")
        ];
        uint256[6] memory sizes = [uint256(0), 31, 33, 65, 127, 320];
        for (uint256 i; i < names.length; i++) {
            bytes32 topic = names[i];
            for (uint256 j; j < sizes.length; j++) {
                uint256 size = sizes[j];
                assembly {
                    log1(0, size, topic)
                    log2(0, size, topic, not(0))
                    log3(0, size, topic, not(0), caller())
                    log4(0, size, topic, caller(), not(0), caller())
                }
            }
        }
    }

    /// The same with so much data each.
    function heavy(uint256 n, uint256 size) external {
        bytes32[2] memory names = [
            keccak256("Transfer(address,address,uint256)"), keccak256("Deposit(address,address,uint256,uint256)")
        ];
        for (uint256 i; i < n; i++) {
            bytes32 topic = names[i % 2];
            assembly {
                log3(0, size, topic, caller(), caller())
            }
        }
    }
}
