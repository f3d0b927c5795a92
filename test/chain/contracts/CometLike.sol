// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {IERC20, IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

interface IFeed {
    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80);
}

/// A market with the accounting, events and views of Compound v3's Comet, written for tests from the behaviour that its
/// Comet.sol describes: signed principals, two indexes of 1e15 that grow linearly between accruals, principal rounded
/// against the account, present values rounded down, base transfers told only as mint and burn, absorption of whole
/// accounts. It has no permissions of managers, no rewards, no packing and no code upgrade behind a proxy: `configure`
/// changes what an upgrade would, and says so with the proxy's event.
contract CometLike {
    using SafeERC20 for IERC20;

    struct Rates {
        uint64 kink;
        uint64 base;
        uint64 slopeLow;
        uint64 slopeHigh;
    }

    struct AssetInfo {
        uint8 offset;
        address asset;
        address priceFeed;
        uint64 scale;
        uint64 borrowCollateralFactor;
        uint64 liquidateCollateralFactor;
        uint64 liquidationFactor;
        uint128 supplyCap;
    }

    struct TotalsBasic {
        uint64 baseSupplyIndex;
        uint64 baseBorrowIndex;
        uint64 trackingSupplyIndex;
        uint64 trackingBorrowIndex;
        uint104 totalSupplyBase;
        uint104 totalBorrowBase;
        uint40 lastAccrualTime;
        uint8 pauseFlags;
    }

    struct UserBasic {
        int104 principal;
        uint64 baseTrackingIndex;
        uint64 baseTrackingAccrued;
        uint16 assetsIn;
        uint8 _reserved;
    }

    event Supply(address indexed from, address indexed dst, uint256 amount);
    event Transfer(address indexed from, address indexed to, uint256 amount);
    event Withdraw(address indexed src, address indexed to, uint256 amount);
    event SupplyCollateral(address indexed from, address indexed dst, address indexed asset, uint256 amount);
    event TransferCollateral(address indexed from, address indexed to, address indexed asset, uint256 amount);
    event WithdrawCollateral(address indexed src, address indexed to, address indexed asset, uint256 amount);
    event AbsorbDebt(address indexed absorber, address indexed borrower, uint256 basePaidOut, uint256 usdValue);
    event AbsorbCollateral(
        address indexed absorber, address indexed borrower, address indexed asset, uint256 collateralAbsorbed, uint256 usdValue
    );
    event BuyCollateral(address indexed buyer, address indexed asset, uint256 baseAmount, uint256 collateralAmount);
    event PauseAction(bool supplyPaused, bool transferPaused, bool withdrawPaused, bool absorbPaused, bool buyPaused);
    event WithdrawReserves(address indexed to, uint256 amount);
    event Upgraded(address indexed implementation);

    error BadAsset();
    error BadPrice();
    error BorrowTooSmall();
    error InsufficientReserves();
    error NoSelfTransfer();
    error NotCollateralized();
    error NotForSale();
    error NotLiquidatable();
    error Paused();
    error SupplyCapExceeded();
    error TooMuchSlippage();
    error Unauthorized();

    uint256 private constant FACTOR = 1e18;
    uint256 private constant INDEX = 1e15;

    address public immutable governor = msg.sender;
    address public immutable baseToken;
    address public immutable baseTokenPriceFeed;
    uint256 public immutable baseScale;
    uint256 public immutable baseBorrowMin;
    uint256 public immutable targetReserves;
    uint256 public constant storeFrontPriceFactor = 0.5e18;

    Rates private _supplyRates;
    Rates private _borrowRates;
    AssetInfo[] private _assets;
    TotalsBasic private _totals;
    mapping(address => UserBasic) public userBasic;
    mapping(address => uint256) public totalsCollateral;
    mapping(address => mapping(address => uint256)) private _collateral;

    constructor(address base, address feed, uint256 scale, uint256 borrowMin, uint256 reserves, Rates memory supply_, Rates memory borrow_) {
        (baseToken, baseTokenPriceFeed, baseScale) = (base, feed, scale);
        (baseBorrowMin, targetReserves) = (borrowMin, reserves);
        (_supplyRates, _borrowRates) = (supply_, borrow_);
        _totals.baseSupplyIndex = uint64(INDEX);
        _totals.baseBorrowIndex = uint64(INDEX);
        _totals.lastAccrualTime = uint40(block.timestamp);
    }

    // ---- configuration

    function configure(Rates calldata supply_, Rates calldata borrow_) external {
        _accrue();
        (_supplyRates, _borrowRates) = (supply_, borrow_);
        emit Upgraded(address(this));
    }

    function addAsset(AssetInfo memory info) external {
        info.offset = uint8(_assets.length);
        _assets.push(info);
        emit Upgraded(address(this));
    }

    function pause(bool supply_, bool transfer_, bool withdraw_, bool absorb_, bool buy_) external {
        _totals.pauseFlags = (supply_ ? 1 : 0) | (transfer_ ? 2 : 0) | (withdraw_ ? 4 : 0) | (absorb_ ? 8 : 0) | (buy_ ? 16 : 0);
        emit PauseAction(supply_, transfer_, withdraw_, absorb_, buy_);
    }

    function name() external pure returns (string memory) { return "Compound-like"; }
    function symbol() external view returns (string memory) { return string.concat("c", IERC20Metadata(baseToken).symbol(), "v3"); }
    function decimals() external view returns (uint8) { return IERC20Metadata(baseToken).decimals(); }
    function isSupplyPaused() external view returns (bool) { return _totals.pauseFlags & 1 != 0; }
    function isWithdrawPaused() external view returns (bool) { return _totals.pauseFlags & 4 != 0; }
    function supplyKink() external view returns (uint256) { return _supplyRates.kink; }
    function supplyPerSecondInterestRateBase() external view returns (uint256) { return _supplyRates.base; }
    function supplyPerSecondInterestRateSlopeLow() external view returns (uint256) { return _supplyRates.slopeLow; }
    function supplyPerSecondInterestRateSlopeHigh() external view returns (uint256) { return _supplyRates.slopeHigh; }
    function borrowKink() external view returns (uint256) { return _borrowRates.kink; }
    function borrowPerSecondInterestRateBase() external view returns (uint256) { return _borrowRates.base; }
    function borrowPerSecondInterestRateSlopeLow() external view returns (uint256) { return _borrowRates.slopeLow; }
    function borrowPerSecondInterestRateSlopeHigh() external view returns (uint256) { return _borrowRates.slopeHigh; }
    function numAssets() external view returns (uint8) { return uint8(_assets.length); }
    function getAssetInfo(uint8 i) external view returns (AssetInfo memory) { return _assets[i]; }
    function totalsBasic() external view returns (TotalsBasic memory) { return _totals; }

    // ---- interest

    function getUtilization() public view returns (uint256) {
        uint256 supplied = _present(_totals.baseSupplyIndex, _totals.totalSupplyBase);
        return supplied == 0 ? 0 : _present(_totals.baseBorrowIndex, _totals.totalBorrowBase) * FACTOR / supplied;
    }

    function getSupplyRate(uint256 utilization) public view returns (uint64) { return _rate(_supplyRates, utilization); }
    function getBorrowRate(uint256 utilization) public view returns (uint64) { return _rate(_borrowRates, utilization); }

    function _rate(Rates storage rates, uint256 utilization) private view returns (uint64) {
        uint256 low = utilization <= rates.kink ? utilization : rates.kink;
        return uint64(rates.base + rates.slopeLow * low / FACTOR + rates.slopeHigh * (utilization - low) / FACTOR);
    }

    function _present(uint256 index, uint256 principal) private pure returns (uint256) { return principal * index / INDEX; }

    function _indexes() private view returns (uint64 supplyIndex, uint64 borrowIndex) {
        (supplyIndex, borrowIndex) = (_totals.baseSupplyIndex, _totals.baseBorrowIndex);
        uint256 elapsed = block.timestamp - _totals.lastAccrualTime;
        if (elapsed == 0) return (supplyIndex, borrowIndex);
        uint256 utilization = getUtilization();
        supplyIndex += uint64(uint256(supplyIndex) * (getSupplyRate(utilization) * elapsed) / FACTOR);
        borrowIndex += uint64(uint256(borrowIndex) * (getBorrowRate(utilization) * elapsed) / FACTOR);
    }

    function _accrue() private {
        (_totals.baseSupplyIndex, _totals.baseBorrowIndex) = _indexes();
        _totals.lastAccrualTime = uint40(block.timestamp);
    }

    function accrueAccount(address) external { _accrue(); }

    // ---- views of amounts

    function totalSupply() external view returns (uint256) {
        (uint64 index,) = _indexes();
        return _present(index, _totals.totalSupplyBase);
    }

    function totalBorrow() external view returns (uint256) {
        (, uint64 index) = _indexes();
        return _present(index, _totals.totalBorrowBase);
    }

    function balanceOf(address account) public view returns (uint256) {
        (uint64 index,) = _indexes();
        int104 principal = userBasic[account].principal;
        return principal > 0 ? _present(index, uint104(principal)) : 0;
    }

    function borrowBalanceOf(address account) public view returns (uint256) {
        (, uint64 index) = _indexes();
        int104 principal = userBasic[account].principal;
        return principal < 0 ? _present(index, uint104(-principal)) : 0;
    }

    function collateralBalanceOf(address account, address asset) external view returns (uint128) {
        return uint128(_collateral[account][asset]);
    }

    function getReserves() public view returns (int256) {
        (uint64 supplyIndex, uint64 borrowIndex) = _indexes();
        return int256(IERC20(baseToken).balanceOf(address(this))) - int256(_present(supplyIndex, _totals.totalSupplyBase))
            + int256(_present(borrowIndex, _totals.totalBorrowBase));
    }

    function getPrice(address feed) public view returns (uint256) {
        (, int256 price,,,) = IFeed(feed).latestRoundData();
        if (price <= 0) revert BadPrice();
        return uint256(price);
    }

    function isBorrowCollateralized(address account) public view returns (bool) { return _covers(account, false); }
    function isLiquidatable(address account) public view returns (bool) { return !_covers(account, true); }

    /// Debt at the stored indexes, as Comet has it.
    function _covers(address account, bool forLiquidation) private view returns (bool) {
        int104 principal = userBasic[account].principal;
        if (principal >= 0) return true;
        uint256 debt = _present(_totals.baseBorrowIndex, uint104(-principal)) * getPrice(baseTokenPriceFeed) / baseScale;
        uint256 limit = 0;
        for (uint256 i = 0; i < _assets.length; i++) {
            AssetInfo storage info = _assets[i];
            uint256 balance = _collateral[account][info.asset];
            if (balance == 0) continue;
            uint256 value = balance * getPrice(info.priceFeed) / info.scale;
            limit += value * (forLiquidation ? info.liquidateCollateralFactor : info.borrowCollateralFactor) / FACTOR;
        }
        return limit >= debt;
    }

    // ---- principals

    /// Sets the present value of an account's balance, as one that can only have grown (repayAndSupplyAmount of Comet.sol) or
    /// only have shrunk (withdrawAndBorrowAmount): where rounding takes it the other way, totals stay as they were. Gives the
    /// lent principal that came or went.
    function _setBalance(address account, int256 value, bool grows) private returns (uint256 lent) {
        int256 before = userBasic[account].principal;
        int256 principal = value >= 0
            ? int256(uint256(value) * INDEX / _totals.baseSupplyIndex)
            : -int256((uint256(-value) * INDEX + _totals.baseBorrowIndex - 1) / _totals.baseBorrowIndex);
        userBasic[account].principal = int104(principal);
        if (grows ? principal < before : principal > before) return 0;
        (uint104 lentBefore, uint104 owedBefore) = _sides(before);
        (uint104 lentNow, uint104 owedNow) = _sides(principal);
        _totals.totalSupplyBase = _totals.totalSupplyBase + lentNow - lentBefore;
        _totals.totalBorrowBase = _totals.totalBorrowBase + owedNow - owedBefore;
        return grows ? lentNow - lentBefore : lentBefore - lentNow;
    }

    function _sides(int256 principal) private pure returns (uint104 lent, uint104 owed) {
        return principal > 0 ? (uint104(uint256(principal)), uint104(0)) : (uint104(0), uint104(uint256(-principal)));
    }

    function _balance(address account) private view returns (int256) {
        int104 principal = userBasic[account].principal;
        return principal >= 0
            ? int256(_present(_totals.baseSupplyIndex, uint104(principal)))
            : -int256(_present(_totals.baseBorrowIndex, uint104(-principal)));
    }

    function _told(address from, address to, uint256 principal) private {
        if (principal > 0) emit Transfer(from, to, _present(_totals.baseSupplyIndex, principal));
    }

    function _checkDebt(address account, int256 value) private view {
        if (value >= 0) return;
        if (uint256(-value) < baseBorrowMin) revert BorrowTooSmall();
        if (!isBorrowCollateralized(account)) revert NotCollateralized();
    }

    // ---- acts

    function supply(address asset, uint256 amount) external { supplyTo(msg.sender, asset, amount); }

    function supplyTo(address dst, address asset, uint256 amount) public {
        if (_totals.pauseFlags & 1 != 0) revert Paused();
        if (asset != baseToken) return _supplyCollateral(dst, asset, amount);
        if (amount == type(uint256).max) amount = borrowBalanceOf(dst);
        amount = _pull(baseToken, amount);
        _accrue();
        uint256 lent = _setBalance(dst, _balance(dst) + int256(amount), true);
        emit Supply(msg.sender, dst, amount);
        _told(address(0), dst, lent);
    }

    function _supplyCollateral(address dst, address asset, uint256 amount) private {
        amount = _pull(asset, amount);
        AssetInfo memory info = _infoOf(asset);
        totalsCollateral[asset] += amount;
        if (totalsCollateral[asset] > info.supplyCap) revert SupplyCapExceeded();
        _collateral[dst][asset] += amount;
        emit SupplyCollateral(msg.sender, dst, asset, amount);
    }

    function withdraw(address asset, uint256 amount) external {
        if (_totals.pauseFlags & 4 != 0) revert Paused();
        if (asset != baseToken) return _withdrawCollateral(asset, amount);
        if (amount == type(uint256).max) amount = balanceOf(msg.sender);
        _accrue();
        int256 value = _balance(msg.sender) - int256(amount);
        uint256 taken = _setBalance(msg.sender, value, false);
        _checkDebt(msg.sender, value);
        IERC20(baseToken).safeTransfer(msg.sender, amount);
        emit Withdraw(msg.sender, msg.sender, amount);
        _told(msg.sender, address(0), taken);
    }

    function _withdrawCollateral(address asset, uint256 amount) private {
        _infoOf(asset);
        totalsCollateral[asset] -= amount;
        _collateral[msg.sender][asset] -= amount;
        if (!isBorrowCollateralized(msg.sender)) revert NotCollateralized();
        IERC20(asset).safeTransfer(msg.sender, amount);
        emit WithdrawCollateral(msg.sender, msg.sender, asset, amount);
    }

    function transfer(address dst, uint256 amount) external returns (bool) {
        transferAsset(dst, baseToken, amount);
        return true;
    }

    function transferAsset(address dst, address asset, uint256 amount) public {
        if (_totals.pauseFlags & 2 != 0) revert Paused();
        if (dst == msg.sender) revert NoSelfTransfer();
        if (asset == baseToken) {
            if (amount == type(uint256).max) amount = balanceOf(msg.sender);
            _accrue();
            int256 left = _balance(msg.sender) - int256(amount);
            int256 given = _balance(dst) + int256(amount);
            uint256 taken = _setBalance(msg.sender, left, false);
            uint256 lent = _setBalance(dst, given, true);
            _checkDebt(msg.sender, left);
            _told(msg.sender, address(0), taken);
            _told(address(0), dst, lent);
        } else {
            _infoOf(asset);
            _collateral[msg.sender][asset] -= amount;
            _collateral[dst][asset] += amount;
            if (!isBorrowCollateralized(msg.sender)) revert NotCollateralized();
            emit TransferCollateral(msg.sender, dst, asset, amount);
        }
    }

    function absorb(address absorber, address[] calldata accounts) external {
        if (_totals.pauseFlags & 8 != 0) revert Paused();
        _accrue();
        for (uint256 i = 0; i < accounts.length; i++) _absorb(absorber, accounts[i]);
    }

    function _absorb(address absorber, address account) private {
        if (!isLiquidatable(account)) revert NotLiquidatable();
        uint256 basePrice = getPrice(baseTokenPriceFeed);
        uint256 worth = 0;
        for (uint256 i = 0; i < _assets.length; i++) {
            AssetInfo storage info = _assets[i];
            uint256 seized = _collateral[account][info.asset];
            if (seized == 0) continue;
            _collateral[account][info.asset] = 0;
            totalsCollateral[info.asset] -= seized;
            uint256 value = seized * getPrice(info.priceFeed) / info.scale;
            worth += value * info.liquidationFactor / FACTOR;
            emit AbsorbCollateral(absorber, account, info.asset, seized, value);
        }
        int256 before = _balance(account);
        int256 value_ = before + int256(worth * baseScale / basePrice);
        if (value_ < 0) value_ = 0;
        uint256 lent = _setBalance(account, value_, true);
        uint256 paid = uint256(value_ - before);
        emit AbsorbDebt(absorber, account, paid, paid * basePrice / baseScale);
        _told(address(0), account, lent);
    }

    function buyCollateral(address asset, uint256 minAmount, uint256 baseAmount, address recipient) external {
        int256 reserves = getReserves();
        if (reserves >= 0 && uint256(reserves) >= targetReserves) revert NotForSale();
        baseAmount = _pull(baseToken, baseAmount);
        AssetInfo memory info = _infoOf(asset);
        uint256 discount = storeFrontPriceFactor * (FACTOR - info.liquidationFactor) / FACTOR;
        uint256 price = getPrice(info.priceFeed) * (FACTOR - discount) / FACTOR;
        uint256 amount = getPrice(baseTokenPriceFeed) * baseAmount * info.scale / price / baseScale;
        if (amount < minAmount) revert TooMuchSlippage();
        if (amount > IERC20(asset).balanceOf(address(this)) - totalsCollateral[asset]) revert InsufficientReserves();
        IERC20(asset).safeTransfer(recipient, amount);
        emit BuyCollateral(msg.sender, asset, baseAmount, amount);
    }

    function withdrawReserves(address to, uint256 amount) external {
        int256 reserves = getReserves();
        if (msg.sender != governor) revert Unauthorized();
        if (reserves < 0 || amount > uint256(reserves)) revert InsufficientReserves();
        IERC20(baseToken).safeTransfer(to, amount);
        emit WithdrawReserves(to, amount);
    }

    /// What arrives counts: a token may keep a fee.
    function _pull(address asset, uint256 amount) private returns (uint256) {
        uint256 before = IERC20(asset).balanceOf(address(this));
        IERC20(asset).safeTransferFrom(msg.sender, address(this), amount);
        return IERC20(asset).balanceOf(address(this)) - before;
    }

    function _infoOf(address asset) private view returns (AssetInfo memory) {
        for (uint256 i = 0; i < _assets.length; i++) if (_assets[i].asset == asset) return _assets[i];
        revert BadAsset();
    }
}

/// Compound v3's Configurator as its log of a deployment.
contract CometConfigurator {
    event CometDeployed(address indexed cometProxy, address indexed newComet);

    function deploy(address comet, address code) external {
        emit CometDeployed(comet, code);
    }
}
