// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";

/// OpenZeppelin's ERC-4626 with a pause, a cap that it states, a list of those allowed that it does not state, and a
/// share of its assets that it cannot pay out.
contract GuardedVault is ERC4626 {
    error NotAllowed(address account);

    bool public paused;
    bool public listed;
    uint256 public cap = type(uint256).max;
    uint256 public illiquid;
    mapping(address => bool) public allowed;

    constructor(IERC20 asset_) ERC20("Guarded", "GRD") ERC4626(asset_) {}

    function set(bool paused_, bool listed_, uint256 cap_, uint256 illiquid_) external {
        (paused, listed, cap, illiquid) = (paused_, listed_, cap_, illiquid_);
    }

    function allow(address account) external {
        allowed[account] = true;
    }

    function maxDeposit(address) public view override returns (uint256) {
        uint256 total = totalAssets();
        return cap > total ? cap - total : 0;
    }

    function maxWithdraw(address owner) public view override returns (uint256) {
        uint256 value = previewRedeem(balanceOf(owner));
        uint256 liquid = totalAssets() - illiquid;
        return value < liquid ? value : liquid;
    }

    function maxRedeem(address owner) public view override returns (uint256) {
        uint256 shares = convertToShares(maxWithdraw(owner));
        return shares < balanceOf(owner) ? shares : balanceOf(owner);
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        require(!paused, "paused");
        if (listed && !allowed[receiver]) revert NotAllowed(receiver);
        super._deposit(caller, receiver, assets, shares);
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        override
    {
        require(!paused, "paused");
        super._withdraw(caller, receiver, owner, assets, shares);
    }
}

/// The parts of Euler's EVK that a depositor meets, written for the tests after IEVault.sol: operations switched off by a
/// hook without target, shares bound by debt. Accounting is OpenZeppelin's.
contract EvkLikeVault is ERC4626 {
    error E_OperationDisabled();
    error E_AccountLiquidity();

    address public immutable EVC;
    address private _target;
    uint32 private _ops;
    mapping(address => uint256) public debtOf;

    constructor(IERC20 asset_, address evc) ERC20("Evk-like", "eTST") ERC4626(asset_) {
        EVC = evc;
    }

    function hookConfig() external view returns (address, uint32) {
        return (_target, _ops);
    }

    function setHookConfig(address target, uint32 ops) external {
        (_target, _ops) = (target, ops);
    }

    function setDebt(address account, uint256 debt) external {
        debtOf[account] = debt;
    }

    function caps() external pure returns (uint16, uint16) {
        return (0, 0);
    }

    function cash() external view returns (uint256) {
        return totalAssets();
    }

    function _off(uint32 op) private view returns (bool) {
        return _target == address(0) && (_ops & op) != 0;
    }

    function maxDeposit(address owner) public view override returns (uint256) {
        return _off(1) ? 0 : super.maxDeposit(owner);
    }

    function maxWithdraw(address owner) public view override returns (uint256) {
        return _off(4) || debtOf[owner] > 0 ? 0 : super.maxWithdraw(owner);
    }

    function maxRedeem(address owner) public view override returns (uint256) {
        return _off(8) || debtOf[owner] > 0 ? 0 : super.maxRedeem(owner);
    }
}
