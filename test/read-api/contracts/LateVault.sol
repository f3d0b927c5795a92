// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";

/// Logs Deposit and Withdraw when they are requested, with the shares as they would be then, and mints and burns in a later
/// transaction, at a price of then: a little less. In the manner of Umami's vaults on Arbitrum.
contract LateVault is ERC4626 {
    mapping(address => uint256) public pendingAssets;
    mapping(address => uint256) public pendingShares;

    constructor(IERC20 asset_) ERC20("Late", "late") ERC4626(asset_) {}

    function totalAssets() public view override returns (uint256) {
        return totalSupply();
    }

    function deposit(uint256 assets, address receiver) public override returns (uint256 shares) {
        shares = previewDeposit(assets);
        IERC20(asset()).transferFrom(msg.sender, address(this), assets);
        pendingAssets[receiver] += assets;
        emit Deposit(msg.sender, receiver, assets, shares);
    }

    function redeem(uint256 shares, address receiver, address owner) public override returns (uint256 assets) {
        require(msg.sender == owner && receiver == owner, "not the owner");
        assets = previewRedeem(shares);
        pendingShares[owner] += shares;
        emit Withdraw(msg.sender, receiver, owner, assets, shares);
    }

    function execute(address owner) external {
        uint256 assets = pendingAssets[owner];
        uint256 shares = pendingShares[owner];
        (pendingAssets[owner], pendingShares[owner]) = (0, 0);
        if (assets > 0) _mint(owner, assets - assets / 1000);
        if (shares == 0) return;
        _burn(owner, shares);
        IERC20(asset()).transfer(owner, shares - shares / 1000);
    }
}
