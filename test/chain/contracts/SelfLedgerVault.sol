// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

interface IMintable {
    function balanceOf(address holder) external view returns (uint256);
    function mint(address to, uint256 amount) external;
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// A savings vault in the manner of sDAI: Deposit and Withdraw are emitted without a share Transfer for the mint or
/// burn (holders' own transfers do emit one), and the share price grows by the second without any log.
contract SelfLedgerVault {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );

    uint256 private constant RAY = 1e27;

    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    address public immutable asset;
    /// Growth of one share a second, in rays; linear.
    uint256 public immutable rate;
    uint256 public immutable start;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    constructor(address asset_, string memory name_, string memory symbol_, uint256 rate_) {
        asset = asset_;
        name = name_;
        symbol = symbol_;
        rate = rate_;
        start = block.timestamp;
    }

    /// Assets of one share, in rays.
    function chi() public view returns (uint256) {
        return RAY + rate * (block.timestamp - start);
    }

    function totalAssets() external view returns (uint256) {
        return convertToAssets(totalSupply);
    }

    function convertToAssets(uint256 shares) public view returns (uint256) {
        return (shares * chi()) / RAY;
    }

    function convertToShares(uint256 assets) public view returns (uint256) {
        return (assets * RAY) / chi();
    }

    function previewDeposit(uint256 assets) public view returns (uint256) {
        return convertToShares(assets);
    }

    function previewMint(uint256 shares) public view returns (uint256) {
        return (shares * chi() + RAY - 1) / RAY;
    }

    function previewWithdraw(uint256 assets) public view returns (uint256) {
        return (assets * RAY + chi() - 1) / chi();
    }

    function previewRedeem(uint256 shares) public view returns (uint256) {
        return convertToAssets(shares);
    }

    function maxDeposit(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function maxMint(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function maxWithdraw(address owner) external view returns (uint256) {
        return convertToAssets(balanceOf[owner]);
    }

    function maxRedeem(address owner) external view returns (uint256) {
        return balanceOf[owner];
    }

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        shares = previewDeposit(assets);
        _enter(assets, shares, receiver);
    }

    function mint(uint256 shares, address receiver) external returns (uint256 assets) {
        assets = previewMint(shares);
        _enter(assets, shares, receiver);
    }

    function withdraw(uint256 assets, address receiver, address owner) external returns (uint256 shares) {
        shares = previewWithdraw(assets);
        _leave(assets, shares, receiver, owner);
    }

    function redeem(uint256 shares, address receiver, address owner) external returns (uint256 assets) {
        assets = previewRedeem(shares);
        _leave(assets, shares, receiver, owner);
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        _spend(from, amount);
        return _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
        return true;
    }

    function _enter(uint256 assets, uint256 shares, address receiver) private {
        IMintable(asset).transferFrom(msg.sender, address(this), assets);
        totalSupply += shares;
        balanceOf[receiver] += shares;
        emit Deposit(msg.sender, receiver, assets, shares);
    }

    function _leave(uint256 assets, uint256 shares, address receiver, address owner) private {
        _spend(owner, shares);
        totalSupply -= shares;
        balanceOf[owner] -= shares;
        // Where sDAI draws its interest from Maker, this one prints what it lacks.
        uint256 held = IMintable(asset).balanceOf(address(this));
        if (held < assets) IMintable(asset).mint(address(this), assets - held);
        IMintable(asset).transfer(receiver, assets);
        emit Withdraw(msg.sender, receiver, owner, assets, shares);
    }

    function _spend(address from, uint256 amount) private {
        if (from == msg.sender) return;
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - amount;
    }
}
