import { encodeFunctionData, parseAbi } from 'viem'
import { functions as Pool } from '../../../abi/ichi/Pool.ts'
import { functions as Vault } from '../../../abi/ichi/Vault.ts'
import { address, encodeCall, int, smallUint, uint } from '../../../abi/words.ts'
import type { EventData } from '../../../db/events/vocabulary.ts'
import { some } from '../../handling/decoder.ts'
import type { StateRead } from '../../protocol.ts'
import { answered, asDecimals, asSymbol, asText, asWord } from '../../samples/answers.ts'

/** State of a vault and its pool as their view functions say it; @see ICHIVault.sol and IUniswapV3PoolDerivedState.sol. */

const callsOf = (to: string, of: readonly Parameters<typeof encodeCall>[0][]) =>
  of.map(fn => ({ to, data: encodeCall(fn) }))

const asAddress = (hex: string) => some(address(hex, 2))
const asYes = (hex: string) => asWord(hex) !== 0n
const asTick = (hex: string) => Number(int(hex, 2, 24))

/** What a vault is of, asked of the vault itself, whose code is its factory's. */
export function readDescription(vault: string): StateRead {
  return {
    key: `amm description ${vault}`,
    isConstant: true,
    calls: callsOf(vault, [
      Vault.name,
      Vault.symbol,
      Vault.decimals,
      Vault.pool,
      Vault.token0,
      Vault.token1,
      Vault.allowToken0,
      Vault.allowToken1,
    ]),
    events: ([name, symbol, decimalsAnswer, poolAnswer, first, second, takesFirst, takesSecond]) => {
      const decimals = answered(decimalsAnswer, asDecimals)
      const [pool, token0, token1] = [poolAnswer, first, second].map(of => answered(of, asAddress))
      const [takesToken0, takesToken1] = [takesFirst, takesSecond].map(of => answered(of, asYes))
      if (decimals === undefined || !pool || !token0 || !token1) return []
      if (takesToken0 === undefined || takesToken1 === undefined) return []
      const told = { name: asText(name), symbol: asSymbol(symbol), decimals }
      const data = { vault, ...told, pool, token0, token1, takesToken0, takesToken1 }
      return [{ type: 'AmmVaultDescribed', contract: vault, data }]
    },
  }
}

type State = EventData<'AmmVaultSampled'>

const observeAbi = parseAbi(['function observe(uint32[] secondsAgos) view returns (int56[], uint160[])'])

/** What the pool's oracle says of a stretch of time up to now. */
const observation = (pool: string, seconds: number) => ({
  to: pool,
  data: encodeFunctionData({ abi: observeAbi, functionName: 'observe', args: [[seconds, 0]] }),
})

/** Seconds; undefined: none is said, or so many as no oracle keeps. */
const periodOf = (answer: string | undefined): number | undefined =>
  answered(answer, hex => smallUint(hex, 2, 32)) || undefined

/** The mean of ticks between two sums of them, rounded as the contracts do. @see OracleLibrary.sol, consult */
function meanTick(answer: string | undefined, seconds: number): number | undefined {
  const sums = answered(answer, hex => {
    const start = 2 + smallUint(hex, 2, 32) * 2
    return smallUint(hex, start, 32) === 2 ? [1, 2].map(n => int(hex, start + 64 * n, 56)) : undefined
  })
  const [before, now] = sums ?? []
  if (before === undefined || now === undefined) return undefined
  const [sum, by] = [now - before, BigInt(seconds)]
  const mean = Number(sum / by) - (sum < 0n && sum % by !== 0n ? 1 : 0)
  return isTick(mean) ? mean : undefined
}

/** The prices that a pool can have. @see TickMath.sol */
const MOST_TICK = 887_272
const isTick = (tick: number | undefined) => tick !== undefined && Math.abs(tick) <= MOST_TICK

/** All of it, or nothing: half of what is in the positions says nothing of the vault. */
function positionsOf([base, lower, upper, limit, low, high]: readonly (
  | string
  | undefined
)[]): Partial<State> {
  const liquidity = (answer: string | undefined) => answered(answer, hex => uint(hex, 2, 128))
  const ticks = [lower, upper, low, high].map(of => answered(of, asTick))
  const [baseLower, baseUpper, limitLower, limitUpper] = ticks
  const [baseLiquidity, limitLiquidity] = [liquidity(base), liquidity(limit)]
  const all = { baseLiquidity, baseLower, baseUpper, limitLiquidity, limitLower, limitUpper }
  const isWhole = Object.values(all).every(value => value !== undefined) && ticks.every(isTick)
  return isWhole ? all : {}
}

/** What a vault has and what its shares are, and its pool's price, of the moment and over the time that the vault looks back itself. */
export function readState(vault: string, pool: string): StateRead {
  const calls = [
    ...callsOf(vault, [Vault.getTotalAmounts, Vault.totalSupply, Vault.twapPeriod]),
    ...callsOf(pool, [Pool.slot0, Pool.globalState]),
    ...callsOf(vault, [
      Vault.getBasePosition,
      Vault.baseLower,
      Vault.baseUpper,
      Vault.getLimitPosition,
      Vault.limitLower,
      Vault.limitUpper,
    ]),
  ]
  return {
    key: `amm state ${vault}`,
    calls,
    follow: ([, , period]) => {
      const seconds = periodOf(period)
      return seconds === undefined ? [] : [observation(pool, seconds)]
    },
    events: answers => {
      const [totals, supplyAnswer, period, slot0, globalState] = answers
      const [total0, total1] = [2, 66].map(at => answered(totals, hex => uint(hex, at, 256)))
      const supply = answered(supplyAnswer, asWord)
      const sqrtPriceX96 = priceOf(slot0) ?? priceOf(globalState)
      if (total0 === undefined || total1 === undefined || supply === undefined || !sqrtPriceX96) return []
      const twapPeriod = periodOf(period)
      const mean = twapPeriod === undefined ? undefined : meanTick(answers[calls.length], twapPeriod)
      const data: State = {
        total0,
        total1,
        supply,
        sqrtPriceX96,
        twapPeriod,
        ...(mean === undefined ? {} : { meanTick: mean }),
        ...positionsOf(answers.slice(5)),
      }
      return [{ type: 'AmmVaultSampled', contract: vault, data }]
    },
  }
}

/** Of a pool of Uniswap's kind or of Algebra's: price and tick are the first words either way. Zero: it has no price yet. */
function priceOf(answer: string | undefined): bigint | undefined {
  const told = answered(answer, hex => ({ price: uint(hex, 2, 160), tick: int(hex, 66, 24) }))
  return told?.price || undefined
}
