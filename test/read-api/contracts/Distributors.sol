// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";

/// Written for the tests after the interface and behaviour of Merkl's Distributor: one hash a leaf, cumulative amounts,
/// the former root until the dispute period ends, the caller must be the user.
contract MerklLike {
    using SafeERC20 for IERC20;

    error NotWhitelisted();
    error InvalidProof();

    struct Claim {
        uint208 amount;
        uint48 timestamp;
        bytes32 merkleRoot;
    }

    event Claimed(address indexed user, address indexed token, uint256 amount);

    bytes32 private _root;
    bytes32 private _former;
    uint48 public endOfDisputePeriod;
    mapping(address => mapping(address => Claim)) public claimed;

    function update(bytes32 root, uint48 end) external {
        (_former, _root, endOfDisputePeriod) = (getMerkleRoot(), root, end);
    }

    function getMerkleRoot() public view returns (bytes32) {
        return block.timestamp >= endOfDisputePeriod ? _root : _former;
    }

    function claim(
        address[] calldata users,
        address[] calldata tokens,
        uint256[] calldata amounts,
        bytes32[][] calldata proofs
    ) external {
        for (uint256 n; n < users.length; n++) {
            if (msg.sender != users[n] && tx.origin != users[n]) revert NotWhitelisted();
            bytes32 leaf = keccak256(abi.encode(users[n], tokens[n], amounts[n]));
            if (MerkleProof.processProof(proofs[n], leaf) != getMerkleRoot()) revert InvalidProof();
            uint256 paid = amounts[n] - claimed[users[n]][tokens[n]].amount;
            claimed[users[n]][tokens[n]] = Claim(uint208(amounts[n]), uint48(block.timestamp), getMerkleRoot());
            IERC20(tokens[n]).safeTransfer(users[n], paid);
            emit Claimed(users[n], tokens[n], paid);
        }
    }
}

/// Written for the tests after the interface and behaviour of Morpho's UniversalRewardsDistributor: two hashes a leaf.
contract UrdLike {
    using SafeERC20 for IERC20;

    event Claimed(address indexed account, address indexed reward, uint256 amount);

    bytes32 public root;
    mapping(address => mapping(address => uint256)) public claimed;

    function setRoot(bytes32 root_) external {
        root = root_;
    }

    function claim(address account, address reward, uint256 claimable, bytes32[] calldata proof)
        external
        returns (uint256 amount)
    {
        require(root != bytes32(0), "root not set");
        bytes32 leaf = keccak256(bytes.concat(keccak256(abi.encode(account, reward, claimable))));
        require(MerkleProof.verifyCalldata(proof, root, leaf), "invalid proof or expired");
        require(claimable > claimed[account][reward], "claimable too low");
        amount = claimable - claimed[account][reward];
        claimed[account][reward] = claimable;
        IERC20(reward).safeTransfer(account, amount);
        emit Claimed(account, reward, amount);
    }
}

/// Written for the tests after the interface and behaviour of Morpho's UrdFactory: it knows those that it made.
contract UrdFactoryLike {
    mapping(address => bool) public isUrd;
    address public newest;

    function createUrd() external {
        newest = address(new UrdLike());
        isUrd[newest] = true;
    }
}
