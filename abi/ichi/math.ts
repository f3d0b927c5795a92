/**
 * What Uniswap v3's contracts reckon of positions, unit for unit.
 * @see TickMath.sol of @uniswap/v3-core 1.0.1, LiquidityAmounts.sol of @uniswap/v3-periphery 1.4.4
 */

const Q96 = 2n ** 96n
const Q192 = 2n ** 192n
const MOST_UINT = 2n ** 256n - 1n

/** 1 / root(1.0001)^(2^n), times 2^128. */
const ROOTS: readonly bigint[] = [
  0xfffcb933bd6fad37aa2d162d1a594001n,
  0xfff97272373d413259a46990580e213an,
  0xfff2e50f5f656932ef12357cf3c7fdccn,
  0xffe5caca7e10e4e61c3624eaa0941cd0n,
  0xffcb9843d60f6159c9db58835c926644n,
  0xff973b41fa98c081472e6896dfb254c0n,
  0xff2ea16466c96a3843ec78b326b52861n,
  0xfe5dee046a99a2a811c461f1969c3053n,
  0xfcbe86c7900a88aedcffc83b479aa3a4n,
  0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n,
  0xe7159475a2c29b7443b29c7fa6e889d9n,
  0xd097f3bdfd2022b8845ad8f792aa5825n,
  0xa9f746462d870fdf8a65dc1f90e061e5n,
  0x70d869a156d2a1b890bb3df62baf32f7n,
  0x31be135f97d08fd981231505542fcfa6n,
  0x9aa508b5b7a84e1c677de54f3e99bc9n,
  0x5d6af8dedb81196699c329225ee604n,
  0x2216e584f5fa1ea926041bedfe98n,
  0x48a170391f7dc42444e8fa2n,
]

/** Root of the price at a tick, times 2^96: of token1 base units per token0 base unit. */
export function rootAtTick(tick: number): bigint {
  const distance = Math.abs(tick)
  let ratio = 2n ** 128n
  for (const [n, root] of ROOTS.entries()) if (distance & (1 << n)) ratio = (ratio * root) >> 128n
  if (tick > 0) ratio = MOST_UINT / ratio
  // Rounded up, so that the tick of the result is the tick.
  return (ratio >> 32n) + (ratio % 2n ** 32n === 0n ? 0n : 1n)
}

/** Amounts of token0 and token1, base units. */
export type Amounts = readonly [bigint, bigint]

export interface Position {
  liquidity: bigint
  lower: number
  upper: number
}

/** What a position is of at a price, rounded down. */
export function amountsOf({ liquidity, lower, upper }: Position, root: bigint): Amounts {
  const [low, high] = [rootAtTick(lower), rootAtTick(upper)]
  if (liquidity === 0n || low >= high) return [0n, 0n]
  const within = root < low ? low : root > high ? high : root
  return [
    within < high ? (((liquidity << 96n) * (high - within)) / high) / within : 0n,
    low < within ? (liquidity * (within - low)) / Q96 : 0n,
  ]
}

/** Amounts together, in base units of token0 (0) or token1 (1), at a price; rounded down. */
export function worthIn(side: 0 | 1, [amount0, amount1]: Amounts, root: bigint): bigint {
  const square = root * root
  return side === 1 ? (amount0 * square) / Q192 + amount1 : amount0 + (amount1 * Q192) / square
}
