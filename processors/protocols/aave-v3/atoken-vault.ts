import * as AToken from '../../../abi/aave-v3/AToken.ts'
import { rayDiv } from '../../../abi/aave-v3/math.ts'
import { functions as Pool } from '../../../abi/aave-v3/Pool.ts'
import { functions as token } from '../../../abi/erc4626/Vault.ts'
import { encodeCall, smallUint, address as wordAddress } from '../../../abi/words.ts'
import type { DomainEvent, EventData } from '../../../db/events/vocabulary.ts'
import { RAY, ZERO_ADDRESS } from '../../../db/units.ts'
import { eventOf, onMany, some } from '../../handling/decoder.ts'
import type {
  ContractReader,
  LogDecoder,
  RawLog,
  SampledVault,
  ShareAmounts,
  VaultReading,
} from '../../protocol.ts'
import { answered } from '../../samples/answers.ts'
import { balanceOf, figureByFigure, totalSupply, toUint } from '../../samples/vault-reading.ts'
import { discovered, rejected } from '../../vaults/verdict.ts'

/**
 * An aToken as a vault. Its balances grow without a log, so its shares are what it keeps itself: scaled units, of which
 * one is worth the pool's liquidity index. Amounts of logs are in assets; scaled ones by the rounding of
 * ScaledBalanceTokenBase.sol before v3.5 (half up). Those of later pools are put right by what is read after the block.
 */
export const ATOKEN_VAULT = 'aave-v3-atoken-vault'

/** An index of 0, which no pool has, counts as 1: as in the projections of reserves. */
const paidOf = (assets: bigint, indexRay: bigint): Paid => ({
  assets,
  shares: rayDiv(assets, indexRay === 0n ? 1n : indexRay),
  indexRay,
})

interface Paid {
  assets: bigint
  shares: bigint
  indexRay: bigint
}

const paidIn = (log: RawLog, sender: string, owner: string, paid: Paid) =>
  eventOf(log, 'Deposited', { sender, owner, ...paid, ledger: 'self' }) as DomainEvent

const paidOut = (log: RawLog, owner: string, receiver: string | undefined, paid: Paid) =>
  eventOf(log, 'Redeemed', { sender: owner, receiver, owner, ...paid, ledger: 'self' }) as DomainEvent

const moved = (log: RawLog, data: EventData<'ShareTransferred'>) =>
  eventOf(log, 'ShareTransferred', data) as DomainEvent

export const atokenVaultDecoders: LogDecoder[] = [
  // A withdrawal smaller than the interest it accrues is logged as a mint, of the interest less the withdrawal.
  onMany(AToken.Mint, ['Deposited', 'Redeemed', 'ShareTransferred'], (a, log, vault) => {
    const gained = a.value - a.balanceIncrease
    if (gained === 0n) return []
    const paid = paidOf(gained < 0n ? -gained : gained, a.index)
    if (gained < 0n) return [paidOut(log, a.onBehalfOf, undefined, paid)]
    // The reserve's own share of interest is minted by the pool: nobody paid it in.
    if (a.caller === vault?.pool) return [moved(log, { from: ZERO_ADDRESS, to: a.onBehalfOf, ...paid })]
    return [paidIn(log, a.caller, a.onBehalfOf, paid)]
  }),
  onMany(AToken.Burn, ['Redeemed'], (a, log) => [
    paidOut(log, a.from, some(a.target), paidOf(a.value + a.balanceIncrease, a.index)),
  ]),
  onMany(AToken.BalanceTransfer, ['ShareTransferred'], (a, log) => [
    moved(log, { from: a.from, to: a.to, shares: a.value, indexRay: a.index }),
  ]),
]

/** Asks a contract whether it is an aToken: of a pool that knows its asset. */
export async function inspectAToken(vault: string, reader: ContractReader): Promise<DomainEvent[]> {
  const reject = (reason: string) => rejected(vault, reason)
  const asAddress = (hex: string) => some(wordAddress(hex, 2))
  const asDecimals = (hex: string) => smallUint(hex, 2, 8)
  const ask = async (fn: Parameters<typeof encodeCall>[0]) => reader.call(vault, encodeCall(fn))
  const [pool, asset, supply] = await Promise.all([
    ask(AToken.functions.POOL).then(answer => answered(answer, asAddress)),
    ask(AToken.functions.UNDERLYING_ASSET_ADDRESS).then(answer => answered(answer, asAddress)),
    ask(AToken.functions.scaledTotalSupply),
  ])
  if (pool === undefined || asset === undefined) return reject('it names no pool and underlying asset')
  if (answered(supply, hex => hex) === undefined) return reject('scaledTotalSupply() does not answer')
  const of = (contract: string, fn: Parameters<typeof encodeCall>[0]) => reader.call(contract, encodeCall(fn))
  const [index, decimals, assetDecimals, name, symbol, assetName, assetSymbol, deployment] =
    await Promise.all([
      reader.call(pool, encodeCall(Pool.getReserveNormalizedIncome, asset)),
      of(vault, token.decimals).then(answer => answered(answer, asDecimals)),
      of(asset, token.decimals).then(answer => answered(answer, asDecimals)),
      of(vault, token.name),
      of(vault, token.symbol),
      of(asset, token.name),
      of(asset, token.symbol),
      reader.deployment(vault),
    ])
  if (answered(index, hex => hex) === undefined) return reject('its pool gives no index for its asset')
  if (decimals === undefined || assetDecimals === undefined) return reject('no decimals are to be had')
  return discovered(
    vault,
    {
      protocol: 'aave-v3',
      decimals,
      asset,
      assetDecimals,
      pool,
    },
    { name, symbol, assetName, assetSymbol },
    deployment,
  )
}

/** What its scaled units are worth together and one by one, by the pool's index. */
export function readAToken(
  { vault, asset, pool }: SampledVault,
  { whole, fine }: ShareAmounts,
): VaultReading | undefined {
  if (!pool) return undefined
  const simple = figureByFigure([
    ['totalAssets', totalSupply(vault)],
    ['totalSupply', { to: vault, data: encodeCall(AToken.functions.scaledTotalSupply) }],
    ['idleAssets', balanceOf(asset, vault)],
  ])
  return {
    calls: [...simple.calls, { to: pool, data: encodeCall(Pool.getReserveNormalizedIncome, asset) }],
    figures: (answers, at) => {
      const figures = simple.figures(answers, at)
      const index = toUint(answers[simple.calls.length])
      if (index === undefined) return figures
      return { ...figures, sharePrice: (whole * index) / RAY, finePrice: (fine * index) / RAY }
    },
  }
}
