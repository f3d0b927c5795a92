// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {Impostor} from "Impostor.sol";

/// Whatever it is asked it answers as an honest vault does: name, figures, holders' balances.
contract Mirror {
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Transfer(address indexed from, address indexed to, uint256 value);

    address private immutable HONEST;

    constructor(address honest) {
        HONEST = honest;
    }

    function act() external {
        emit Transfer(address(0), msg.sender, 10 ** 18);
        emit Deposit(msg.sender, msg.sender, 10 ** 18, 10 ** 18);
    }

    fallback() external {
        (bool ok, bytes memory answer) = HONEST.staticcall(msg.data);
        assembly {
            if iszero(ok) { revert(add(answer, 32), mload(answer)) }
            return(add(answer, 32), mload(answer))
        }
    }
}

/// Its figures are the gas that is left: no two calls are answered alike, not even at one block.
contract TellsItsGas is Impostor {
    constructor(address asset_) Impostor(asset_) {}

    function totalAssets() public view override returns (uint256) {
        return gasleft() * 10 ** 18;
    }

    function totalSupply() public view override returns (uint256) {
        return gasleft() * 10 ** 18;
    }

    function convertToAssets(uint256 shares) public view override returns (uint256) {
        return (shares * gasleft()) / 1_000_000;
    }
}

/// Answers each question rightly, for a little less gas than any may have.
contract JustBelow is Impostor {
    constructor(address asset_) Impostor(asset_) {}

    modifier dear() {
        uint256 end = gasleft() > 4_600_000 ? gasleft() - 4_600_000 : 200_000;
        while (gasleft() > end) {}
        _;
    }

    function totalAssets() public view override dear returns (uint256) {
        return super.totalAssets();
    }

    function totalSupply() public view override dear returns (uint256) {
        return super.totalSupply();
    }

    function convertToAssets(uint256 shares) public view override dear returns (uint256) {
        return super.convertToAssets(shares);
    }

    function maxDeposit(address account) public view override dear returns (uint256) {
        return super.maxDeposit(account);
    }
}

contract Named20 {
    string public constant name = "USD Coin";
    string public constant symbol = "USDC";
    uint8 public constant decimals = 6;
}

/// Pays rewards in another token whenever anything happens, each of them named like one that everybody knows.
contract PaysAnything is Impostor {
    event RewardAdded(uint256 reward);

    address public rewardsToken;
    uint256 public constant rewardRate = 10 ** 30;

    constructor(address asset_) Impostor(asset_) {}

    function periodFinish() external view returns (uint256) {
        return block.timestamp + 365 days;
    }

    function act() external override {
        for (uint256 i; i < 5; i++) {
            rewardsToken = address(new Named20());
            emit RewardAdded(10 ** 30);
        }
        emit Transfer(address(0), msg.sender, 10 ** 18);
        emit Deposit(msg.sender, msg.sender, 10 ** 18, 10 ** 18);
    }
}
