// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

interface IChecked {
    function checkAccountStatus(address account, address[] calldata collaterals) external view;
}

/// What accounts tell the Ethereum Vault Connector, written for the tests after its interface and events: collaterals, at
/// most one controller when a batch ends, the 256 accounts that share their first 19 bytes and belong to whichever of them is
/// first to authenticate, calls on behalf of any of them, checks of accounts put off to the end of a batch. It has no
/// operators, permits or lockdown.
contract EvcLike {
    event OwnerRegistered(bytes19 indexed addressPrefix, address indexed owner);
    event CollateralStatus(address indexed account, address indexed collateral, bool enabled);
    event ControllerStatus(address indexed account, address indexed controller, bool enabled);

    error EVC_NotAuthorized();
    error EVC_ControllerViolation();

    struct BatchItem {
        address targetContract;
        address onBehalfOfAccount;
        uint256 value;
        bytes data;
    }

    mapping(address => address[]) private _collaterals;
    mapping(address => address[]) private _controllers;
    address private _onBehalf;
    bool private _deferred;
    address[] private _waiting;
    mapping(bytes19 => address) private _owners;

    function getAccountOwner(address account) external view returns (address) { return _owners[_prefix(account)]; }
    function getCollaterals(address account) external view returns (address[] memory) { return _collaterals[account]; }
    function getControllers(address account) external view returns (address[] memory) { return _controllers[account]; }

    /// Who acts in a call that comes through here.
    function actor() external view returns (address) { return _onBehalf; }

    function enableCollateral(address account, address vault) external payable {
        _authorize(account);
        if (_insert(_collaterals[account], vault)) emit CollateralStatus(account, vault, true);
        requireAccountStatusCheck(account);
    }

    function disableCollateral(address account, address vault) external payable {
        _authorize(account);
        if (_remove(_collaterals[account], vault)) emit CollateralStatus(account, vault, false);
        requireAccountStatusCheck(account);
    }

    function enableController(address account, address vault) external payable {
        _authorize(account);
        if (_insert(_controllers[account], vault)) emit ControllerStatus(account, vault, true);
        requireAccountStatusCheck(account);
    }

    /// By the controller itself.
    function disableController(address account) external payable {
        if (_remove(_controllers[account], msg.sender)) emit ControllerStatus(account, msg.sender, false);
        requireAccountStatusCheck(account);
    }

    function isControllerEnabled(address account, address vault) external view returns (bool) {
        return _has(_controllers[account], vault);
    }

    function batch(BatchItem[] calldata items) external payable {
        _deferred = true;
        for (uint256 i = 0; i < items.length; i++) {
            BatchItem calldata item = items[i];
            bool isOwn = item.targetContract == address(this);
            if (!isOwn) _authenticate(item.onBehalfOfAccount, msg.sender);
            _onBehalf = isOwn ? msg.sender : item.onBehalfOfAccount;
            (bool success, bytes memory result) = item.targetContract.call{value: item.value}(item.data);
            _onBehalf = address(0);
            if (!success) {
                assembly {
                    revert(add(result, 32), mload(result))
                }
            }
        }
        _deferred = false;
        for (uint256 i = 0; i < _waiting.length; i++) _check(_waiting[i]);
        delete _waiting;
    }

    function requireAccountStatusCheck(address account) public {
        if (_deferred) _waiting.push(account);
        else _check(account);
    }

    function _check(address account) private view {
        address[] storage controllers = _controllers[account];
        if (controllers.length > 1) revert EVC_ControllerViolation();
        if (controllers.length == 1) IChecked(controllers[0]).checkAccountStatus(account, _collaterals[account]);
    }

    function _authorize(address account) private {
        _authenticate(account, msg.sender == address(this) ? _onBehalf : msg.sender);
    }

    function _prefix(address account) private pure returns (bytes19) { return bytes19(uint152(uint160(account) >> 8)); }

    function _authenticate(address account, address sender) private {
        if (uint160(account) ^ uint160(sender) > 0xff) revert EVC_NotAuthorized();
        bytes19 prefix = _prefix(account);
        if (_owners[prefix] == address(0)) {
            _owners[prefix] = sender;
            emit OwnerRegistered(prefix, sender);
        }
        if (_owners[prefix] != sender) revert EVC_NotAuthorized();
    }

    function _has(address[] storage list, address one) private view returns (bool) {
        for (uint256 i = 0; i < list.length; i++) if (list[i] == one) return true;
        return false;
    }

    function _insert(address[] storage list, address one) private returns (bool) {
        if (_has(list, one)) return false;
        list.push(one);
        return true;
    }

    function _remove(address[] storage list, address one) private returns (bool) {
        for (uint256 i = 0; i < list.length; i++) {
            if (list[i] != one) continue;
            list[i] = list[list.length - 1];
            list.pop();
            return true;
        }
        return false;
    }
}

interface IFeed {
    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80);
}

interface IConvert {
    function convertToAssets(uint256 shares) external view returns (uint256);
    function asset() external view returns (address);
}

/// Quotes in a unit of account of 18 decimals, after EulerRouter.sol and ScaleUtils.sol of euler-price-oracle: an asset by
/// its feed of 8 decimals, rounded down and refused where it is older than `maxStaleness` (0: any age will do); shares of a
/// resolved vault at what they convert to; half of `spread` below and above.
contract EulerRouterLike {
    error PriceOracle_NotSupported(address base, address quote);
    error PriceOracle_InvalidAnswer();
    error PriceOracle_TooStale(uint256 staleness, uint256 maxStaleness);

    event ConfigSet(address indexed asset0, address indexed asset1, address indexed oracle);
    event ResolvedVaultSet(address indexed vault, address indexed asset);

    struct Route {
        IFeed feed;
        uint8 decimals;
    }

    mapping(address => Route) private _routes;
    mapping(address => address) public resolvedVaults;
    uint256 public spread;
    uint256 public maxStaleness;

    function govSetConfig(address base, address quote, IFeed feed, uint8 decimals) external {
        _routes[base] = Route(feed, decimals);
        (address asset0, address asset1) = base < quote ? (base, quote) : (quote, base);
        emit ConfigSet(asset0, asset1, address(feed));
    }

    function govSetResolvedVault(address vault, bool set) external {
        address asset = set ? IConvert(vault).asset() : address(0);
        resolvedVaults[vault] = asset;
        emit ResolvedVaultSet(vault, asset);
    }

    function setSpread(uint256 spread_) external { spread = spread_; }
    function setMaxStaleness(uint256 seconds_) external { maxStaleness = seconds_; }

    function getQuote(uint256 amount, address base, address quote) public view returns (uint256) {
        if (base == quote) return amount;
        if (resolvedVaults[base] != address(0)) {
            return getQuote(IConvert(base).convertToAssets(amount), resolvedVaults[base], quote);
        }
        Route memory route = _routes[base];
        if (address(route.feed) == address(0)) revert PriceOracle_NotSupported(base, quote);
        (, int256 answer,, uint256 updatedAt,) = route.feed.latestRoundData();
        if (answer <= 0) revert PriceOracle_InvalidAnswer();
        uint256 staleness = block.timestamp - updatedAt;
        if (maxStaleness != 0 && staleness > maxStaleness) revert PriceOracle_TooStale(staleness, maxStaleness);
        return amount * uint256(answer) * 1e10 / 10 ** route.decimals;
    }

    function getQuotes(uint256 amount, address base, address quote) external view returns (uint256 bid, uint256 ask) {
        uint256 mid = getQuote(amount, base, quote);
        return (mid - mid * spread / 2e18, mid + mid * spread / 2e18);
    }
}

/// A vault with the accounting, events and views of the Euler Vault Kit, written for the tests from the behaviour that its
/// Cache.sol, BorrowUtils.sol, LiquidityUtils.sol, Liquidation.sol and LTVConfig.sol describe: debts with 31 bits of fraction,
/// an accumulator of 1e27 compounded by the second, debts rounded up when told and made whole when repaid, fees as shares,
/// liquidation LTVs that ramp down, AmountCaps, operations hooked to nobody, all of them at birth (Initialize.sol), checks
/// through the connector, tokens never sent to sub-accounts, liquidations at a discount that grows with what is missing. It has
/// no permits, flash loans, cool-off, governor or protocol share of fees.
contract EvkLike {
    using SafeERC20 for IERC20;

    event EVaultCreated(address indexed creator, address indexed asset, address dToken);
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares);
    event VaultStatus(
        uint256 totalShares,
        uint256 totalBorrows,
        uint256 accumulatedFees,
        uint256 cash,
        uint256 interestAccumulator,
        uint256 interestRate,
        uint256 timestamp
    );
    event Borrow(address indexed account, uint256 assets);
    event Repay(address indexed account, uint256 assets);
    event InterestAccrued(address indexed account, uint256 assets);
    event PullDebt(address indexed from, address indexed to, uint256 assets);
    event Liquidate(
        address indexed liquidator, address indexed violator, address collateral, uint256 repayAssets, uint256 yieldBalance
    );
    event DebtSocialized(address indexed account, uint256 assets);
    event GovSetLTV(
        address indexed collateral,
        uint16 borrowLTV,
        uint16 liquidationLTV,
        uint16 initialLiquidationLTV,
        uint48 targetTimestamp,
        uint32 rampDuration
    );
    event GovSetMaxLiquidationDiscount(uint16 newDiscount);
    event GovSetHookConfig(address indexed newHookTarget, uint32 newHookedOps);
    event GovSetCaps(uint16 newSupplyCap, uint16 newBorrowCap);

    error E_OperationDisabled();
    error E_InsufficientCash();
    error E_InsufficientBalance();
    error E_SupplyCapExceeded();
    error E_BorrowCapExceeded();
    error E_AccountLiquidity();
    error E_ControllerDisabled();
    error E_OutstandingDebt();
    error E_RepayTooMuch();
    error E_ZeroShares();
    error E_ZeroAssets();
    error E_ExcessiveRepayAmount();
    error E_BadAssetReceiver();
    error E_NoLiability();
    error E_NotController();

    struct Ltv {
        uint48 target;
        uint16 liquidation;
        uint16 initial;
        uint32 ramp;
        uint16 borrow;
    }

    struct Debt {
        uint256 owed;
        uint256 accumulator;
    }

    uint256 private constant SHIFT = 31;
    uint256 private constant RAY = 1e27;
    uint256 private constant VIRTUAL = 1e6;
    uint16 public constant interestFee = 0.1e4;
    string public constant name = "EVK-like";
    string public constant symbol = "eTST";

    EvcLike public immutable EVC;
    address public immutable asset;
    uint8 public immutable decimals;
    EulerRouterLike public immutable oracle;
    address public immutable unitOfAccount;
    uint16 public maxLiquidationDiscount;
    uint256 public cash;
    uint256 public interestRate;
    mapping(address => uint256) public balanceOf;

    /// A year: without debt, and what is more with all lent out.
    uint256 private _baseRate = 2 * RAY / 100;
    uint256 private _slope = RAY / 10;
    uint32 private _hookedOps = (1 << 15) - 1;
    uint16 private _supplyCap;
    uint16 private _borrowCap;
    uint256 private _shares;
    uint256 private _fees;
    uint256 private _owed;
    uint256 private _accumulator = RAY;
    uint256 private _updated = block.timestamp;
    mapping(address => Debt) private _debts;
    mapping(address => Ltv) private _ltvs;

    constructor(EvcLike evc, address asset_, uint8 decimals_, EulerRouterLike oracle_, address unit) {
        (EVC, asset, decimals, oracle, unitOfAccount) = (evc, asset_, decimals_, oracle_, unit);
        emit EVaultCreated(msg.sender, asset_, address(0));
        emit VaultStatus(0, 0, 0, 0, RAY, 0, block.timestamp);
    }

    // ---- governance

    function setRates(uint256 baseRate, uint256 slope) external {
        _update();
        (_baseRate, _slope) = (baseRate, slope);
        _status();
    }

    function setCaps(uint16 supplyCap, uint16 borrowCap) external {
        (_supplyCap, _borrowCap) = (supplyCap, borrowCap);
        emit GovSetCaps(supplyCap, borrowCap);
    }

    function setHookedOps(uint32 hookedOps) external {
        _hookedOps = hookedOps;
        emit GovSetHookConfig(address(0), hookedOps);
    }

    function setMaxLiquidationDiscount(uint16 discount) external {
        maxLiquidationDiscount = discount;
        emit GovSetMaxLiquidationDiscount(discount);
    }

    function setLTV(address collateral, uint16 borrowLTV, uint16 liquidationLTV, uint32 ramp) external {
        uint16 initial = LTVLiquidation(collateral);
        _ltvs[collateral] = Ltv(uint48(block.timestamp + ramp), liquidationLTV, initial, ramp, borrowLTV);
        emit GovSetLTV(collateral, borrowLTV, liquidationLTV, initial, uint48(block.timestamp + ramp), ramp);
    }

    function hookConfig() external view returns (address, uint32) { return (address(0), _hookedOps); }
    function caps() external view returns (uint16, uint16) { return (_supplyCap, _borrowCap); }
    function LTVBorrow(address collateral) public view returns (uint16) { return _ltvs[collateral].borrow; }

    function LTVLiquidation(address collateral) public view returns (uint16) {
        Ltv memory ltv = _ltvs[collateral];
        if (block.timestamp >= ltv.target || ltv.liquidation >= ltv.initial) return ltv.liquidation;
        return uint16(ltv.liquidation + uint256(ltv.initial - ltv.liquidation) * (ltv.target - block.timestamp) / ltv.ramp);
    }

    // ---- interest

    function _power(uint256 x, uint256 n) private pure returns (uint256 z) {
        z = n % 2 == 0 ? RAY : x;
        for (n /= 2; n > 0; n /= 2) {
            x = (x * x + RAY / 2) / RAY;
            if (n % 2 == 1) z = (z * x + RAY / 2) / RAY;
        }
    }

    function _now() private view returns (uint256 accumulator, uint256 owed, uint256 shares, uint256 fees) {
        (accumulator, owed, shares, fees) = (_accumulator, _owed, _shares, _fees);
        uint256 elapsed = block.timestamp - _updated;
        if (elapsed == 0) return (accumulator, owed, shares, fees);
        accumulator = accumulator * _power(interestRate + RAY, elapsed) / RAY;
        owed = owed * accumulator / _accumulator;
        uint256 feeAssets = (owed - _owed) * interestFee / (1e4 << SHIFT);
        if (feeAssets == 0) return (accumulator, owed, shares, fees);
        uint256 total = cash + (owed >> SHIFT);
        shares = total * shares / (total - feeAssets);
        fees += shares - _shares;
    }

    function _update() private {
        (_accumulator, _owed, _shares, _fees) = _now();
        _updated = block.timestamp;
    }

    function _status() private {
        uint256 total = cash + _up(_owed);
        interestRate = (_baseRate + (total == 0 ? 0 : _slope * _up(_owed) / total)) / 31_556_952;
        emit VaultStatus(_shares, _up(_owed), _fees, cash, _accumulator, interestRate, block.timestamp);
    }

    function touch() external {
        _begin(13);
        _checked();
    }

    function _checked() private {
        if (_isOff(14)) revert E_OperationDisabled();
        _status();
    }

    function _up(uint256 owed) private pure returns (uint256) { return (owed + (1 << SHIFT) - 1) >> SHIFT; }

    function _owes(address account) private view returns (uint256) {
        (uint256 accumulator,,,) = _now();
        Debt storage debt = _debts[account];
        return debt.owed == 0 ? 0 : debt.owed * accumulator / debt.accumulator;
    }

    function interestAccumulator() external view returns (uint256 accumulator) { (accumulator,,,) = _now(); }
    function totalBorrows() external view returns (uint256) { (, uint256 owed,,) = _now(); return _up(owed); }
    function totalBorrowsExact() external view returns (uint256 owed) { (, owed,,) = _now(); }
    function totalSupply() external view returns (uint256 shares) { (,, shares,) = _now(); }
    function accumulatedFees() external view returns (uint256 fees) { (,,, fees) = _now(); }
    function totalAssets() public view returns (uint256) { (, uint256 owed,,) = _now(); return cash + _up(owed); }
    function debtOf(address account) public view returns (uint256) { return _up(_owes(account)); }
    function debtOfExact(address account) external view returns (uint256) { return _owes(account); }

    function convertToAssets(uint256 shares) public view returns (uint256) {
        (, uint256 owed, uint256 total,) = _now();
        return shares * (cash + _up(owed) + VIRTUAL) / (total + VIRTUAL);
    }

    function convertToShares(uint256 assets) public view returns (uint256) {
        (, uint256 owed, uint256 total,) = _now();
        return assets * (total + VIRTUAL) / (cash + _up(owed) + VIRTUAL);
    }

    // ---- limits, as Vault.sol tells them; operations are numbered as in Constants.sol

    function _isOff(uint256 operation) private view returns (bool) { return _hookedOps & uint32(1 << operation) != 0; }

    function maxDeposit(address) external view returns (uint256) {
        uint256 cap = _cap(_supplyCap);
        uint256 supplied = totalAssets();
        if (_isOff(0) || supplied >= cap) return 0;
        uint256 room = type(uint112).max - cash;
        return room < cap - supplied ? room : cap - supplied;
    }

    function maxRedeem(address owner) external view returns (uint256) { return _isOff(3) ? 0 : _redeemable(owner); }

    function maxWithdraw(address owner) external view returns (uint256) {
        return _isOff(2) ? 0 : convertToAssets(_redeemable(owner));
    }

    /// Whatever its controller would allow, an account that has one is told nothing.
    function _redeemable(address owner) private view returns (uint256) {
        if (EVC.getControllers(owner).length > 0) return 0;
        uint256 liquid = convertToShares(cash);
        return balanceOf[owner] < liquid ? balanceOf[owner] : liquid;
    }

    // ---- lending

    function _begin(uint256 operation) private returns (address account) {
        if (_isOff(operation)) revert E_OperationDisabled();
        _update();
        return msg.sender == address(EVC) ? EVC.actor() : msg.sender;
    }

    function _cap(uint16 raw) private pure returns (uint256) {
        return raw == 0 ? type(uint256).max : 10 ** (raw & 63) * (raw >> 6) / 100;
    }

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        address account = _begin(0);
        shares = convertToShares(assets);
        if (shares == 0) revert E_ZeroShares();
        IERC20(asset).safeTransferFrom(account, address(this), assets);
        (cash, _shares) = (cash + assets, _shares + shares);
        balanceOf[receiver] += shares;
        if (totalAssets() > _cap(_supplyCap)) revert E_SupplyCapExceeded();
        emit Transfer(address(0), receiver, shares);
        emit Deposit(account, receiver, assets, shares);
        _checked();
    }

    function withdraw(uint256 assets, address receiver, address owner) external returns (uint256 shares) {
        address account = _begin(2);
        uint256 total = cash + _up(_owed) + VIRTUAL;
        shares = (assets * (_shares + VIRTUAL) + total - 1) / total;
        _burn(account, owner, receiver, assets, shares);
    }

    function redeem(uint256 shares, address receiver, address owner) external returns (uint256 assets) {
        address account = _begin(3);
        if (shares == type(uint256).max) shares = balanceOf[owner];
        assets = convertToAssets(shares);
        if (assets == 0 && shares > 0) revert E_ZeroAssets();
        _burn(account, owner, receiver, assets, shares);
    }

    function _burn(address account, address owner, address receiver, uint256 assets, uint256 shares) private {
        require(account == owner, "allowance");
        if (balanceOf[owner] < shares) revert E_InsufficientBalance();
        if (cash < assets) revert E_InsufficientCash();
        (cash, _shares) = (cash - assets, _shares - shares);
        balanceOf[owner] -= shares;
        _push(receiver, assets);
        emit Transfer(owner, address(0), shares);
        emit Withdraw(account, receiver, owner, assets, shares);
        _checked();
        EVC.requireAccountStatusCheck(owner);
    }

    /// Nobody can move a token that a sub-account has got.
    function _push(address receiver, uint256 assets) private {
        address owner = EVC.getAccountOwner(receiver);
        if (owner != address(0) && owner != receiver) revert E_BadAssetReceiver();
        IERC20(asset).safeTransfer(receiver, assets);
    }

    function transfer(address to, uint256 shares) external returns (bool) {
        address account = _begin(4);
        _move(account, to, shares);
        EVC.requireAccountStatusCheck(account);
        return true;
    }

    /// By the vault that decides over an account, in a liquidation.
    function seize(address from, address to, uint256 shares) external {
        if (!EVC.isControllerEnabled(from, msg.sender)) revert E_ControllerDisabled();
        _update();
        _move(from, to, shares);
    }

    function _move(address from, address to, uint256 shares) private {
        if (balanceOf[from] < shares) revert E_InsufficientBalance();
        balanceOf[from] -= shares;
        balanceOf[to] += shares;
        emit Transfer(from, to, shares);
        _checked();
    }

    // ---- borrowing

    function borrow(uint256 assets, address receiver) external returns (uint256) {
        address account = _begin(6);
        if (!EVC.isControllerEnabled(account, address(this))) revert E_ControllerDisabled();
        if (assets == type(uint256).max) assets = cash;
        if (cash < assets) revert E_InsufficientCash();
        _increase(account, assets);
        cash -= assets;
        if (_up(_owed) > _cap(_borrowCap)) revert E_BorrowCapExceeded();
        _push(receiver, assets);
        _checked();
        EVC.requireAccountStatusCheck(account);
        return assets;
    }

    function repay(uint256 assets, address receiver) external returns (uint256) {
        address account = _begin(7);
        if (assets == type(uint256).max) assets = debtOf(receiver);
        IERC20(asset).safeTransferFrom(account, address(this), assets);
        cash += assets;
        _decrease(receiver, assets);
        _checked();
        return assets;
    }

    function pullDebt(uint256 assets, address from) external {
        address account = _begin(9);
        if (!EVC.isControllerEnabled(account, address(this)) || from == account) revert E_ControllerDisabled();
        if (assets == type(uint256).max) assets = debtOf(from);
        _decrease(from, assets);
        _increase(account, assets);
        emit PullDebt(from, account, assets);
        _checked();
        EVC.requireAccountStatusCheck(account);
    }

    function disableController() external {
        address account = msg.sender == address(EVC) ? EVC.actor() : msg.sender;
        if (_debts[account].owed != 0) revert E_OutstandingDebt();
        EVC.disableController(account);
    }

    function _increase(address account, uint256 assets) private {
        uint256 before = _up(_debts[account].owed);
        uint256 owed = _owes(account) + (assets << SHIFT);
        _debts[account] = Debt(owed, _accumulator);
        _owed += assets << SHIFT;
        if (_up(owed) - before > assets) emit InterestAccrued(account, _up(owed) - before - assets);
        if (assets > 0) emit Borrow(account, assets);
    }

    function _decrease(address account, uint256 assets) private {
        uint256 before = _up(_debts[account].owed);
        uint256 exact = _owes(account);
        uint256 owed = _up(exact);
        if (owed > before) emit InterestAccrued(account, owed - before);
        if (assets > owed) revert E_RepayTooMuch();
        uint256 left = (owed - assets) << SHIFT;
        _debts[account] = Debt(left, _accumulator);
        _owed = _owed > exact ? _owed - exact + left : left;
        if (assets > 0) emit Repay(account, assets);
    }

    // ---- liquidation

    function liquidate(address violator, address collateral, uint256 repayAssets, uint256 minYieldBalance) external {
        address liquidator = _begin(11);
        if (!EVC.isControllerEnabled(violator, address(this)) || violator == liquidator) revert E_ControllerDisabled();
        if (!EVC.isControllerEnabled(liquidator, address(this))) revert E_ControllerDisabled();
        uint256 liability = debtOf(violator);
        (uint256 repay_, uint256 yield_) = _most(violator, collateral, liability);
        if (repayAssets != type(uint256).max) {
            if (repayAssets > repay_) revert E_ExcessiveRepayAmount();
            if (repay_ > 0) (repay_, yield_) = (repayAssets, repayAssets * yield_ / repay_);
        }
        require(yield_ >= minYieldBalance, "yield");
        _decrease(violator, repay_);
        _increase(liquidator, repay_);
        if (yield_ > 0) EvkLike(collateral).seize(violator, liquidator, yield_);
        if (liability > repay_ && _hasNothing(violator)) {
            _decrease(violator, liability - repay_);
            emit Withdraw(liquidator, address(0), address(0), liability - repay_, 0);
            emit DebtSocialized(violator, liability - repay_);
        }
        emit Liquidate(liquidator, violator, collateral, repay_, yield_);
        _checked();
        EVC.requireAccountStatusCheck(liquidator);
    }

    function _most(address violator, address collateral, uint256 liability)
        private
        view
        returns (uint256 repay_, uint256 yield_)
    {
        (uint256 covered, uint256 owes) = accountLiquidity(violator, true);
        if (covered > owes || owes == 0) return (0, 0);
        uint256 factor = covered * 1e18 / owes;
        uint256 least = 1e18 - uint256(1e18) * maxLiquidationDiscount / 1e4;
        if (factor < least) factor = least;
        uint256 shares = EvkLike(collateral).balanceOf(violator);
        uint256 worth = oracle.getQuote(shares, collateral, unitOfAccount);
        uint256 maxRepay = owes;
        uint256 maxYield = owes * 1e18 / factor;
        if (worth < maxYield) (maxRepay, maxYield) = (worth * factor / 1e18, worth);
        return (maxRepay * liability / owes, maxYield * shares / worth);
    }

    function _hasNothing(address account) private view returns (bool) {
        address[] memory list = EVC.getCollaterals(account);
        for (uint256 i = 0; i < list.length; i++) {
            if (_ltvs[list[i]].target != 0 && EvkLike(list[i]).balanceOf(account) > 0) return false;
        }
        return true;
    }

    // ---- health

    function accountLiquidity(address account, bool liquidation) public view returns (uint256 covered, uint256 owes) {
        address[] memory controllers = EVC.getControllers(account);
        if (controllers.length == 0) revert E_NoLiability();
        if (controllers[0] != address(this)) revert E_NotController();
        return _liquidity(account, EVC.getCollaterals(account), liquidation);
    }

    function _liquidity(address account, address[] memory list, bool liquidation)
        private
        view
        returns (uint256 covered, uint256 owes)
    {
        for (uint256 i = 0; i < list.length; i++) {
            uint256 ltv = liquidation ? LTVLiquidation(list[i]) : LTVBorrow(list[i]);
            uint256 shares = EvkLike(list[i]).balanceOf(account);
            if (ltv == 0 || shares == 0) continue;
            uint256 mid = oracle.getQuote(shares, list[i], unitOfAccount);
            (uint256 bid,) = oracle.getQuotes(shares, list[i], unitOfAccount);
            covered += (liquidation ? mid : bid) * ltv / 1e4;
        }
        owes = debtOf(account);
        if (owes == 0 || asset == unitOfAccount) return (covered, owes);
        (, uint256 ask) = oracle.getQuotes(owes, asset, unitOfAccount);
        owes = liquidation ? oracle.getQuote(owes, asset, unitOfAccount) : ask;
    }

    function checkAccountStatus(address account, address[] calldata collaterals) external view {
        if (debtOf(account) == 0) return;
        (uint256 covered, uint256 owes) = _liquidity(account, collaterals, false);
        if (covered <= owes) revert E_AccountLiquidity();
    }
}
