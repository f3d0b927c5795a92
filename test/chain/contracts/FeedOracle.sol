// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.0;

interface IPrice {
    function latestAnswer() external view returns (int256);
}

/// Oracle of a Morpho Blue market out of two feeds of equal decimals: the loan base units that one collateral base
/// unit is worth, scaled by 1e36, as the IOracle.sol of Morpho Blue says.
contract FeedOracle {
    IPrice public immutable collateralFeed;
    IPrice public immutable loanFeed;
    uint256 private immutable _scale;

    constructor(IPrice collateralFeed_, IPrice loanFeed_, uint8 collateralDecimals, uint8 loanDecimals) {
        collateralFeed = collateralFeed_;
        loanFeed = loanFeed_;
        _scale = 10 ** (36 + loanDecimals - collateralDecimals);
    }

    function price() external view returns (uint256) {
        return (uint256(collateralFeed.latestAnswer()) * _scale) / uint256(loanFeed.latestAnswer());
    }
}
