// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";

/// Written for the tests after Morpho's VaultV2: limits that always say 0, a gate on who receives shares, and assets
/// lent out through an adapter, which come back only where it is the liquidity adapter.
contract VaultV2Like is ERC4626 {
    error CannotReceiveShares();

    address public liquidityAdapter;
    mapping(address adapter => uint256) public forceDeallocatePenalty;
    mapping(address account => bool) public barred;
    Adapter public immutable adapter;

    constructor(IERC20 asset_) ERC20("Vault V2", "V2") ERC4626(asset_) {
        adapter = new Adapter(asset_);
    }

    function setLiquidityAdapter(bool set) external {
        liquidityAdapter = set ? address(adapter) : address(0);
    }

    function bar(address account, bool isBarred) external {
        barred[account] = isBarred;
    }

    function allocate(uint256 assets) external {
        IERC20(asset()).transfer(address(adapter), assets);
    }

    function totalAssets() public view override returns (uint256) {
        return IERC20(asset()).balanceOf(address(this)) + IERC20(asset()).balanceOf(address(adapter));
    }

    function maxDeposit(address) public pure override returns (uint256) {
        return 0;
    }

    function maxMint(address) public pure override returns (uint256) {
        return 0;
    }

    function maxWithdraw(address) public pure override returns (uint256) {
        return 0;
    }

    function maxRedeem(address) public pure override returns (uint256) {
        return 0;
    }

    function deposit(uint256 assets, address onBehalf) public override returns (uint256 shares) {
        if (barred[onBehalf]) revert CannotReceiveShares();
        shares = previewDeposit(assets);
        _deposit(msg.sender, onBehalf, assets, shares);
    }

    function withdraw(uint256 assets, address receiver, address onBehalf) public override returns (uint256 shares) {
        shares = previewWithdraw(assets);
        _exit(assets, shares, receiver, onBehalf);
    }

    function redeem(uint256 shares, address receiver, address onBehalf) public override returns (uint256 assets) {
        assets = previewRedeem(shares);
        _exit(assets, shares, receiver, onBehalf);
    }

    function _exit(uint256 assets, uint256 shares, address receiver, address onBehalf) private {
        uint256 idle = IERC20(asset()).balanceOf(address(this));
        if (assets > idle && liquidityAdapter != address(0)) adapter.deallocate(assets - idle);
        _withdraw(msg.sender, receiver, onBehalf, assets, shares);
    }
}

contract Adapter {
    IERC20 private immutable _asset;
    address private immutable _vault;

    constructor(IERC20 asset_) {
        (_asset, _vault) = (asset_, msg.sender);
    }

    function deallocate(uint256 assets) external {
        require(msg.sender == _vault, "not the vault");
        _asset.transfer(_vault, assets);
    }
}
