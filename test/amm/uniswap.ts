import { createRequire } from 'node:module'

/**
 * Uniswap's own SDK in TypeScript, which shares no code with ours: what of it is used here, by shapes of our own, as its types want
 * a compiler of their time.
 */
interface Whole {
  toString(): string
}
interface Sdk {
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

const require = createRequire(import.meta.url)
const sdk = require('@uniswap/v3-sdk') as Sdk

const big = (value: Whole) => BigInt(value.toString())

/** Root of a price, times 2^96. */
export const rootOf = (amount1: bigint, amount0: bigint): bigint =>
  big(sdk.encodeSqrtRatioX96(`${amount1}`, `${amount0}`))
