// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {Impostor} from "Impostor.sol";

/// Ways to end a call dearly.
abstract contract Dear {
    function _spend(uint256 how) internal view {
        if (how == 0) {
            assembly {
                invalid()
            }
        }
        // More memory than any gas pays for.
        if (how == 1) {
            assembly {
                mstore(0xffffffffffff, 1)
            }
        }
        if (how == 2) while (gasleft() > 0) {}
        if (how == 3) {
            assembly {
                revert(0, 1000000)
            }
        }
        // A loop that costs the node time rather than gas.
        if (how == 4) {
            bytes32 hash;
            while (gasleft() > 10_000) hash = keccak256(abi.encode(hash));
        }
        if (how == 5) _deeper(0);
        // Calls itself as deep as the gas goes.
        if (how == 6) {
            (bool ok,) = address(this).staticcall(msg.data);
            ok;
        }
    }

    function _deeper(uint256 n) private view returns (uint256) {
        return _deeper(n + gasleft()) + 1;
    }
}

/// Spends all there is where it is asked for its words (what: 0), the state that is sampled (1), or anything (2).
contract SpendsGas is Impostor, Dear {
    uint256 private immutable HOW;
    uint256 private immutable WHAT;

    constructor(address asset_, uint256 how, uint256 what) Impostor(asset_) {
        HOW = how;
        WHAT = what;
    }

    function name() public view override returns (string memory) {
        if (WHAT != 1) _spend(HOW);
        return super.name();
    }

    function supportsInterface(bytes4 id) public view override returns (bool) {
        if (WHAT != 1) _spend(HOW);
        return super.supportsInterface(id);
    }

    function totalSupply() public view override returns (uint256) {
        if (WHAT != 0) _spend(HOW);
        return super.totalSupply();
    }

    function maxDeposit(address account) public view override returns (uint256) {
        if (WHAT != 0) _spend(HOW);
        return super.maxDeposit(account);
    }

    function balanceOf(address account) public view override returns (uint256) {
        if (WHAT != 0) _spend(HOW);
        return super.balanceOf(account);
    }

    function decimals() public view override returns (uint256) {
        if (WHAT == 2) _spend(HOW);
        return super.decimals();
    }

    function asset() public view override returns (address) {
        if (WHAT == 2) _spend(HOW);
        return super.asset();
    }
}

/// Well-behaved until so many blocks have passed since it came.
contract TurnsBad is Impostor, Dear {
    uint256 private immutable BORN = block.number;
    uint256 private immutable HOW;

    constructor(address asset_, uint256 how) Impostor(asset_) {
        HOW = how;
    }

    function _turn() private view {
        if (block.number > BORN + 20) _spend(HOW);
    }

    function totalAssets() public view override returns (uint256) {
        _turn();
        return super.totalAssets();
    }

    function convertToAssets(uint256 shares) public view override returns (uint256) {
        _turn();
        return super.convertToAssets(shares);
    }
}

/// A token whose balances cost all the gas there is.
contract DearToken is Dear {
    string public name = "Dear Token";
    string public symbol = "DEAR";
    uint8 public constant decimals = 18;
    uint256 private immutable HOW;

    constructor(uint256 how) {
        HOW = how;
    }

    function totalSupply() external view returns (uint256) {
        _spend(HOW);
        return 1;
    }

    function balanceOf(address) external view returns (uint256) {
        _spend(HOW);
        return 1;
    }

    function allowance(address, address) external view returns (uint256) {
        _spend(HOW);
        return 1;
    }
}
