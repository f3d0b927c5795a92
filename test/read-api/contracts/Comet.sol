// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// The base side of a Compound v3 market, written for the tests after Comet's interface and behaviour: balances are
/// principal times an index of 15 decimals, supply rounds down, withdrawing more than the balance borrows.
contract CometLike {
    using SafeERC20 for IERC20;

    error Paused();
    error NotCollateralized();

    address public immutable baseToken;
    uint8 public immutable decimals;
    string public constant name = "Comet-like";
    string public constant symbol = "cTST";
    bool public isSupplyPaused;
    bool public isWithdrawPaused;
    uint64 public baseSupplyIndex = 1e15;
    mapping(address => int104) public principalOf;
    mapping(address => uint64) public baseTrackingAccrued;
    uint256 private _totalPrincipal;

    constructor(address baseToken_, uint8 decimals_) {
        baseToken = baseToken_;
        decimals = decimals_;
    }

    function pause(bool supply_, bool withdraw_) external {
        (isSupplyPaused, isWithdrawPaused) = (supply_, withdraw_);
    }

    function setIndex(uint64 index) external {
        baseSupplyIndex = index;
    }

    function setAccrued(address account, uint64 amount) external {
        baseTrackingAccrued[account] = amount;
    }

    function accrueAccount(address) external {}

    function baseAccrualScale() external pure returns (uint64) {
        return 1e6;
    }

    function balanceOf(address account) public view returns (uint256) {
        int104 principal = principalOf[account];
        return principal > 0 ? (uint256(uint104(principal)) * baseSupplyIndex) / 1e15 : 0;
    }

    function borrowBalanceOf(address account) external view returns (uint256) {
        int104 principal = principalOf[account];
        return principal < 0 ? uint256(uint104(-principal)) : 0;
    }

    function totalSupply() external view returns (uint256) {
        return (_totalPrincipal * baseSupplyIndex) / 1e15;
    }

    function supply(address asset, uint256 amount) external {
        if (isSupplyPaused) revert Paused();
        require(asset == baseToken, "base only");
        uint256 before = IERC20(asset).balanceOf(address(this));
        IERC20(asset).safeTransferFrom(msg.sender, address(this), amount);
        _set(msg.sender, int256(balanceOf(msg.sender) + IERC20(asset).balanceOf(address(this)) - before));
    }

    function withdraw(address asset, uint256 amount) external {
        if (isWithdrawPaused) revert Paused();
        require(asset == baseToken, "base only");
        if (amount == type(uint256).max) amount = balanceOf(msg.sender);
        int256 left = int256(balanceOf(msg.sender)) - int256(amount);
        if (left < 0) revert NotCollateralized();
        _set(msg.sender, left);
        IERC20(asset).safeTransfer(msg.sender, amount);
    }

    function _set(address account, int256 balance) private {
        int104 principal = int104((balance * 1e15) / int256(uint256(baseSupplyIndex)));
        _totalPrincipal = uint256(int256(_totalPrincipal) + principal - principalOf[account]);
        principalOf[account] = principal;
    }
}

/// Written for the tests after CometRewards.sol.
contract CometRewardsLike {
    using SafeERC20 for IERC20;

    struct RewardOwed {
        address token;
        uint256 owed;
    }

    mapping(address => address) private _token;
    mapping(address => uint256) private _factor;
    mapping(address => mapping(address => uint256)) public rewardsClaimed;

    event RewardClaimed(address indexed recipient, address indexed token, uint256 amount);

    error NotSupported(address comet);

    /// factor: of the reward token's unit over the accrual's of 6 decimals.
    function setRewardConfig(address comet, address token, uint256 factor) external {
        (_token[comet], _factor[comet]) = (token, factor);
    }

    function rewardConfig(address comet) external view returns (address token, uint64 rescaleFactor, bool shouldUpscale) {
        return (_token[comet], uint64(_factor[comet]), true);
    }

    function _owed(address comet, address account) private returns (uint256 accrued, uint256 owed) {
        if (_token[comet] == address(0)) revert NotSupported(comet);
        CometLike(comet).accrueAccount(account);
        accrued = CometLike(comet).baseTrackingAccrued(account) * _factor[comet];
        owed = accrued - rewardsClaimed[comet][account];
    }

    function getRewardOwed(address comet, address account) external returns (RewardOwed memory) {
        (, uint256 owed) = _owed(comet, account);
        return RewardOwed(_token[comet], owed);
    }

    function claim(address comet, address src, bool) external {
        (uint256 accrued, uint256 owed) = _owed(comet, src);
        rewardsClaimed[comet][src] = accrued;
        IERC20(_token[comet]).safeTransfer(src, owed);
        emit RewardClaimed(src, _token[comet], owed);
    }
}
