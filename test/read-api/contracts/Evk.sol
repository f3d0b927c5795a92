// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

interface IChecked {
    function checkAccountStatus(address account, address[] calldata collaterals) external view;
}

/// What accounts tell the Ethereum Vault Connector, written for the tests after its interface: collaterals, at most one
/// controller when a batch ends, calls on behalf of the sender, checks of accounts put off to the end of a batch. It has
/// no sub-accounts, operators, permits or lockdown.
contract EvcLike {
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

    function getCollaterals(address account) external view returns (address[] memory) {
        return _collaterals[account];
    }

    function getControllers(address account) external view returns (address[] memory) {
        return _controllers[account];
    }

    /// Who acts in a call that comes through here.
    function actor() external view returns (address) {
        return _onBehalf;
    }

    function enableCollateral(address account, address vault) external payable {
        _authorize(account);
        _insert(_collaterals[account], vault);
        requireAccountStatusCheck(account);
    }

    function disableCollateral(address account, address vault) external payable {
        _authorize(account);
        _remove(_collaterals[account], vault);
        requireAccountStatusCheck(account);
    }

    function enableController(address account, address vault) external payable {
        _authorize(account);
        _insert(_controllers[account], vault);
        requireAccountStatusCheck(account);
    }

    /// By the controller itself.
    function disableController(address account) external payable {
        _remove(_controllers[account], msg.sender);
        requireAccountStatusCheck(account);
    }

    function isControllerEnabled(address account, address vault) external view returns (bool) {
        return _has(_controllers[account], vault);
    }

    function batch(BatchItem[] calldata items) external payable {
        _deferred = true;
        for (uint256 i = 0; i < items.length; i++) {
            BatchItem calldata item = items[i];
            if (item.targetContract == address(this)) {
                _onBehalf = msg.sender;
            } else {
                if (item.onBehalfOfAccount != msg.sender) revert EVC_NotAuthorized();
                _onBehalf = msg.sender;
            }
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

    function _authorize(address account) private view {
        address sender = msg.sender == address(this) ? _onBehalf : msg.sender;
        if (sender != account) revert EVC_NotAuthorized();
    }

    function _has(address[] storage list, address one) private view returns (bool) {
        for (uint256 i = 0; i < list.length; i++) if (list[i] == one) return true;
        return false;
    }

    function _insert(address[] storage list, address one) private {
        if (!_has(list, one)) list.push(one);
    }

    function _remove(address[] storage list, address one) private {
        for (uint256 i = 0; i < list.length; i++) {
            if (list[i] != one) continue;
            list[i] = list[list.length - 1];
            list.pop();
            return;
        }
    }
}

interface IConvert {
    function convertToAssets(uint256 shares) external view returns (uint256);
    function asset() external view returns (address);
}

/// Quotes in a unit of account of 18 decimals, after IPriceOracle.sol: shares of a vault at what they convert to, half
/// of `spread` below and above.
contract EulerOracleLike {
    error PriceOracle_NotSupported(address base, address quote);

    mapping(address => uint256) public priceOf;
    mapping(address => bool) public isVault;
    uint256 public spread;

    /// 1e18 times the price of a base unit of the asset in the unit of account.
    function set(address asset, uint256 price, uint256 spread_) external {
        (priceOf[asset], spread) = (price, spread_);
    }

    function addVault(address vault) external {
        isVault[vault] = true;
    }

    function getQuotes(uint256 amount, address base, address quote) external view returns (uint256 bid, uint256 ask) {
        if (isVault[base]) (amount, base) = (IConvert(base).convertToAssets(amount), IConvert(base).asset());
        uint256 price = priceOf[base];
        if (price == 0) revert PriceOracle_NotSupported(base, quote);
        uint256 mid = amount * price / 1e18;
        return (mid - mid * spread / 2e18, mid + mid * spread / 2e18);
    }
}

/// A vault with the accounting and the views of Euler's EVK that borrowers and lenders meet, written for the tests after
/// IEVault.sol and its documentation: virtual deposit of 1e6, debts with 31 bits below the base unit and rounded up,
/// compounded interest, AmountCaps, operations hooked to nobody, status checks through the connector. It has no
/// liquidations, fees, permits or flash loans.
contract EvkLike {
    using SafeERC20 for IERC20;

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

    uint256 private constant VIRTUAL = 1e6;
    uint256 private constant DEBT_BITS = 31;

    EvcLike private immutable _evc;
    IERC20 private immutable _asset;
    uint8 public immutable decimals;
    EulerOracleLike public immutable oracle;
    address public immutable unitOfAccount;
    string public constant name = "EVK-like";
    string public constant symbol = "eTST";

    uint256 public cash;
    uint256 public totalSupply;
    /// Per second, scaled by 1e27.
    uint256 public interestRate;
    uint16 public constant interestFee = 0;
    mapping(address => uint256) public balanceOf;
    mapping(address => uint16) public LTVBorrow;

    uint32 private _hookedOps;
    uint16 private _supplyCap;
    uint16 private _borrowCap;
    uint256 private _accumulator = 1e27;
    uint256 private _updatedAt = block.timestamp;
    uint256 private _totalOwed;
    mapping(address => uint256) private _owed;
    mapping(address => uint256) private _owedAt;

    constructor(EvcLike evc, IERC20 asset_, uint8 decimals_, EulerOracleLike oracle_, address unit) {
        (_evc, _asset, decimals, oracle, unitOfAccount) = (evc, asset_, decimals_, oracle_, unit);
    }

    // ---- governance

    function configure(uint256 rate, uint16 supplyCap, uint16 borrowCap, uint32 hookedOps) external {
        _accrue();
        (interestRate, _supplyCap, _borrowCap, _hookedOps) = (rate, supplyCap, borrowCap, hookedOps);
    }

    function setLTV(address collateral, uint16 ltv) external {
        LTVBorrow[collateral] = ltv;
    }

    function EVC() external view returns (address) { return address(_evc); }
    function asset() external view returns (address) { return address(_asset); }
    function hookConfig() external view returns (address, uint32) { return (address(0), _hookedOps); }
    function caps() external view returns (uint16, uint16) { return (_supplyCap, _borrowCap); }

    // ---- interest

    function interestAccumulator() public view returns (uint256) {
        uint256 n = block.timestamp - _updatedAt;
        uint256 x = 1e27 + interestRate;
        uint256 power = 1e27;
        for (; n > 0; n >>= 1) {
            if (n & 1 == 1) power = power * x / 1e27;
            x = x * x / 1e27;
        }
        return _accumulator * power / 1e27;
    }

    function _totalOwedNow() private view returns (uint256) { return _totalOwed * interestAccumulator() / _accumulator; }

    function _accrue() private {
        _totalOwed = _totalOwedNow();
        _accumulator = interestAccumulator();
        _updatedAt = block.timestamp;
    }

    function _owedNow(address account) private view returns (uint256) {
        return _owed[account] == 0 ? 0 : _owed[account] * interestAccumulator() / _owedAt[account];
    }

    function _up(uint256 owed) private pure returns (uint256) { return (owed + (1 << DEBT_BITS) - 1) >> DEBT_BITS; }
    function debtOf(address account) public view returns (uint256) { return _up(_owedNow(account)); }
    function totalBorrows() public view returns (uint256) { return _up(_totalOwedNow()); }
    function totalAssets() public view returns (uint256) { return cash + totalBorrows(); }

    function convertToAssets(uint256 shares) public view returns (uint256) {
        return shares * (totalAssets() + VIRTUAL) / (totalSupply + VIRTUAL);
    }

    function convertToShares(uint256 assets) public view returns (uint256) {
        return assets * (totalSupply + VIRTUAL) / (totalAssets() + VIRTUAL);
    }

    // ---- limits; operations are numbered as in Constants.sol

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
        if (_evc.getControllers(owner).length > 0) return 0;
        uint256 liquid = convertToShares(cash);
        return balanceOf[owner] < liquid ? balanceOf[owner] : liquid;
    }

    // ---- acts

    function _begin(uint256 operation) private returns (address account) {
        if (_isOff(operation)) revert E_OperationDisabled();
        _accrue();
        return msg.sender == address(_evc) ? _evc.actor() : msg.sender;
    }

    function _cap(uint16 raw) private pure returns (uint256) {
        return raw == 0 ? type(uint256).max : 10 ** (raw & 63) * (raw >> 6) / 100;
    }

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        address account = _begin(0);
        shares = convertToShares(assets);
        if (shares == 0) revert E_ZeroShares();
        _asset.safeTransferFrom(account, address(this), assets);
        (cash, totalSupply) = (cash + assets, totalSupply + shares);
        balanceOf[receiver] += shares;
        if (totalAssets() > _cap(_supplyCap)) revert E_SupplyCapExceeded();
    }

    function withdraw(uint256 assets, address receiver, address owner) external returns (uint256 shares) {
        address account = _begin(2);
        shares = (assets * (totalSupply + VIRTUAL) + totalAssets() + VIRTUAL - 1) / (totalAssets() + VIRTUAL);
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
        balanceOf[owner] -= shares;
        (cash, totalSupply) = (cash - assets, totalSupply - shares);
        _asset.safeTransfer(receiver, assets);
        _evc.requireAccountStatusCheck(owner);
    }

    function borrow(uint256 assets, address receiver) external returns (uint256) {
        address account = _begin(6);
        if (!_evc.isControllerEnabled(account, address(this))) revert E_ControllerDisabled();
        if (assets == type(uint256).max) assets = cash;
        if (cash < assets) revert E_InsufficientCash();
        _setOwed(account, _owedNow(account) + (assets << DEBT_BITS));
        cash -= assets;
        if (totalBorrows() > _cap(_borrowCap)) revert E_BorrowCapExceeded();
        _asset.safeTransfer(receiver, assets);
        _evc.requireAccountStatusCheck(account);
        return assets;
    }

    function repay(uint256 assets, address receiver) external returns (uint256) {
        address account = _begin(7);
        uint256 owed = debtOf(receiver);
        if (assets == type(uint256).max) assets = owed;
        if (assets > owed) revert E_RepayTooMuch();
        _asset.safeTransferFrom(account, address(this), assets);
        cash += assets;
        // What is left is a number of base units, rounded up.
        _setOwed(receiver, (owed - assets) << DEBT_BITS);
        return assets;
    }

    function _setOwed(address account, uint256 owed) private {
        uint256 before = _owedNow(account);
        uint256 total = _totalOwed + owed;
        _totalOwed = total > before ? total - before : 0;
        (_owed[account], _owedAt[account]) = (owed, _accumulator);
    }

    function disableController() external {
        address account = msg.sender == address(_evc) ? _evc.actor() : msg.sender;
        if (_owed[account] != 0) revert E_OutstandingDebt();
        _evc.disableController(account);
    }

    // ---- health

    function checkAccountStatus(address account, address[] calldata collaterals) external view {
        uint256 debt = debtOf(account);
        if (debt == 0) return;
        (, uint256 liability) = oracle.getQuotes(debt, address(_asset), unitOfAccount);
        uint256 covered = 0;
        for (uint256 i = 0; i < collaterals.length; i++) {
            uint256 shares = EvkLike(collaterals[i]).balanceOf(account);
            if (shares == 0 || LTVBorrow[collaterals[i]] == 0) continue;
            (uint256 bid,) = oracle.getQuotes(shares, collaterals[i], unitOfAccount);
            covered += bid * LTVBorrow[collaterals[i]] / 1e4;
            if (covered > liability) return;
        }
        revert E_AccountLiquidity();
    }
}
