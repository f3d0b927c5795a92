// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";

/// OpenZeppelin's ERC-4626 with the offset of share decimals over asset decimals given at construction. It earns
/// when the asset is donated to it and loses when the asset is burned from it.
contract TestVault is ERC4626 {
    uint8 private immutable _offset;

    constructor(IERC20 asset_, string memory name_, string memory symbol_, uint8 offset_)
        ERC20(name_, symbol_)
        ERC4626(asset_)
    {
        _offset = offset_;
    }

    function _decimalsOffset() internal view override returns (uint8) {
        return _offset;
    }
}
