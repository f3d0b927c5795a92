// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";

/// A vault that pays a token to its holders, written for the tests after the interface of Synthetix' StakingRewards and
/// Aura's BaseRewardPool4626: what is left of a running period is spread over the next one.
contract RewardVault is ERC4626 {
    IERC20 public immutable rewardToken;
    uint256 public constant duration = 7 days;
    uint256 public rewardRate;
    uint256 public periodFinish;

    event RewardAdded(uint256 reward);

    constructor(IERC20 asset_, IERC20 reward_) ERC20("Paying vault", "PAY") ERC4626(asset_) {
        rewardToken = reward_;
    }

    function notifyRewardAmount(uint256 reward) external {
        uint256 left = block.timestamp < periodFinish ? (periodFinish - block.timestamp) * rewardRate : 0;
        rewardRate = (reward + left) / duration;
        periodFinish = block.timestamp + duration;
        emit RewardAdded(reward);
    }
}
