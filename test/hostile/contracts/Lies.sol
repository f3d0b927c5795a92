// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {Impostor} from "Impostor.sol";

/// The largest vault there is, growing by the second, in the name of another.
contract RichByItsWord is Impostor {
    string private _nameOf;
    string private _symbolOf;

    constructor(address asset_, string memory name_, string memory symbol_) Impostor(asset_) {
        _nameOf = name_;
        _symbolOf = symbol_;
    }

    function name() public view override returns (string memory) {
        return _nameOf;
    }

    function symbol() public view override returns (string memory) {
        return _symbolOf;
    }

    function convertToAssets(uint256 shares) public view override returns (uint256) {
        return shares + (shares * (block.timestamp - 1_700_000_000)) / 10_000_000;
    }

    /// Holders who never came.
    function invent(uint160 from, uint256 n) external {
        for (uint160 i = from; i < from + n; i++) emit Transfer(address(0), address(i), 10 ** 18 + i);
    }

    function airdrop(address[] calldata to) external {
        for (uint256 i; i < to.length; i++) emit Transfer(address(0), to[i], 10 ** 24);
        emit Deposit(address(this), to[0], 10 ** 24, 10 ** 24);
    }
}

/// Its supply and what its logs moved have nothing to do with each other.
contract LiesAboutSupply is Impostor {
    constructor(address asset_) Impostor(asset_) {}

    function totalSupply() public view override returns (uint256) {
        return 1;
    }

    function act() external override {
        emit Deposit(msg.sender, msg.sender, type(uint256).max, type(uint256).max);
        emit Transfer(address(0), msg.sender, type(uint256).max);
        emit Withdraw(msg.sender, msg.sender, msg.sender, 2 ** 255, 2 ** 255);
        emit Deposit(msg.sender, address(0), 5, 5);
        emit Withdraw(address(0), address(0), address(0), 7, 7);
        emit Transfer(msg.sender, msg.sender, 3);
    }
}

/// Names another asset at every block.
contract FickleAsset is Impostor {
    address private immutable OTHER;

    constructor(address asset_, address other) Impostor(asset_) {
        OTHER = other;
    }

    function asset() public view override returns (address) {
        return block.number % 2 == 0 ? _asset : OTHER;
    }
}

/// Names the asset that it was told to, itself for instance.
contract AssetOfChoice is Impostor {
    constructor() Impostor(address(0)) {}

    function choose(address asset_) external {
        _asset = asset_;
    }
}

/// As good as gold where nothing is at stake: in eth_call and dry runs nobody pays for gas, or the caller has code.
contract GoodInSimulation is Impostor {
    constructor(address asset_) Impostor(asset_) {}

    function _isWatched() private view returns (bool) {
        return block.basefee == 0 || tx.gasprice == 0 || tx.origin == address(0) || msg.sender.code.length > 0;
    }

    function totalAssets() public view override returns (uint256) {
        return _isWatched() ? 10 ** 30 : 0;
    }

    function convertToAssets(uint256 shares) public view override returns (uint256) {
        return _isWatched() ? shares * (1 + block.number / 10) : 0;
    }
}

/// A proxy that becomes something else.
contract Changeling {
    event Upgraded(address indexed implementation);

    /// keccak256("eip1967.proxy.implementation") - 1
    bytes32 private constant SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    constructor(address implementation) {
        change(implementation);
    }

    function change(address implementation) public {
        assembly {
            sstore(SLOT, implementation)
        }
        emit Upgraded(implementation);
    }

    fallback() external {
        assembly {
            let to := sload(SLOT)
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), to, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}

/// A vault that can vanish; another one comes to its address.
contract Mortal is Impostor {
    uint256 private immutable LIFE;

    constructor(address asset_) Impostor(asset_) {
        LIFE = Rebirth(msg.sender).life();
    }

    function decimals() public view override returns (uint256) {
        return LIFE % 2 == 0 ? 18 : 6;
    }

    function die() external {
        selfdestruct(payable(msg.sender));
    }
}

contract Rebirth {
    uint256 public life;

    function bear(address asset_) external returns (address) {
        life++;
        return address(new Mortal{salt: 0}(asset_));
    }
}
