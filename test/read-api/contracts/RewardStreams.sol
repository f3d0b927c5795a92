// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

/// Registers rewards by epoch as Euler's BaseRewardStreams does: the same event, views and bounds; written for the tests
/// after its interface (github.com/euler-xyz/reward-streams). Who earns what is left out: no event or view of it is read.
contract RewardStreamsLike {
    uint256 public constant EPOCH_DURATION = 7 days;
    mapping(address => mapping(address => mapping(uint256 => uint256))) private amounts;

    event RewardRegistered(
        address indexed caller, address indexed rewarded, address indexed reward, uint256 startEpoch, uint128[] amounts
    );

    error InvalidEpoch();

    function registerReward(address rewarded, address reward, uint48 startEpoch, uint128[] calldata given) external {
        uint48 epoch = currentEpoch();
        if (startEpoch == 0) startEpoch = epoch + 1;
        if (startEpoch <= epoch || startEpoch > epoch + 5) revert InvalidEpoch();
        for (uint256 i = 0; i < given.length; ++i) amounts[rewarded][reward][startEpoch + i] += given[i];
        emit RewardRegistered(msg.sender, rewarded, reward, startEpoch, given);
    }

    function rewardAmount(address rewarded, address reward, uint48 epoch) external view returns (uint256) {
        return amounts[rewarded][reward][epoch];
    }

    function currentEpoch() public view returns (uint48) {
        return uint48(block.timestamp / EPOCH_DURATION);
    }

    function getEpochStartTimestamp(uint48 epoch) external pure returns (uint48) {
        return uint48(epoch * EPOCH_DURATION);
    }
}
