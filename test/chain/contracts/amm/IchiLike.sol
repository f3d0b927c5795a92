// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {FullMath} from "@uniswap/v4-core/src/libraries/FullMath.sol";
import {SqrtPriceMath} from "@uniswap/v4-core/src/libraries/SqrtPriceMath.sol";
import {TickMath} from "@uniswap/v4-core/src/libraries/TickMath.sol";
import {LiquidityAmounts} from "@uniswap/v4-periphery/src/libraries/LiquidityAmounts.sol";

/// What of Uniswap v3's pool and factory is used here. See IUniswapV3Pool.sol and IUniswapV3Factory.sol.
interface IPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function fee() external view returns (uint24);
    function tickSpacing() external view returns (int24);
    function slot0() external view returns (uint160, int24, uint16, uint16, uint16, uint8, bool);
    function observations(uint256) external view returns (uint32, int56, uint160, bool);
    function observe(uint32[] calldata) external view returns (int56[] memory, uint160[] memory);
    function positions(bytes32) external view returns (uint128, uint256, uint256, uint128, uint128);
    function mint(address, int24, int24, uint128, bytes calldata) external returns (uint256, uint256);
    function burn(int24, int24, uint128) external returns (uint256, uint256);
    function collect(address, int24, int24, uint128, uint128) external returns (uint128, uint128);
    function swap(address, bool, int256, uint160, bytes calldata) external returns (int256, int256);
}

interface IPoolFactory {
    function getPool(address, address, uint24) external view returns (address);
}

/**
 * ICHI's vaults on pools of Uniswap v3, after ICHIVault.sol and UV3Math.sol as verified on chain: names, events, arithmetic,
 * checks and their words. Of two generations: `isOlder` has no least number of shares, no CollectFees, refuses a deposit that equals its limit, and one
 * percent of hysteresis instead of half. Left out: ownership that moves, affiliates, gauges, native coins.
 */
contract IchiVaultLike is ERC20 {
    using SafeERC20 for IERC20;

    uint256 private constant PRECISION = 1e18;
    uint256 private constant MIN_SHARES = 1000;

    address public immutable ichiVaultFactory;
    address public immutable owner;
    address public immutable pool;
    address public immutable token0;
    address public immutable token1;
    bool public immutable allowToken0;
    bool public immutable allowToken1;
    uint24 public immutable fee;
    int24 public immutable tickSpacing;
    bool public immutable isOlder;

    int24 public baseLower;
    int24 public baseUpper;
    int24 public limitLower;
    int24 public limitUpper;
    uint256 public deposit0Max = type(uint256).max;
    uint256 public deposit1Max = type(uint256).max;
    uint256 public hysteresis;
    uint32 public twapPeriod;

    event Deposit(address indexed sender, address indexed to, uint256 shares, uint256 amount0, uint256 amount1);
    event Withdraw(address indexed sender, address indexed to, uint256 shares, uint256 amount0, uint256 amount1);
    event Rebalance(int24 tick, uint256 totalAmount0, uint256 totalAmount1, uint256 feeAmount0, uint256 feeAmount1, uint256 totalSupply);
    event CollectFees(address indexed sender, uint256 feeAmount0, uint256 feeAmount1);
    event DepositMax(address indexed sender, uint256 deposit0Max, uint256 deposit1Max);

    constructor(address pool_, bool allow0, bool allow1, address owner_, uint32 period, bool older)
        ERC20("ICHI Vault Liquidity", "ICHI_Vault_LP")
    {
        require(older ? allow0 || allow1 : allow0 != allow1, "IV2");
        ichiVaultFactory = msg.sender;
        owner = owner_;
        pool = pool_;
        token0 = IPool(pool_).token0();
        token1 = IPool(pool_).token1();
        fee = IPool(pool_).fee();
        tickSpacing = IPool(pool_).tickSpacing();
        allowToken0 = allow0;
        allowToken1 = allow1;
        twapPeriod = period;
        isOlder = older;
        hysteresis = older ? PRECISION / 100 : PRECISION / 200;
    }

    function setDepositMax(uint256 most0, uint256 most1) external {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        (deposit0Max, deposit1Max) = (most0, most1);
        emit DepositMax(msg.sender, most0, most1);
    }

    function setTwapPeriod(uint32 period) external {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        twapPeriod = period;
    }

    function deposit(uint256 deposit0, uint256 deposit1, address to) external returns (uint256 shares) {
        require(allowToken0 || deposit0 == 0, "IV.deposit: token0 not allowed");
        require(allowToken1 || deposit1 == 0, "IV.deposit: token1 not allowed");
        require(deposit0 > 0 || deposit1 > 0, "IV.deposit: deposits must be > 0");
        bool fits = isOlder
            ? deposit0 < deposit0Max && deposit1 < deposit1Max
            : deposit0 <= deposit0Max && deposit1 <= deposit1Max;
        require(fits, "IV.deposit: deposits too large");
        require(to != address(0) && to != address(this), "IV.deposit: to");
        (uint256 spot, uint256 twap) = (quoteAt(currentTick()), quoteAt(meanTick()));
        uint256 delta = spot > twap ? (spot - twap) * PRECISION / spot : (twap - spot) * PRECISION / twap;
        if (delta > hysteresis) require(isUntouched(), "IV.deposit: try later");
        poke();
        if (!isOlder) collectAll(true);
        (uint256 pool0, uint256 pool1) = getTotalAmounts();
        if (deposit0 > 0) IERC20(token0).safeTransferFrom(msg.sender, address(this), deposit0);
        if (deposit1 > 0) IERC20(token1).safeTransferFrom(msg.sender, address(this), deposit1);
        shares = deposit1 + deposit0 * (spot < twap ? spot : twap) / PRECISION;
        if (totalSupply() != 0) {
            shares = shares * totalSupply() / (pool0 * (spot > twap ? spot : twap) / PRECISION + pool1);
        } else if (!isOlder) {
            shares *= MIN_SHARES;
        }
        _mint(to, shares);
        emit Deposit(msg.sender, to, shares, deposit0, deposit1);
    }

    function withdraw(uint256 shares, address to) external returns (uint256 amount0, uint256 amount1) {
        require(shares > 0, "IV.withdraw: shares");
        require(to != address(0), "IV.withdraw: to");
        uint256 supply = totalSupply();
        require(isOlder || shares == supply || supply >= shares + MIN_SHARES, "IV.withdraw: min shares");
        if (!isOlder) {
            poke();
            collectAll(true);
        }
        (uint256 base0, uint256 base1) = take(baseLower, baseUpper, shares, supply, to);
        (uint256 limit0, uint256 limit1) = take(limitLower, limitUpper, shares, supply, to);
        uint256 idle0 = IERC20(token0).balanceOf(address(this)) * shares / supply;
        uint256 idle1 = IERC20(token1).balanceOf(address(this)) * shares / supply;
        if (idle0 > 0) IERC20(token0).safeTransfer(to, idle0);
        if (idle1 > 0) IERC20(token1).safeTransfer(to, idle1);
        (amount0, amount1) = (base0 + limit0 + idle0, base1 + limit1 + idle1);
        _burn(msg.sender, shares);
        emit Withdraw(msg.sender, to, shares, amount0, amount1);
    }

    function rebalance(int24 lower, int24 upper, int24 low, int24 high, int256 swapQuantity) external {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        poke();
        (uint256 fees0, uint256 fees1) = collectAll(false);
        remove(baseLower, baseUpper);
        remove(limitLower, limitUpper);
        if (swapQuantity != 0) {
            bool isSale = swapQuantity > 0;
            uint160 bound = isSale ? TickMath.MIN_SQRT_PRICE + 1 : TickMath.MAX_SQRT_PRICE - 1;
            IPool(pool).swap(address(this), isSale, isSale ? swapQuantity : -swapQuantity, bound, "");
        }
        uint256 balance0 = IERC20(token0).balanceOf(address(this));
        uint256 balance1 = IERC20(token1).balanceOf(address(this));
        emit Rebalance(currentTick(), balance0, balance1, fees0, fees1, totalSupply());
        (baseLower, baseUpper, limitLower, limitUpper) = (lower, upper, low, high);
        put(lower, upper);
        put(low, high);
    }

    /// Of the newer generation.
    function collectFees() external returns (uint256, uint256) {
        require(!isOlder, "no such function");
        poke();
        return collectAll(true);
    }

    function getTotalAmounts() public view returns (uint256 total0, uint256 total1) {
        (, uint256 base0, uint256 base1) = getBasePosition();
        (, uint256 limit0, uint256 limit1) = getLimitPosition();
        total0 = IERC20(token0).balanceOf(address(this)) + base0 + limit0;
        total1 = IERC20(token1).balanceOf(address(this)) + base1 + limit1;
    }

    function getBasePosition() public view returns (uint128, uint256, uint256) {
        return amountsIn(baseLower, baseUpper);
    }

    function getLimitPosition() public view returns (uint128, uint256, uint256) {
        return amountsIn(limitLower, limitUpper);
    }

    function currentTick() public view returns (int24 tick) {
        bool unlocked;
        (, tick,,,,, unlocked) = IPool(pool).slot0();
        require(unlocked, "IV.currentTick: the pool is locked");
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata) external {
        require(msg.sender == pool, "cb1");
        if (amount0 > 0) IERC20(token0).safeTransfer(pool, amount0);
        if (amount1 > 0) IERC20(token1).safeTransfer(pool, amount1);
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        require(msg.sender == pool, "cb2");
        if (amount0 > 0) IERC20(token0).safeTransfer(pool, uint256(amount0));
        else if (amount1 > 0) IERC20(token1).safeTransfer(pool, uint256(amount1));
    }

    /// Whether the pool was not traded in this block. See UV3Math.sol, checkHysteresis.
    function isUntouched() private view returns (bool) {
        (,, uint16 index,,,,) = IPool(pool).slot0();
        (uint32 at,,,) = IPool(pool).observations(index);
        return block.timestamp != at;
    }

    /// See OracleLibrary.sol, consult.
    function meanTick() private view returns (int24 tick) {
        uint32[] memory ago = new uint32[](2);
        ago[0] = twapPeriod;
        (int56[] memory sums,) = IPool(pool).observe(ago);
        int56 sum = sums[1] - sums[0];
        int56 period = int56(uint56(twapPeriod));
        tick = int24(sum / period);
        if (sum < 0 && sum % period != 0) tick--;
    }

    /// Of 1e18 of token0 in token1. See OracleLibrary.sol, getQuoteAtTick.
    function quoteAt(int24 tick) private pure returns (uint256) {
        uint160 root = TickMath.getSqrtPriceAtTick(tick);
        if (root <= type(uint128).max) return FullMath.mulDiv(uint256(root) * root, PRECISION, 1 << 192);
        return FullMath.mulDiv(FullMath.mulDiv(root, root, 1 << 64), PRECISION, 1 << 128);
    }

    function positionOf(int24 lower, int24 upper) private view returns (uint128 liquidity, uint128 owed0, uint128 owed1) {
        (liquidity,,, owed0, owed1) = IPool(pool).positions(keccak256(abi.encodePacked(address(this), lower, upper)));
    }

    function amountsIn(int24 lower, int24 upper) private view returns (uint128 liquidity, uint256 amount0, uint256 amount1) {
        uint128 owed0;
        uint128 owed1;
        (liquidity, owed0, owed1) = positionOf(lower, upper);
        (uint160 root,,,,,,) = IPool(pool).slot0();
        (uint160 a, uint160 b) = (TickMath.getSqrtPriceAtTick(lower), TickMath.getSqrtPriceAtTick(upper));
        uint160 within = root < a ? a : root > b ? b : root;
        amount0 = (within < b ? SqrtPriceMath.getAmount0Delta(within, b, liquidity, false) : 0) + owed0;
        amount1 = (a < within ? SqrtPriceMath.getAmount1Delta(a, within, liquidity, false) : 0) + owed1;
    }

    /// What the positions earned becomes owed.
    function poke() private {
        (uint128 base,,) = positionOf(baseLower, baseUpper);
        if (base > 0) IPool(pool).burn(baseLower, baseUpper, 0);
        (uint128 limit,,) = positionOf(limitLower, limitUpper);
        if (limit > 0) IPool(pool).burn(limitLower, limitUpper, 0);
    }

    function collectAll(bool withEvent) private returns (uint256 fees0, uint256 fees1) {
        (uint256 base0, uint256 base1) = collectOf(baseLower, baseUpper);
        (uint256 limit0, uint256 limit1) = collectOf(limitLower, limitUpper);
        (fees0, fees1) = (base0 + limit0, base1 + limit1);
        if (fees0 == 0 && fees1 == 0) return (0, 0);
        uint256 part = IchiFactoryLike(ichiVaultFactory).baseFee();
        address receiver = IchiFactoryLike(ichiVaultFactory).feeRecipient();
        if (fees0 > 0) IERC20(token0).safeTransfer(receiver, fees0 * part / PRECISION);
        if (fees1 > 0) IERC20(token1).safeTransfer(receiver, fees1 * part / PRECISION);
        if (withEvent) emit CollectFees(msg.sender, fees0, fees1);
    }

    function collectOf(int24 lower, int24 upper) private returns (uint256 fees0, uint256 fees1) {
        (, uint128 owed0, uint128 owed1) = positionOf(lower, upper);
        if (owed0 > 0 || owed1 > 0) IPool(pool).collect(address(this), lower, upper, owed0, owed1);
        (fees0, fees1) = (owed0, owed1);
    }

    function remove(int24 lower, int24 upper) private {
        (uint128 liquidity,,) = positionOf(lower, upper);
        if (liquidity == 0) return;
        IPool(pool).burn(lower, upper, liquidity);
        IPool(pool).collect(address(this), lower, upper, type(uint128).max, type(uint128).max);
    }

    function take(int24 lower, int24 upper, uint256 shares, uint256 supply, address to)
        private
        returns (uint256 amount0, uint256 amount1)
    {
        (uint128 liquidity,,) = positionOf(lower, upper);
        uint128 part = uint128(uint256(liquidity) * shares / supply);
        if (part == 0) return (0, 0);
        (amount0, amount1) = IPool(pool).burn(lower, upper, part);
        if (amount0 > 0 || amount1 > 0) {
            IPool(pool).collect(to, lower, upper, uint128(amount0), uint128(amount1));
        }
    }

    function put(int24 lower, int24 upper) private {
        (uint160 root,,,,,,) = IPool(pool).slot0();
        uint128 liquidity = LiquidityAmounts.getLiquidityForAmounts(
            root,
            TickMath.getSqrtPriceAtTick(lower),
            TickMath.getSqrtPriceAtTick(upper),
            IERC20(token0).balanceOf(address(this)),
            IERC20(token1).balanceOf(address(this))
        );
        if (liquidity > 0) IPool(pool).mint(address(this), lower, upper, liquidity, "");
    }
}

/// After ICHIVaultFactory.sol: anybody may have a vault made; who did is part of its key.
contract IchiFactoryLike {
    uint16 private constant MIN_OBSERVATIONS = 50;
    uint32 private constant TWAP_PERIOD = 60 minutes;

    address public immutable uniswapV3Factory;
    address public immutable feeRecipient;
    bool public immutable isOlder;
    uint256 public constant baseFee = 1e17;
    mapping(bytes32 => address) public getICHIVault;
    uint256 private count;

    event ICHIVaultCreated(
        address indexed sender,
        address ichiVault,
        address tokenA,
        bool allowTokenA,
        address tokenB,
        bool allowTokenB,
        uint24 fee,
        uint256 count
    );

    constructor(address pools, address receiver, bool older) {
        (uniswapV3Factory, feeRecipient, isOlder) = (pools, receiver, older);
    }

    function createICHIVault(address tokenA, bool allowA, address tokenB, bool allowB, uint24 fee)
        external
        returns (address vault)
    {
        require(tokenA != tokenB, "IVF.createICHIVault: identical tokens");
        vault = tokenA < tokenB ? made(tokenA, allowA, tokenB, allowB, fee) : made(tokenB, allowB, tokenA, allowA, fee);
        emit ICHIVaultCreated(msg.sender, vault, tokenA, allowA, tokenB, allowB, fee, ++count);
    }

    function made(address first, bool allow0, address second, bool allow1, uint24 fee) private returns (address vault) {
        require(allow0 || allow1, "IVF.createICHIVault: no allowed tokens");
        bytes32 key = genKey(msg.sender, first, second, fee, allow0, allow1);
        require(getICHIVault[key] == address(0), "IVF.createICHIVault: vault exists");
        vault = address(new IchiVaultLike(poolOf(first, second, fee), allow0, allow1, msg.sender, TWAP_PERIOD, isOlder));
        getICHIVault[key] = vault;
        getICHIVault[genKey(msg.sender, second, first, fee, allow1, allow0)] = vault;
    }

    function poolOf(address first, address second, uint24 fee) private view returns (address pool) {
        pool = IPoolFactory(uniswapV3Factory).getPool(first, second, fee);
        require(pool != address(0), "IVF.createICHIVault: pool must exist");
        (,,,, uint16 next,,) = IPool(pool).slot0();
        require(isOlder || next >= MIN_OBSERVATIONS, "IVF.createICHIVault: observation cardinality too low");
    }

    function genKey(address deployer, address first, address second, uint24 fee, bool allow0, bool allow1)
        public
        pure
        returns (bytes32)
    {
        return keccak256(abi.encodePacked(deployer, first, second, fee, allow0, allow1));
    }
}

/// After ICHIVaultDepositGuard.sol (version 2), without native coins.
contract IchiGuardLike {
    using SafeERC20 for IERC20;

    address public immutable ICHIVaultFactory;

    event DepositForwarded(
        address indexed sender, address indexed vault, address indexed token, uint256 amount, uint256 shares, address to
    );

    constructor(address factory) {
        ICHIVaultFactory = factory;
    }

    function forwardDepositToICHIVault(
        address vault,
        address vaultDeployer,
        address token,
        uint256 amount,
        uint256 minimumProceeds,
        address to
    ) external returns (uint256 shares) {
        (IchiVaultLike target, address token0, address token1) = known(vault, vaultDeployer, to);
        require(token == token0 || token == token1, "Invalid token");
        if (token == token0) require(target.allowToken0(), "Token0 deposits not allowed");
        else require(target.allowToken1(), "Token1 deposits not allowed");
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        IERC20(token).safeIncreaseAllowance(vault, amount);
        shares = target.deposit(token == token0 ? amount : 0, token == token1 ? amount : 0, to);
        require(shares >= minimumProceeds, "Slippage too great. Try again.");
        emit DepositForwarded(msg.sender, vault, token, amount, shares, to);
    }

    function forwardWithdrawFromICHIVault(
        address vault,
        address vaultDeployer,
        uint256 shares,
        address to,
        uint256 minAmount0,
        uint256 minAmount1
    ) external returns (uint256 amount0, uint256 amount1) {
        (IchiVaultLike target,,) = known(vault, vaultDeployer, to);
        IERC20(vault).safeTransferFrom(msg.sender, address(this), shares);
        (amount0, amount1) = target.withdraw(shares, to);
        require(amount0 >= minAmount0 && amount1 >= minAmount1, "Insufficient out");
    }

    function known(address vault, address deployer, address to)
        private
        view
        returns (IchiVaultLike target, address token0, address token1)
    {
        require(to != address(0), "Invalid to");
        target = IchiVaultLike(vault);
        (token0, token1) = (target.token0(), target.token1());
        IchiFactoryLike factory = IchiFactoryLike(ICHIVaultFactory);
        bytes32 key = factory.genKey(deployer, token0, token1, target.fee(), target.allowToken0(), target.allowToken1());
        require(factory.getICHIVault(key) == vault, "Invalid vault");
    }
}

/// Trades with a pool, for whoever approved it.
contract PoolTrader {
    using SafeERC20 for IERC20;

    function swap(address pool, bool isSale, int256 amount, uint160 bound) external {
        IPool(pool).swap(msg.sender, isSale, amount, bound, abi.encode(msg.sender));
    }

    function mint(address pool, int24 lower, int24 upper, uint128 liquidity) external {
        IPool(pool).mint(msg.sender, lower, upper, liquidity, abi.encode(msg.sender));
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external {
        pay(amount0, amount1, abi.decode(data, (address)));
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata data) external {
        pay(amount0 > 0 ? uint256(amount0) : 0, amount1 > 0 ? uint256(amount1) : 0, abi.decode(data, (address)));
    }

    function pay(uint256 amount0, uint256 amount1, address payer) private {
        if (amount0 > 0) IERC20(IPool(msg.sender).token0()).safeTransferFrom(payer, msg.sender, amount0);
        if (amount1 > 0) IERC20(IPool(msg.sender).token1()).safeTransferFrom(payer, msg.sender, amount1);
    }
}
