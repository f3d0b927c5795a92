// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {ERC4626, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";

/// Test money with OpenZeppelin's ERC-2612. What is signed by depends on nothing in its storage, so that its code may be put at
/// any address.
contract PermitToken is ERC20Permit {
    constructor() ERC20("Permit money", "PM") ERC20Permit("Permit money") {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// OpenZeppelin's ERC-4626 whose shares have 12 decimals more than the asset, and a permit.
contract PermitVault is ERC4626, ERC20Permit {
    constructor(IERC20 asset_) ERC20("Permit vault", "PV") ERC20Permit("Permit vault") ERC4626(asset_) {}

    function decimals() public view override(ERC20, ERC4626) returns (uint8) {
        return super.decimals();
    }

    function _decimalsOffset() internal pure override returns (uint8) {
        return 12;
    }
}

/// Says which account it would make, as the factories of smart accounts do.
contract AccountFactory {
    function computeAccountAddress(bytes calldata initData, bytes32 salt) external view returns (address) {
        return address(uint160(uint256(keccak256(abi.encode(address(this), initData, salt)))));
    }
}
