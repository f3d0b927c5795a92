// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// An SY as anybody could deploy one: it gives a share for each base unit of whatever it was told to take (the zero address is the
/// chain's coin), and says what it was told to say. See IStandardizedYield.sol of Pendle's core-v2.
contract OpenSy is ERC20 {
    address public immutable yieldToken;
    address private immutable asset;
    uint8 private immutable units;
    uint256 private rate = 1e18;
    bool private isSilent;
    address[] private takes;
    address[] private gives;

    constructor(string memory name_, address asset_, uint8 decimals_, address[] memory takes_, address[] memory gives_)
        ERC20(name_, name_)
    {
        yieldToken = asset_;
        asset = asset_;
        units = decimals_;
        takes = takes_;
        gives = gives_;
    }

    receive() external payable {}

    function say(uint256 rate_, bool isSilent_) external {
        rate = rate_;
        isSilent = isSilent_;
    }

    function exchangeRate() external view returns (uint256) {
        require(!isSilent, "silent");
        return rate;
    }

    function deposit(address receiver, address token, uint256 amount, uint256 least) external payable returns (uint256) {
        require(isValidTokenIn(token), "not taken");
        if (token == address(0)) require(msg.value == amount, "value");
        else IERC20(token).transferFrom(msg.sender, address(this), amount);
        require(amount >= least, "too little");
        _mint(receiver, amount);
        return amount;
    }

    function redeem(address receiver, uint256 shares, address token, uint256 least, bool isInternal)
        external
        returns (uint256)
    {
        require(isValidTokenOut(token), "not given");
        _burn(isInternal ? address(this) : msg.sender, shares);
        require(shares >= least, "too little");
        if (token == address(0)) payable(receiver).transfer(shares);
        else IERC20(token).transfer(receiver, shares);
        return shares;
    }

    function decimals() public view override returns (uint8) {
        return units;
    }

    function assetInfo() external view returns (uint8, address, uint8) {
        return (0, asset, units);
    }

    function getTokensIn() external view returns (address[] memory) {
        return takes;
    }

    function getTokensOut() external view returns (address[] memory) {
        return gives;
    }

    function isValidTokenIn(address token) public view returns (bool) {
        return isAmong(takes, token);
    }

    function isValidTokenOut(address token) public view returns (bool) {
        return isAmong(gives, token);
    }

    function previewDeposit(address, uint256 amount) external pure returns (uint256) {
        return amount;
    }

    function previewRedeem(address, uint256 amount) external pure returns (uint256) {
        return amount;
    }

    function claimRewards(address) external pure returns (uint256[] memory) {
        return new uint256[](0);
    }

    function getRewardTokens() external pure returns (address[] memory) {
        return new address[](0);
    }

    function rewardIndexesCurrent() external pure returns (uint256[] memory) {
        return new uint256[](0);
    }

    function rewardIndexesStored() external pure returns (uint256[] memory) {
        return new uint256[](0);
    }

    function accruedRewards(address) external pure returns (uint256[] memory) {
        return new uint256[](0);
    }

    function isAmong(address[] storage list, address token) private view returns (bool) {
        for (uint256 i = 0; i < list.length; i++) if (list[i] == token) return true;
        return false;
    }
}
