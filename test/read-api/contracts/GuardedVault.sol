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
