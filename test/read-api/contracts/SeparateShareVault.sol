// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20, IERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// Asynchronous in both directions, with a share token of its own (ERC-7575) that it may move without an allowance, as
/// Centrifuge's vaults do; written for the tests. A share is worth one unit of the asset.
contract SeparateShareVault {
    IERC20 public immutable asset;
    SeparateShare public immutable share;
    bool public paysNothing;
    mapping(address controller => uint256) private _pendingAssets;
    mapping(address controller => uint256) private _pendingShares;
    mapping(address controller => uint256) public maxDeposit;
    mapping(address controller => uint256) public maxRedeem;

    constructor(IERC20 asset_) {
        asset = asset_;
        share = new SeparateShare();
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0xce3bbe50 || id == 0x620ee8e4 || id == 0x2f0a18c5;
    }

    function setPaysNothing(bool value) external {
        paysNothing = value;
    }

    function totalAssets() external view returns (uint256) {
        return share.totalSupply();
    }

    function convertToAssets(uint256 shares) external pure returns (uint256) {
        return shares;
    }

    function maxWithdraw(address controller) external view returns (uint256) {
        return maxRedeem[controller];
    }

    function pendingDepositRequest(uint256, address controller) external view returns (uint256) {
        return _pendingAssets[controller];
    }

    function pendingRedeemRequest(uint256, address controller) external view returns (uint256) {
        return _pendingShares[controller];
    }

    function requestDeposit(uint256 assets, address controller, address owner) external returns (uint256) {
        require(msg.sender == owner, "not the owner");
        asset.transferFrom(owner, address(this), assets);
        _pendingAssets[controller] += assets;
        return 0;
    }

    function requestRedeem(uint256 shares, address controller, address owner) external returns (uint256) {
        require(msg.sender == owner, "not the owner");
        share.take(owner, shares);
        _pendingShares[controller] += shares;
        return 0;
    }

    function fulfil(address controller) external {
        maxDeposit[controller] += _pendingAssets[controller];
        maxRedeem[controller] += _pendingShares[controller];
        (_pendingAssets[controller], _pendingShares[controller]) = (0, 0);
    }

    function deposit(uint256 assets, address receiver, address controller) external returns (uint256) {
        require(msg.sender == controller, "not the controller");
        maxDeposit[controller] -= assets;
        share.mint(receiver, paysNothing ? 0 : assets);
        return assets;
    }

    function redeem(uint256 shares, address receiver, address controller) external returns (uint256) {
        require(msg.sender == controller, "not the controller");
        maxRedeem[controller] -= shares;
        share.burn(shares);
        asset.transfer(receiver, shares);
        return shares;
    }
}

contract SeparateShare is ERC20 {
    address private immutable _vault = msg.sender;

    modifier onlyVault() {
        require(msg.sender == _vault, "not the vault");
        _;
    }

    constructor() ERC20("Share of its own", "OWN") {}

    function mint(address to, uint256 amount) external onlyVault {
        _mint(to, amount);
    }

    function burn(uint256 amount) external onlyVault {
        _burn(msg.sender, amount);
    }

    function take(address from, uint256 amount) external onlyVault {
        _transfer(from, msg.sender, amount);
    }
}
