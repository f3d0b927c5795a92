// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC4626} from "@openzeppelin/contracts/interfaces/IERC4626.sol";

/// Many deposits for many owners in one transaction: a chain full of a vault's logs in little time.
contract DepositBurst {
    constructor(IERC4626 vault) {
        IERC20(vault.asset()).approve(address(vault), type(uint256).max);
    }

    function run(IERC4626 vault, uint256 first, uint256 count) external {
        for (uint256 i = first; i < first + count; i++) {
            vault.deposit(1e6 + i, address(uint160(0x10000 + (i % 5000))));
        }
    }
}
