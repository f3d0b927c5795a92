// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {AsyncVault} from "AsyncVault.sol";
import {IMorphoBlue, MetaMorphoLike} from "MetaMorphoLike.sol";

/// Requests first, deposits and redemptions after they were fulfilled: ERC-7540.
contract GuestAsync is AsyncVault {
    constructor(IERC20 asset_) AsyncVault(asset_) {}

    function name() public pure override(ERC20, IERC20Metadata) returns (string memory) {
        return "Demo Asynchronous Vault";
    }

    function symbol() public pure override(ERC20, IERC20Metadata) returns (string memory) {
        return "davUSDC";
    }
}

/// With the performance fee of MetaMorpho.sol (metamorpho v1.0): interest since the last interaction is shared by
/// minting shares to the fee's recipient, and every conversion counts those that are due.
contract GuestMetaMorpho is MetaMorphoLike {
    event SetFee(address indexed caller, uint256 newFee);
    event SetFeeRecipient(address indexed newFeeRecipient);
    event SetCurator(address indexed newCurator);
    event AccrueInterest(uint256 newTotalAssets, uint256 feeShares);
    event UpdateLastTotalAssets(uint256 updatedTotalAssets);

    uint256 public fee;
    address public feeRecipient;
    address public curator;
    address public owner;
    uint256 public lastTotalAssets;
    string private _nameOf;
    string private _symbolOf;

    constructor(address owner_, IMorphoBlue morpho, IERC20 asset_, string memory name_, string memory symbol_)
        MetaMorphoLike(asset_, morpho)
    {
        owner = owner_;
        _nameOf = name_;
        _symbolOf = symbol_;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    function name() public view override(ERC20, IERC20Metadata) returns (string memory) {
        return _nameOf;
    }

    function symbol() public view override(ERC20, IERC20Metadata) returns (string memory) {
        return _symbolOf;
    }

    function setFeeRecipient(address recipient) external onlyOwner {
        feeRecipient = recipient;
        emit SetFeeRecipient(recipient);
    }

    function setFee(uint256 newFee) external onlyOwner {
        _accrueFee();
        fee = newFee;
        emit SetFee(msg.sender, newFee);
    }

    function setCurator(address curator_) external onlyOwner {
        curator = curator_;
        emit SetCurator(curator_);
    }

    function _due() private view returns (uint256 feeShares, uint256 newTotalAssets) {
        newTotalAssets = totalAssets();
        uint256 interest = newTotalAssets > lastTotalAssets ? newTotalAssets - lastTotalAssets : 0;
        if (interest == 0 || fee == 0) return (0, newTotalAssets);
        uint256 feeAssets = Math.mulDiv(interest, fee, 1e18);
        feeShares = Math.mulDiv(feeAssets, totalSupply() + 1, newTotalAssets - feeAssets + 1);
    }

    function _accrueFee() private {
        (uint256 feeShares, uint256 newTotalAssets) = _due();
        _remember(newTotalAssets);
        if (feeShares != 0) _mint(feeRecipient, feeShares);
        emit AccrueInterest(newTotalAssets, feeShares);
    }

    function _remember(uint256 total) private {
        lastTotalAssets = total;
        emit UpdateLastTotalAssets(total);
    }

    function _convertToShares(uint256 assets, Math.Rounding rounding) internal view override returns (uint256) {
        (uint256 feeShares, uint256 total) = _due();
        return Math.mulDiv(assets, totalSupply() + feeShares + 1, total + 1, rounding);
    }

    function _convertToAssets(uint256 shares, Math.Rounding rounding) internal view override returns (uint256) {
        (uint256 feeShares, uint256 total) = _due();
        return Math.mulDiv(shares, total + 1, totalSupply() + feeShares + 1, rounding);
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        _accrueFee();
        super._deposit(caller, receiver, assets, shares);
        _remember(totalAssets());
    }

    function _withdraw(address caller, address receiver, address owner_, uint256 assets, uint256 shares)
        internal
        override
    {
        _accrueFee();
        super._withdraw(caller, receiver, owner_, assets, shares);
        _remember(totalAssets());
    }
}

/// Makes and announces vaults as MetaMorphoFactory.sol does.
contract GuestFactory {
    event CreateMetaMorpho(
        address indexed metaMorpho,
        address indexed caller,
        address initialOwner,
        uint256 initialTimelock,
        address indexed asset,
        string name,
        string symbol,
        bytes32 salt
    );

    IMorphoBlue public immutable MORPHO;
    mapping(address => bool) public isMetaMorpho;

    constructor(IMorphoBlue morpho) {
        MORPHO = morpho;
    }

    function createMetaMorpho(
        address initialOwner,
        uint256 initialTimelock,
        address asset,
        string memory name,
        string memory symbol,
        bytes32 salt
    ) external returns (address made) {
        made = address(new GuestMetaMorpho{salt: salt}(initialOwner, MORPHO, IERC20(asset), name, symbol));
        isMetaMorpho[made] = true;
        emit CreateMetaMorpho(made, msg.sender, initialOwner, initialTimelock, asset, name, symbol, salt);
    }
}
