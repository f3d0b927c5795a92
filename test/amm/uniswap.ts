import { createRequire } from 'node:module'

/**
 * Uniswap's own SDK in TypeScript, which shares no code with ours: what of it is used here, by shapes of our own, as its types want
 * a compiler of their time.
 */
interface Whole {
  toString(): string
}
interface Sdk {
  TickMath: {
    getSqrtRatioAtTick(tick: number): Whole
  }
  encodeSqrtRatioX96(amount1: string, amount0: string): Whole
  Pool: new (a: object, b: object, fee: number, root: string, liquidity: string, tick: number) => object
  Position: new (of: {
    pool: object
    liquidity: string
    tickLower: number
    tickUpper: number
  }) => {
    amount0: { quotient: Whole }
    amount1: { quotient: Whole }
  }
}
interface Core {
  Token: new (chainId: number, address: string, decimals: number) => object
}

const require = createRequire(import.meta.url)
const sdk = require('@uniswap/v3-sdk') as Sdk
const { Token } = require('@uniswap/sdk-core') as Core

const big = (value: Whole) => BigInt(value.toString())

/** Root of a price, times 2^96. */
export const rootOf = (amount1: bigint, amount0: bigint): bigint =>
  big(sdk.encodeSqrtRatioX96(`${amount1}`, `${amount0}`))

/** The same at a tick. */
export const rootAt = (tick: number): bigint => big(sdk.TickMath.getSqrtRatioAtTick(tick))

const [TOKEN0, TOKEN1] = ['1', '2'].map(digit => new Token(1, `0x${digit.repeat(40)}`, 18))

/** The fee whose pools have a position at any tick. */
const FINEST = 100

export interface Range {
  liquidity: bigint
  lower: number
  upper: number
}

/** What a position is of at a price: base units of token0 and token1, rounded down. */
export function amountsOf({ liquidity, lower, upper }: Range, root: bigint): [bigint, bigint] {
  if (liquidity === 0n) return [0n, 0n]
  const tick = tickOf(root)
  const pool = new sdk.Pool(TOKEN0 ?? {}, TOKEN1 ?? {}, FINEST, `${root}`, '0', tick)
  const position = new sdk.Position({ pool, liquidity: `${liquidity}`, tickLower: lower, tickUpper: upper })
  return [big(position.amount0.quotient), big(position.amount1.quotient)]
}

/** The greatest tick that is not above a price. */
function tickOf(root: bigint): number {
  let [low, high] = [-887_272, 887_272]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (rootAt(middle) <= root) low = middle
    else high = middle - 1
  }
  return low
}
