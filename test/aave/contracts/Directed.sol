// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.10;

import {AToken} from '@aave/core-v3/contracts/protocol/tokenization/AToken.sol';
import {VariableDebtToken} from '@aave/core-v3/contracts/protocol/tokenization/VariableDebtToken.sol';
import {IncentivizedERC20} from '@aave/core-v3/contracts/protocol/tokenization/base/IncentivizedERC20.sol';
import {ScaledBalanceTokenBase} from '@aave/core-v3/contracts/protocol/tokenization/base/ScaledBalanceTokenBase.sol';
import {IERC20} from '@aave/core-v3/contracts/dependencies/openzeppelin/contracts/IERC20.sol';
import {IPool} from '@aave/core-v3/contracts/interfaces/IPool.sol';

/*
 * The published tokens of Aave v3.0 with the rounding and the logs of v3.5: after TokenMath.sol, ScaledBalanceTokenBase.sol,
 * AToken.sol and VariableDebtToken.sol of aave-dao/aave-v3-origin. The pool beneath is that of v3.0 and passes amounts, so
 * that the tokens make scaled ones of them, where the pool of v3.5 does; and where it asks for a unit more than a balance,
 * having rounded up, the balance goes.
 */
abstract contract Directed is ScaledBalanceTokenBase {
  uint256 internal constant RAY = 1e27;

  function worth(uint256 scaled, uint256 index) internal pure virtual returns (uint256);

  function floorDiv(uint256 amount, uint256 index) internal pure returns (uint256) {
    return (amount * RAY) / index;
  }

  function ceilDiv(uint256 amount, uint256 index) internal pure returns (uint256) {
    return (amount * RAY + index - 1) / index;
  }

  function addScaled(address caller, address account, uint256 scaled, uint256 index) internal returns (bool) {
    require(scaled != 0, 'InvalidMintAmount');
    uint256 held = _userState[account].balance;
    uint256 previous = worth(held, _userState[account].additionalData);
    uint256 increase = worth(held, index) - previous;
    _userState[account].additionalData = uint128(index);
    _mint(account, uint128(scaled));
    uint256 minted = worth(held + scaled, index) - previous;
    emit Transfer(address(0), account, minted);
    emit Mint(caller, account, minted, increase, index);
    return held == 0;
  }

  function takeScaled(address account, address target, uint256 scaled, uint256 index) internal {
    require(scaled != 0, 'InvalidBurnAmount');
    uint256 held = _userState[account].balance;
    if (scaled == held + 1) scaled = held;
    uint256 next = worth(held - scaled, index);
    uint256 previous = worth(held, _userState[account].additionalData);
    uint256 increase = worth(held, index) - previous;
    _userState[account].additionalData = uint128(index);
    _burn(account, uint128(scaled));
    if (next > previous) {
      emit Transfer(address(0), account, next - previous);
      emit Mint(account, account, next - previous, increase, index);
    } else {
      emit Transfer(account, address(0), previous - next);
      emit Burn(account, target, previous - next, increase, index);
    }
  }
}

contract DirectedAToken is AToken, Directed {
  constructor(IPool pool) AToken(pool) {}

  function getRevision() internal pure override returns (uint256) {
    return 2;
  }

  function worth(uint256 scaled, uint256 index) internal pure override returns (uint256) {
    return (scaled * index) / RAY;
  }

  function mint(address caller, address account, uint256 amount, uint256 index) external override onlyPool returns (bool) {
    return addScaled(caller, account, floorDiv(amount, index), index);
  }

  function burn(address account, address receiver, uint256 amount, uint256 index) external override onlyPool {
    takeScaled(account, receiver, ceilDiv(amount, index), index);
    if (receiver != address(this)) IERC20(_underlyingAsset).transfer(receiver, amount);
  }

  function mintToTreasury(uint256 amount, uint256 index) external override onlyPool {
    uint256 scaled = floorDiv(amount, index);
    if (scaled != 0) addScaled(address(POOL), _treasury, scaled, index);
  }

  function balanceOf(address account) public view override(AToken, IncentivizedERC20) returns (uint256) {
    return worth(_userState[account].balance, POOL.getReserveNormalizedIncome(_underlyingAsset));
  }

  function totalSupply() public view override(AToken, IncentivizedERC20) returns (uint256) {
    return worth(_totalSupply, POOL.getReserveNormalizedIncome(_underlyingAsset));
  }

  function _transfer(address from, address to, uint128 amount) internal override(AToken, IncentivizedERC20) {
    _transfer(from, to, amount, true);
  }

  function _transfer(address from, address to, uint256 amount, bool validate) internal override {
    uint256 index = POOL.getReserveNormalizedIncome(_underlyingAsset);
    uint256[2] memory before = [balanceOf(from), balanceOf(to)];
    uint256 scaled = ceilDiv(amount, index);
    if (scaled == _userState[from].balance + 1) scaled -= 1;
    accrue(from, index);
    if (from != to) accrue(to, index);
    IncentivizedERC20._transfer(from, to, uint128(scaled));
    if (validate) POOL.finalizeTransfer(_underlyingAsset, from, to, amount, before[0], before[1]);
    emit Transfer(from, to, amount);
    emit BalanceTransfer(from, to, scaled, index);
  }

  function accrue(address account, uint256 index) private {
    uint256 held = _userState[account].balance;
    uint256 increase = worth(held, index) - worth(held, _userState[account].additionalData);
    _userState[account].additionalData = uint128(index);
    if (increase == 0) return;
    emit Transfer(address(0), account, increase);
    emit Mint(_msgSender(), account, increase, increase, index);
  }
}

contract DirectedDebtToken is VariableDebtToken, Directed {
  constructor(IPool pool) VariableDebtToken(pool) {}

  function getRevision() internal pure override returns (uint256) {
    return 2;
  }

  function worth(uint256 scaled, uint256 index) internal pure override returns (uint256) {
    return (scaled * index + RAY - 1) / RAY;
  }

  function mint(
    address user,
    address account,
    uint256 amount,
    uint256 index
  ) external override onlyPool returns (bool, uint256) {
    if (user != account) _decreaseBorrowAllowance(account, user, amount);
    return (addScaled(user, account, ceilDiv(amount, index), index), scaledTotalSupply());
  }

  function burn(address account, uint256 amount, uint256 index) external override onlyPool returns (uint256) {
    takeScaled(account, address(0), floorDiv(amount, index), index);
    return scaledTotalSupply();
  }

  function balanceOf(address account) public view override(VariableDebtToken, IncentivizedERC20) returns (uint256) {
    return worth(_userState[account].balance, POOL.getReserveNormalizedVariableDebt(_underlyingAsset));
  }

  function totalSupply() public view override(VariableDebtToken, IncentivizedERC20) returns (uint256) {
    return worth(_totalSupply, POOL.getReserveNormalizedVariableDebt(_underlyingAsset));
  }

  function transfer(address, uint256) external pure override(VariableDebtToken, IncentivizedERC20) returns (bool) {
    revert();
  }

  function transferFrom(
    address,
    address,
    uint256
  ) external pure override(VariableDebtToken, IncentivizedERC20) returns (bool) {
    revert();
  }

  function approve(address, uint256) external pure override(VariableDebtToken, IncentivizedERC20) returns (bool) {
    revert();
  }

  function allowance(address, address) external pure override(VariableDebtToken, IncentivizedERC20) returns (uint256) {
    revert();
  }

  function increaseAllowance(
    address,
    uint256
  ) external pure override(VariableDebtToken, IncentivizedERC20) returns (bool) {
    revert();
  }

  function decreaseAllowance(
    address,
    uint256
  ) external pure override(VariableDebtToken, IncentivizedERC20) returns (bool) {
    revert();
  }
}

/// The pool's code as it is, under the version number of v3.5.
contract RevisedPool {
  uint256 public constant POOL_REVISION = 9;
  address private immutable code;

  constructor(address published) {
    code = published;
  }

  function initialize(address) external {}

  /// v3.5 keeps a balance of its own; it is this one as long as nobody gives the aToken anything.
  function getVirtualUnderlyingBalance(address asset) external view returns (uint128) {
    return uint128(IERC20(asset).balanceOf(IPool(address(this)).getReserveData(asset).aTokenAddress));
  }

  fallback() external payable {
    address to = code;
    assembly {
      calldatacopy(0, 0, calldatasize())
      let done := delegatecall(gas(), to, 0, calldatasize(), 0, 0)
      returndatacopy(0, 0, returndatasize())
      switch done
      case 0 {
        revert(0, returndatasize())
      }
      default {
        return(0, returndatasize())
      }
    }
  }
}
