// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// Asynchronous in both directions, written for the tests after ERC-7540 (requests of id 0, pooled per controller) and
/// ERC-7887 (cancellation). Anybody may fulfil, at the share price of that moment.
contract AsyncVault is ERC4626 {
    using SafeERC20 for IERC20;

    struct Requests {
        uint256 pendingAssets;
        uint256 claimableAssets;
        uint256 claimableShares;
        uint256 pendingShares;
        uint256 redeemableShares;
        uint256 redeemableAssets;
        uint256 cancellingAssets;
        uint256 cancelledAssets;
        uint256 cancellingShares;
        uint256 cancelledShares;
    }

    event DepositRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets
    );
    event RedeemRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares
    );

    mapping(address => Requests) private _of;
    /// Assets here that do not back shares: requested, or owed.
    uint256 private _apart;

    constructor(IERC20 asset_) ERC20("Async", "asTST") ERC4626(asset_) {}

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0xce3bbe50 || id == 0x620ee8e4 || id == 0x2f0a18c5;
    }

    function share() external view returns (address) {
        return address(this);
    }

    function totalAssets() public view override returns (uint256) {
        return IERC20(asset()).balanceOf(address(this)) - _apart;
    }

    modifier only(address controller) {
        require(msg.sender == controller, "not the controller");
        _;
    }

    function requestDeposit(uint256 assets, address controller, address owner)
        public
        virtual
        only(owner)
        returns (uint256)
    {
        require(assets > 0, "nothing requested");
        // What arrives counts: a token may keep a fee.
        uint256 before = IERC20(asset()).balanceOf(address(this));
        IERC20(asset()).safeTransferFrom(owner, address(this), assets);
        assets = IERC20(asset()).balanceOf(address(this)) - before;
        _apart += assets;
        _of[controller].pendingAssets += assets;
        emit DepositRequest(controller, owner, 0, msg.sender, assets);
        return 0;
    }

    function requestRedeem(uint256 shares, address controller, address owner) external only(owner) returns (uint256) {
        require(shares > 0, "nothing requested");
        _transfer(owner, address(this), shares);
        _of[controller].pendingShares += shares;
        emit RedeemRequest(controller, owner, 0, msg.sender, shares);
        return 0;
    }

    function fulfil(address controller) external {
        Requests storage mine = _of[controller];
        (uint256 assets, uint256 shares) = (mine.pendingAssets, mine.pendingShares);
        if (assets > 0) {
            uint256 minted = convertToShares(assets);
            _apart -= assets;
            _mint(address(this), minted);
            mine.pendingAssets = 0;
            mine.claimableAssets += assets;
            mine.claimableShares += minted;
        }
        if (shares > 0) {
            uint256 owed = convertToAssets(shares);
            _burn(address(this), shares);
            _apart += owed;
            mine.pendingShares = 0;
            mine.redeemableShares += shares;
            mine.redeemableAssets += owed;
        }
        mine.cancelledAssets += mine.cancellingAssets;
        mine.cancelledShares += mine.cancellingShares;
        (mine.cancellingAssets, mine.cancellingShares) = (0, 0);
    }

    function pendingDepositRequest(uint256, address controller) external view returns (uint256) {
        return _of[controller].pendingAssets;
    }

    function claimableDepositRequest(uint256, address controller) external view returns (uint256) {
        return _of[controller].claimableAssets;
    }

    function pendingRedeemRequest(uint256, address controller) external view returns (uint256) {
        return _of[controller].pendingShares;
    }

    function claimableRedeemRequest(uint256, address controller) external view returns (uint256) {
        return _of[controller].redeemableShares;
    }

    function maxDeposit(address controller) public view override returns (uint256) {
        return _of[controller].claimableAssets;
    }

    function maxRedeem(address controller) public view override returns (uint256) {
        return _of[controller].redeemableShares;
    }

    function maxWithdraw(address controller) public view override returns (uint256) {
        return _of[controller].redeemableAssets;
    }

    function previewDeposit(uint256) public pure override returns (uint256) {
        revert("asynchronous");
    }

    function previewRedeem(uint256) public pure override returns (uint256) {
        revert("asynchronous");
    }

    function deposit(uint256 assets, address receiver, address controller)
        public
        only(controller)
        returns (uint256 shares)
    {
        Requests storage mine = _of[controller];
        shares = (mine.claimableShares * assets) / mine.claimableAssets;
        mine.claimableAssets -= assets;
        mine.claimableShares -= shares;
        _transfer(address(this), receiver, shares);
        emit Deposit(msg.sender, receiver, assets, shares);
    }

    function redeem(uint256 shares, address receiver, address controller)
        public
        override
        only(controller)
        returns (uint256 assets)
    {
        Requests storage mine = _of[controller];
        assets = (mine.redeemableAssets * shares) / mine.redeemableShares;
        mine.redeemableShares -= shares;
        mine.redeemableAssets -= assets;
        _apart -= assets;
        IERC20(asset()).safeTransfer(receiver, assets);
        emit Withdraw(msg.sender, receiver, controller, assets, shares);
    }

    function cancelDepositRequest(uint256, address controller) external only(controller) {
        Requests storage mine = _of[controller];
        require(mine.pendingAssets > 0, "nothing pending");
        mine.cancellingAssets += mine.pendingAssets;
        mine.pendingAssets = 0;
    }

    function cancelRedeemRequest(uint256, address controller) external only(controller) {
        Requests storage mine = _of[controller];
        require(mine.pendingShares > 0, "nothing pending");
        mine.cancellingShares += mine.pendingShares;
        mine.pendingShares = 0;
    }

    function pendingCancelDepositRequest(uint256, address controller) external view returns (bool) {
        return _of[controller].cancellingAssets > 0;
    }

    function pendingCancelRedeemRequest(uint256, address controller) external view returns (bool) {
        return _of[controller].cancellingShares > 0;
    }

    function claimableCancelDepositRequest(uint256, address controller) external view returns (uint256) {
        return _of[controller].cancelledAssets;
    }

    function claimableCancelRedeemRequest(uint256, address controller) external view returns (uint256) {
        return _of[controller].cancelledShares;
    }

    function claimCancelDepositRequest(uint256, address receiver, address controller) external only(controller) {
        uint256 assets = _of[controller].cancelledAssets;
        _of[controller].cancelledAssets = 0;
        _apart -= assets;
        IERC20(asset()).safeTransfer(receiver, assets);
    }

    function claimCancelRedeemRequest(uint256, address receiver, address controller) external only(controller) {
        uint256 shares = _of[controller].cancelledShares;
        _of[controller].cancelledShares = 0;
        _transfer(address(this), receiver, shares);
    }
}

/// After v0.5.0 of Lagoon's vault: while the valuation is valid, deposits are taken at once and not requested.
contract LagoonLike is AsyncVault {
    using SafeERC20 for IERC20;

    error OnlySyncDepositAllowed();
    error OnlyAsyncDepositAllowed();

    bool public isTotalAssetsValid;

    constructor(IERC20 asset_) AsyncVault(asset_) {}

    function setTotalAssetsValid(bool valid) external {
        isTotalAssetsValid = valid;
    }

    function takesSync() public view virtual returns (bool) {
        return isTotalAssetsValid;
    }

    function requestDeposit(uint256 assets, address controller, address owner) public override returns (uint256) {
        if (takesSync()) revert OnlySyncDepositAllowed();
        return super.requestDeposit(assets, controller, owner);
    }

    function syncDeposit(uint256 assets, address receiver, address) external payable returns (uint256 shares) {
        if (!takesSync()) revert OnlyAsyncDepositAllowed();
        shares = convertToShares(assets);
        IERC20(asset()).safeTransferFrom(msg.sender, address(this), assets);
        _mint(receiver, shares);
    }
}

/// After v0.6.0, where deposits at once have to be allowed besides.
contract LagoonModesLike is LagoonLike {
    bool public allowed;

    constructor(IERC20 asset_) LagoonLike(asset_) {}

    function allow(bool allowed_) external {
        allowed = allowed_;
    }

    function takesSync() public view override returns (bool) {
        return allowed && isTotalAssetsValid;
    }

    function previewSyncDeposit(uint256 assets) external view returns (uint256) {
        return takesSync() ? convertToShares(assets) : 0;
    }
}
