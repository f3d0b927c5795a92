// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {Impostor} from "Impostor.sol";

/// Answers its words with so many bytes.
contract LongAnswers is Impostor {
    uint256 private immutable SIZE;

    constructor(address asset_, uint256 size) Impostor(asset_) {
        SIZE = size;
    }

    function _long() private view {
        uint256 size = SIZE;
        assembly {
            mstore(0, 0x20)
            mstore(0x20, sub(size, 0x40))
            return(0, size)
        }
    }

    function name() public view override returns (string memory) {
        _long();
    }

    function symbol() public view override returns (string memory) {
        _long();
    }

    function supportsInterface(bytes4) public view override returns (bool) {
        _long();
    }

    function totalSupply() public view override returns (uint256) {
        _long();
    }

    function balanceOf(address) public view override returns (uint256) {
        _long();
    }
}

/// Answers every call with so many bytes, whatever is asked.
contract LongAnswersToAll {
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);

    uint256 private immutable SIZE;

    constructor(address, uint256 size) {
        SIZE = size;
    }

    function act() external {
        emit Deposit(msg.sender, msg.sender, 1, 1);
    }

    fallback() external {
        uint256 size = SIZE;
        assembly {
            mstore(0, 1)
            return(0, size)
        }
    }
}

/// Answers that are too short, or of words with bytes where none belong.
contract OddWords is Impostor {
    uint256 private immutable HOW;

    constructor(address asset_, uint256 how) Impostor(asset_) {
        HOW = how;
    }

    function asset() public view override returns (address) {
        if (HOW == 0) _short(uint256(uint160(_asset)));
        if (HOW == 1) _word(uint256(uint160(_asset)) | (1 << 200));
        return _asset;
    }

    function decimals() public view override returns (uint256) {
        if (HOW == 2) _word((1 << 255) | 18);
        if (HOW == 3) return 255;
        if (HOW == 4) return block.number % 2 == 0 ? 6 : 18;
        if (HOW == 5) return 77;
        return 18;
    }

    function totalAssets() public view override returns (uint256) {
        if (HOW == 6) _short(5);
        if (HOW == 7) return type(uint256).max;
        return 10 ** 24;
    }

    function totalSupply() public view override returns (uint256) {
        if (HOW == 7) return type(uint256).max;
        if (HOW == 8) _short(5);
        return 10 ** 24;
    }

    function convertToAssets(uint256 shares) public view override returns (uint256) {
        if (HOW == 7) return type(uint256).max;
        if (HOW == 9) return uint256(keccak256(abi.encode(block.number)));
        if (HOW == 10) return 0;
        return shares;
    }

    function _word(uint256 word) private pure {
        assembly {
            mstore(0, word)
            return(0, 0x20)
        }
    }

    function _short(uint256 word) private pure {
        assembly {
            mstore(0, word)
            return(1, 0x1f)
        }
    }
}

/// Says the bytes that it was given for its name and symbol, encoded or not.
contract Named is Impostor {
    bytes private _name;
    bool private immutable RAW;

    constructor(address asset_, bytes memory name_, bool raw) Impostor(asset_) {
        _name = name_;
        RAW = raw;
    }

    function name() public view override returns (string memory) {
        return _say();
    }

    function symbol() public view override returns (string memory) {
        return _say();
    }

    function _say() private view returns (string memory) {
        bytes memory said = _name;
        if (RAW) {
            assembly {
                return(add(said, 0x20), mload(said))
            }
        }
        return string(said);
    }
}

/// Yes to everything.
contract YesToAll {
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event DepositRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets
    );
    event RedeemRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares
    );

    address private immutable ASSET;

    constructor(address asset_) {
        ASSET = asset_;
    }

    function asset() external view returns (address) {
        return ASSET;
    }

    function act() external {
        emit DepositRequest(msg.sender, address(0), type(uint256).max, address(this), type(uint256).max);
        emit RedeemRequest(address(this), msg.sender, type(uint256).max, address(0), type(uint256).max);
        emit Deposit(msg.sender, msg.sender, 1, 1);
    }

    fallback() external {
        assembly {
            mstore(0, 1)
            return(0, 0x20)
        }
    }
}
