// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

struct MarketParams {
    address loanToken;
    address collateralToken;
    address oracle;
    address irm;
    uint256 lltv;
}

interface IMorphoBlue {
    function supply(MarketParams memory, uint256 assets, uint256 shares, address onBehalf, bytes memory)
        external
        returns (uint256, uint256);
    function withdraw(MarketParams memory, uint256 assets, uint256 shares, address onBehalf, address receiver)
        external
        returns (uint256, uint256);
    function accrueInterest(MarketParams memory) external;
    function position(bytes32 id, address user) external view returns (uint256, uint128, uint128);
    function market(bytes32 id) external view returns (uint128, uint128, uint128, uint128, uint128, uint128);
}

/// A vault over markets of Morpho Blue, written for the tests after MetaMorpho's interface and behaviour: supply queue
/// with caps, withdraw queue bound by the markets' liquidity, maxRedeem reckoned from assets. Morpho Blue itself is real.
contract MetaMorphoLike is ERC4626 {
    using SafeERC20 for IERC20;

    event SetCap(address indexed caller, bytes32 indexed id, uint256 cap);

    error AllCapsReached();
    error NotEnoughLiquidity();

    IMorphoBlue public immutable MORPHO;
    MarketParams[] private _markets;
    uint256[] private _caps;
    bool public open = true;

    constructor(IERC20 asset_, IMorphoBlue morpho) ERC20("MetaMorpho-like", "mmTST") ERC4626(asset_) {
        MORPHO = morpho;
        asset_.forceApprove(address(morpho), type(uint256).max);
    }

    function addMarket(MarketParams memory params, uint256 cap) external {
        _markets.push(params);
        _caps.push(cap);
        emit SetCap(msg.sender, _id(_markets.length - 1), cap);
    }

    function setOpen(bool open_) external {
        open = open_;
    }

    function supplyQueueLength() external view returns (uint256) {
        return open ? _markets.length : 0;
    }

    function withdrawQueueLength() external view returns (uint256) {
        return _markets.length;
    }

    function _id(uint256 n) private view returns (bytes32) {
        return keccak256(abi.encode(_markets[n]));
    }

    /// As of the market's last accrual, rounded down as SharesMathLib does (virtual shares 1e6, virtual assets 1).
    function _supplied(uint256 n) private view returns (uint256) {
        (uint256 shares,,) = MORPHO.position(_id(n), address(this));
        (uint128 assets, uint128 all,,,,) = MORPHO.market(_id(n));
        return (shares * (uint256(assets) + 1)) / (uint256(all) + 1e6);
    }

    function _liquid(uint256 n) private view returns (uint256) {
        (uint128 assets,, uint128 borrowed,,,) = MORPHO.market(_id(n));
        return Math.min(_supplied(n), uint256(assets) - borrowed);
    }

    function totalAssets() public view override returns (uint256 total) {
        for (uint256 n; n < _markets.length; n++) total += _supplied(n);
    }

    function maxDeposit(address) public view override returns (uint256 room) {
        if (!open) return 0;
        for (uint256 n; n < _markets.length; n++) {
            uint256 supplied = _supplied(n);
            if (_caps[n] > supplied) room += _caps[n] - supplied;
        }
    }

    function maxWithdraw(address owner) public view override returns (uint256) {
        uint256 liquid;
        for (uint256 n; n < _markets.length; n++) liquid += _liquid(n);
        return Math.min(convertToAssets(balanceOf(owner)), liquid);
    }

    function maxRedeem(address owner) public view override returns (uint256) {
        return convertToShares(maxWithdraw(owner));
    }

    function redeem(uint256 shares, address receiver, address owner) public override returns (uint256 assets) {
        assets = previewRedeem(shares);
        _withdraw(msg.sender, receiver, owner, assets, shares);
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares)
        internal
        virtual
        override
    {
        super._deposit(caller, receiver, assets, shares);
        uint256 left = assets;
        for (uint256 n; n < _markets.length && left > 0 && open; n++) {
            uint256 supplied = _supplied(n);
            uint256 part = Math.min(left, _caps[n] > supplied ? _caps[n] - supplied : 0);
            if (part > 0) MORPHO.supply(_markets[n], part, 0, address(this), "");
            left -= part;
        }
        if (left > 0) revert AllCapsReached();
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        virtual
        override
    {
        uint256 left = assets;
        for (uint256 n; n < _markets.length && left > 0; n++) {
            uint256 part = Math.min(left, _liquid(n));
            if (part > 0) MORPHO.withdraw(_markets[n], part, 0, address(this), address(this));
            left -= part;
        }
        if (left > 0) revert NotEnoughLiquidity();
        super._withdraw(caller, receiver, owner, assets, shares);
    }
}
