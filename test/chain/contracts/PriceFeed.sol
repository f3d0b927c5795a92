// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

/// The part of a Chainlink aggregator that reports: events as in its AggregatorInterface.sol.
contract PriceAggregator {
    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);
    event NewRound(uint256 indexed roundId, address indexed startedBy, uint256 startedAt);

    uint8 public immutable decimals;
    string public description;
    uint256 public latestRound;
    int256 public latestAnswer;
    uint256 public latestTimestamp;

    constructor(uint8 decimals_, string memory description_, int256 answer) {
        decimals = decimals_;
        description = description_;
        report(answer);
    }

    function report(int256 answer) public {
        latestRound++;
        latestAnswer = answer;
        latestTimestamp = block.timestamp;
        emit NewRound(latestRound, msg.sender, block.timestamp);
        emit AnswerUpdated(answer, latestRound, block.timestamp);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (uint80(latestRound), latestAnswer, latestTimestamp, latestTimestamp, uint80(latestRound));
    }
}

/// What users of a feed hold: the aggregator behind it may be exchanged, rounds are then numbered with the phase in
/// their upper bits, as Chainlink's EACAggregatorProxy does.
contract PriceProxy {
    PriceAggregator public aggregator;
    uint16 public phaseId;

    constructor(PriceAggregator aggregator_) {
        setAggregator(aggregator_);
    }

    function setAggregator(PriceAggregator aggregator_) public {
        aggregator = aggregator_;
        phaseId++;
    }

    function decimals() external view returns (uint8) {
        return aggregator.decimals();
    }

    function description() external view returns (string memory) {
        return aggregator.description();
    }

    function version() external pure returns (uint256) {
        return 4;
    }

    function latestAnswer() external view returns (int256) {
        return aggregator.latestAnswer();
    }

    function latestTimestamp() external view returns (uint256) {
        return aggregator.latestTimestamp();
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        (uint80 round, int256 answer, uint256 startedAt, uint256 updatedAt,) = aggregator.latestRoundData();
        uint80 id = (uint80(phaseId) << 64) | round;
        return (id, answer, startedAt, updatedAt, id);
    }
}
