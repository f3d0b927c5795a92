// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// Holds what cools down.
contract Silo {
    IERC20 private immutable _asset;
    address private immutable _vault;

    constructor(IERC20 asset) {
        _asset = asset;
        _vault = msg.sender;
    }

    function withdraw(address to, uint256 amount) external {
        require(msg.sender == _vault, "only the vault");
        _asset.transfer(to, amount);
    }
}

/// Written for the tests after the interface and behaviour of Ethena's StakedUSDeV2.
contract StakedUsdeLike is ERC4626 {
    error OperationNotAllowed();
    error ExcessiveRedeemAmount();
    error ExcessiveWithdrawAmount();
    error InvalidCooldown();

    struct UserCooldown {
        uint104 cooldownEnd;
        uint152 underlyingAmount;
    }

    mapping(address => UserCooldown) public cooldowns;
    Silo public immutable silo;
    uint24 public cooldownDuration;

    constructor(IERC20 asset_, uint24 duration) ERC20("Staked USDe-like", "sTST") ERC4626(asset_) {
        silo = new Silo(asset_);
        cooldownDuration = duration;
    }

    function setCooldownDuration(uint24 duration) external {
        cooldownDuration = duration;
    }

    function withdraw(uint256 assets, address receiver, address owner) public override returns (uint256) {
        if (cooldownDuration != 0) revert OperationNotAllowed();
        return super.withdraw(assets, receiver, owner);
    }

    function redeem(uint256 shares, address receiver, address owner) public override returns (uint256) {
        if (cooldownDuration != 0) revert OperationNotAllowed();
        return super.redeem(shares, receiver, owner);
    }

    function unstake(address receiver) external {
        UserCooldown storage cooldown = cooldowns[msg.sender];
        uint256 assets = cooldown.underlyingAmount;
        if (block.timestamp < cooldown.cooldownEnd && cooldownDuration != 0) revert InvalidCooldown();
        cooldown.cooldownEnd = 0;
        cooldown.underlyingAmount = 0;
        silo.withdraw(receiver, assets);
    }

    function cooldownAssets(uint256 assets) external returns (uint256 shares) {
        if (cooldownDuration == 0) revert OperationNotAllowed();
        if (assets > maxWithdraw(msg.sender)) revert ExcessiveWithdrawAmount();
        shares = previewWithdraw(assets);
        _cool(assets, shares);
    }

    function cooldownShares(uint256 shares) external returns (uint256 assets) {
        if (cooldownDuration == 0) revert OperationNotAllowed();
        if (shares > maxRedeem(msg.sender)) revert ExcessiveRedeemAmount();
        assets = previewRedeem(shares);
        _cool(assets, shares);
    }

    function _cool(uint256 assets, uint256 shares) private {
        cooldowns[msg.sender].cooldownEnd = uint104(block.timestamp) + cooldownDuration;
        cooldowns[msg.sender].underlyingAmount += uint152(assets);
        _withdraw(msg.sender, address(silo), msg.sender, assets, shares);
    }
}

/// Written for the tests after the interface and behaviour of Aave's StakedTokenV3.
contract StakedTokenLike is ERC20 {
    using SafeERC20 for IERC20;

    struct CooldownSnapshot {
        uint40 timestamp;
        uint216 amount;
    }

    event Staked(address indexed from, address indexed to, uint256 assets, uint256 shares);
    event Redeem(address indexed from, address indexed to, uint256 assets, uint256 shares);
    event RewardsClaimed(address indexed from, address indexed to, uint256 amount);

    IERC20 public immutable STAKED_TOKEN;
    IERC20 public immutable REWARD_TOKEN;
    uint256 public constant UNSTAKE_WINDOW = 2 days;
    bool public inPostSlashingPeriod;
    /// Shares for one asset, 18 decimals.
    uint216 public exchangeRate = 1e18;
    mapping(address => CooldownSnapshot) public stakersCooldowns;
    mapping(address => uint256) public getTotalRewardsBalance;

    constructor(IERC20 staked, IERC20 reward) ERC20("Staked token-like", "stkTST") {
        STAKED_TOKEN = staked;
        REWARD_TOKEN = reward;
    }

    function getCooldownSeconds() external pure returns (uint256) {
        return 20 days;
    }

    function slash(uint256 bps) external {
        inPostSlashingPeriod = true;
        STAKED_TOKEN.safeTransfer(address(0xdead), (previewRedeem(totalSupply()) * bps) / 10_000);
        exchangeRate = uint216((uint256(exchangeRate) * 10_000) / (10_000 - bps) + 1);
    }

    /// Of assets that were sent here before: every share is worth more from now on (StakedTokenV3.returnFunds).
    function returnFunds(uint256 amount) external {
        uint256 assets = previewRedeem(totalSupply()) + amount;
        exchangeRate = uint216((totalSupply() * 1e18 + assets - 1) / assets);
    }

    function settleSlashing() external {
        inPostSlashingPeriod = false;
    }

    function grant(address to, uint256 amount) external {
        getTotalRewardsBalance[to] += amount;
    }

    function previewStake(uint256 assets) public view returns (uint256) {
        return (assets * exchangeRate) / 1e18;
    }

    function previewRedeem(uint256 shares) public view returns (uint256) {
        return (shares * 1e18) / exchangeRate;
    }

    function stake(address to, uint256 amount) external {
        require(!inPostSlashingPeriod, "SLASHING_ONGOING");
        require(amount != 0, "INVALID_ZERO_AMOUNT");
        STAKED_TOKEN.safeTransferFrom(msg.sender, address(this), amount);
        uint256 shares = previewStake(amount);
        _mint(to, shares);
        emit Staked(msg.sender, to, amount, shares);
    }

    function cooldown() external {
        require(balanceOf(msg.sender) != 0, "INVALID_BALANCE_ON_COOLDOWN");
        stakersCooldowns[msg.sender] = CooldownSnapshot(uint40(block.timestamp), uint216(balanceOf(msg.sender)));
    }

    function redeem(address to, uint256 amount) external {
        require(amount != 0, "INVALID_ZERO_AMOUNT");
        CooldownSnapshot memory snapshot = stakersCooldowns[msg.sender];
        if (!inPostSlashingPeriod) {
            require(block.timestamp >= snapshot.timestamp + 20 days, "INSUFFICIENT_COOLDOWN");
            require(block.timestamp - (snapshot.timestamp + 20 days) <= UNSTAKE_WINDOW, "UNSTAKE_WINDOW_FINISHED");
        }
        uint256 most = inPostSlashingPeriod ? balanceOf(msg.sender) : snapshot.amount;
        require(most != 0, "INVALID_ZERO_MAX_REDEEMABLE");
        uint256 shares = amount > most ? most : amount;
        uint256 assets = previewRedeem(shares);
        _burn(msg.sender, shares);
        if (snapshot.timestamp != 0) {
            if (snapshot.amount <= shares) delete stakersCooldowns[msg.sender];
            else stakersCooldowns[msg.sender].amount = uint216(snapshot.amount - shares);
        }
        STAKED_TOKEN.safeTransfer(to, assets);
        emit Redeem(msg.sender, to, assets, shares);
    }

    function claimRewards(address to, uint256 amount) external {
        uint256 owed = getTotalRewardsBalance[msg.sender];
        uint256 paid = amount > owed ? owed : amount;
        getTotalRewardsBalance[msg.sender] = owed - paid;
        REWARD_TOKEN.safeTransfer(to, paid);
        emit RewardsClaimed(msg.sender, to, paid);
    }
}
