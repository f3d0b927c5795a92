// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

interface IMoney {
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface IAnswer {
    function latestAnswer() external view returns (int256);
}

/// Which vaults secure an account and which may take from it, told by the events of Euler's EthereumVaultConnector.
contract ConnectorLike {
    event CollateralStatus(address indexed account, address indexed collateral, bool enabled);
    event ControllerStatus(address indexed account, address indexed controller, bool enabled);

    mapping(address => address[]) private _collaterals;
    mapping(address => address) public controllerOf;

    function collateralsOf(address account) external view returns (address[] memory) { return _collaterals[account]; }

    function enableCollateral(address account, address vault) external {
        address[] storage list = _collaterals[account];
        for (uint256 i = 0; i < list.length; i++) if (list[i] == vault) return;
        list.push(vault);
        emit CollateralStatus(account, vault, true);
    }

    function enableController(address account, address vault) external {
        require(controllerOf[account] == address(0) || controllerOf[account] == vault, "controller");
        if (controllerOf[account] == vault) return;
        controllerOf[account] = vault;
        emit ControllerStatus(account, vault, true);
    }

    function disableController(address account) external {
        require(msg.sender == controllerOf[account], "not the controller");
        controllerOf[account] = address(0);
        emit ControllerStatus(account, msg.sender, false);
    }
}

/// A vault with the debt accounting, events and views of the Euler Vault Kit, written for tests from the behaviour that its
/// Cache.sol, BorrowUtils.sol and LTVConfig.sol describe: debts with 31 bits of fraction, an accumulator of 1e27 compounded
/// by the second, debts rounded up when told and made whole when repaid, fees as shares, liquidation LTVs that ramp down. Its
/// shares cannot be transferred, its oracle is a feed in the unit of account, a liquidation takes what it is asked for.
contract EvkLike {
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
    uint256 public constant interestFee = 0.1e4;

    ConnectorLike public immutable EVC;
    address public immutable asset;
    IAnswer public immutable feed;
    uint256 public immutable unit;
    uint256 public cash;
    uint256 public interestRate;
    uint256 private _shares;
    uint256 private _fees;
    uint256 private _owed;
    uint256 private _accumulator = RAY;
    uint256 private _updated = block.timestamp;
    mapping(address => uint256) public balanceOf;
    mapping(address => Debt) private _debts;
    mapping(address => Ltv) private _ltvs;

    constructor(ConnectorLike evc, address asset_, IAnswer feed_, uint256 unit_) {
        (EVC, asset, feed, unit) = (evc, asset_, feed_, unit_);
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

    /// The rate of the time to come: 2 % a year without debt, 12 % with all lent out.
    function _status() private {
        uint256 total = cash + _up(_owed);
        interestRate = (2 * RAY / 100 + (total == 0 ? 0 : RAY / 10 * _up(_owed) / total)) / 31_556_952;
        emit VaultStatus(_shares, _up(_owed), _fees, cash, _accumulator, interestRate, block.timestamp);
    }

    function touch() external {
        _update();
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
    function totalAssets() external view returns (uint256) { (, uint256 owed,,) = _now(); return cash + _up(owed); }
    function debtOf(address account) public view returns (uint256) { return _up(_owes(account)); }
    function debtOfExact(address account) external view returns (uint256) { return _owes(account); }

    // ---- lending

    function deposit(uint256 assets, address receiver) external {
        IMoney(asset).transferFrom(msg.sender, address(this), assets);
        _update();
        uint256 shares = assets * (_shares + VIRTUAL) / (cash + _up(_owed) + VIRTUAL);
        (cash, _shares) = (cash + assets, _shares + shares);
        balanceOf[receiver] += shares;
        emit Transfer(address(0), receiver, shares);
        emit Deposit(msg.sender, receiver, assets, shares);
        _status();
    }

    function withdraw(uint256 assets, address receiver) external {
        _update();
        uint256 total = cash + _up(_owed) + VIRTUAL;
        uint256 shares = (assets * (_shares + VIRTUAL) + total - 1) / total;
        (cash, _shares) = (cash - assets, _shares - shares);
        balanceOf[msg.sender] -= shares;
        IMoney(asset).transfer(receiver, assets);
        emit Transfer(msg.sender, address(0), shares);
        emit Withdraw(msg.sender, receiver, msg.sender, assets, shares);
        address controller = EVC.controllerOf(msg.sender);
        if (controller != address(0)) EvkLike(controller).check(msg.sender);
        _status();
    }

    function value(uint256 shares) external view returns (uint256) {
        (, uint256 owed, uint256 total,) = _now();
        return _worth(shares * (cash + _up(owed) + VIRTUAL) / (total + VIRTUAL));
    }

    function _worth(uint256 assets) private view returns (uint256) { return assets * uint256(feed.latestAnswer()) / unit; }

    // ---- borrowing

    function borrow(uint256 assets, address receiver) external {
        require(EVC.controllerOf(msg.sender) == address(this), "controller not enabled");
        _update();
        _increase(msg.sender, assets);
        cash -= assets;
        IMoney(asset).transfer(receiver, assets);
        check(msg.sender);
        _status();
    }

    function repay(uint256 assets, address receiver) external {
        _update();
        if (assets == type(uint256).max) assets = debtOf(receiver);
        IMoney(asset).transferFrom(msg.sender, address(this), assets);
        cash += assets;
        _decrease(receiver, assets);
        _status();
    }

    function pullDebt(uint256 assets, address from) external {
        require(EVC.controllerOf(msg.sender) == address(this) && from != msg.sender, "controller not enabled");
        _update();
        if (assets == type(uint256).max) assets = debtOf(from);
        _decrease(from, assets);
        _increase(msg.sender, assets);
        emit PullDebt(from, msg.sender, assets);
        check(msg.sender);
        _status();
    }

    function liquidate(address violator, address collateral, uint256 repayAssets, uint256 yieldBalance) external {
        _update();
        (uint256 worth, uint256 liability) = accountLiquidity(violator, true);
        require(worth < liability, "healthy");
        _decrease(violator, repayAssets);
        _increase(msg.sender, repayAssets);
        EvkLike(collateral).seize(violator, msg.sender, yieldBalance);
        if (EvkLike(collateral).balanceOf(violator) == 0 && _debts[violator].owed > 0) {
            uint256 lost = debtOf(violator);
            _decrease(violator, lost);
            emit DebtSocialized(violator, lost);
        }
        emit Liquidate(msg.sender, violator, collateral, repayAssets, yieldBalance);
        _status();
    }

    function seize(address from, address to, uint256 shares) external {
        require(EVC.controllerOf(from) == msg.sender, "not the controller");
        balanceOf[from] -= shares;
        balanceOf[to] += shares;
        emit Transfer(from, to, shares);
    }

    function _told(address account, uint256 before, uint256 exact) private returns (uint256 owed) {
        owed = _up(exact);
        if (owed > before) emit InterestAccrued(account, owed - before);
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
        uint256 owed = _told(account, before, exact);
        require(assets <= owed, "repay too much");
        uint256 left = (owed - assets) << SHIFT;
        _debts[account] = Debt(left, _accumulator);
        _owed = _owed > exact ? _owed - exact + left : left;
        if (assets > 0) emit Repay(account, assets);
        if (left == 0 && EVC.controllerOf(account) == address(this)) EVC.disableController(account);
    }

    // ---- risk

    function setLTV(address collateral, uint16 borrowLTV, uint16 liquidationLTV, uint32 ramp) external {
        uint16 initial = LTVLiquidation(collateral);
        _ltvs[collateral] = Ltv(uint48(block.timestamp + ramp), liquidationLTV, initial, ramp, borrowLTV);
        emit GovSetLTV(collateral, borrowLTV, liquidationLTV, initial, uint48(block.timestamp + ramp), ramp);
    }

    function LTVBorrow(address collateral) public view returns (uint16) { return _ltvs[collateral].borrow; }

    function LTVLiquidation(address collateral) public view returns (uint16) {
        Ltv memory ltv = _ltvs[collateral];
        if (block.timestamp >= ltv.target || ltv.liquidation >= ltv.initial) return ltv.liquidation;
        return uint16(ltv.liquidation + uint256(ltv.initial - ltv.liquidation) * (ltv.target - block.timestamp) / ltv.ramp);
    }

    function accountLiquidity(address account, bool liquidation) public view returns (uint256 worth, uint256 liability) {
        address[] memory list = EVC.collateralsOf(account);
        for (uint256 i = 0; i < list.length; i++) {
            uint256 ltv = liquidation ? LTVLiquidation(list[i]) : LTVBorrow(list[i]);
            uint256 shares = EvkLike(list[i]).balanceOf(account);
            if (ltv != 0 && shares != 0) worth += EvkLike(list[i]).value(shares) * ltv / 1e4;
        }
        liability = _worth(debtOf(account));
    }

    function check(address account) public view {
        (uint256 worth, uint256 liability) = accountLiquidity(account, false);
        require(liability == 0 || worth > liability, "not covered");
    }
}
