// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

/// Answers and logs as an ERC-4626 vault does, and holds nothing. What misbehaves says so by overriding.
contract Impostor {
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event Transfer(address indexed from, address indexed to, uint256 value);

    address internal _asset;

    constructor(address asset_) {
        _asset = asset_;
    }

    function asset() public view virtual returns (address) {
        return _asset;
    }

    function name() public view virtual returns (string memory) {
        return "Impostor";
    }

    function symbol() public view virtual returns (string memory) {
        return "IMP";
    }

    function decimals() public view virtual returns (uint256) {
        return 18;
    }

    function totalAssets() public view virtual returns (uint256) {
        return 10 ** 24;
    }

    function totalSupply() public view virtual returns (uint256) {
        return 10 ** 24;
    }

    function balanceOf(address) public view virtual returns (uint256) {
        return 10 ** 18;
    }

    function convertToAssets(uint256 shares) public view virtual returns (uint256) {
        return shares;
    }

    function convertToShares(uint256 assets) public view virtual returns (uint256) {
        return assets;
    }

    function maxDeposit(address) public view virtual returns (uint256) {
        return type(uint256).max;
    }

    function allowance(address, address) public view virtual returns (uint256) {
        return type(uint256).max;
    }

    function supportsInterface(bytes4) public view virtual returns (bool) {
        return false;
    }

    function approve(address, uint256) external returns (bool) {
        return true;
    }

    function deposit(uint256 assets, address receiver) external returns (uint256) {
        emit Transfer(address(0), receiver, assets);
        emit Deposit(msg.sender, receiver, assets, assets);
        return assets;
    }

    /// What brings it up, again and again.
    function act() external virtual {
        emit Transfer(address(0), msg.sender, 10 ** 18);
        emit Deposit(msg.sender, msg.sender, 10 ** 18, 10 ** 18);
    }
}
