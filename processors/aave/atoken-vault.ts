import * as AToken from '../../abi/aave-v3/AToken.ts'
import { functions as Pool } from '../../abi/aave-v3/Pool.ts'
import { functions as token } from '../../abi/erc4626/Vault.ts'
import { encodeCall, smallUint, address as wordAddress } from '../../abi/words.ts'
import type { DomainEvent, EventData } from '../../db/events/vocabulary.ts'
import { rayDiv } from '../../db/lending/aave-math.ts'
import { eventOf, onMany, some } from '../decoder.ts'
import type { ContractReader, LogDecoder, RawLog } from '../protocol.ts'
import { answered, asText } from '../samples/answers.ts'

/**
 * An aToken as a vault. Its balances grow without a log, so its shares are what it keeps itself: scaled units, of which
 * one is worth the pool's liquidity index. Amounts of logs are in assets; scaled ones by the rounding of
 * ScaledBalanceTokenBase.sol before v3.5 (half up): later ones follow only with the balance before, and may be a unit off here.
 */
export const ATOKEN_VAULT = 'aave-v3-atoken-vault'

/** An index of 0, which no pool has, counts as 1: as in the projections of reserves. */
const scaled = (assets: bigint, index: bigint) => rayDiv(assets, index === 0n ? 1n : index)

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

const paidIn = (log: RawLog, sender: string, owner: string, assets: bigint, shares: bigint) =>
  eventOf(log, 'Deposited', { sender, owner, assets, shares, ledger: 'self' }) as DomainEvent

const paidOut = (log: RawLog, owner: string, receiver: string | undefined, assets: bigint, shares: bigint) =>
  eventOf(log, 'Redeemed', { sender: owner, receiver, owner, assets, shares, ledger: 'self' }) as DomainEvent

export const atokenVaultDecoders: LogDecoder[] = [
  // A withdrawal smaller than the interest it accrues is logged as a mint, of the interest less the withdrawal.
  onMany(AToken.Mint, ['Deposited', 'Redeemed', 'ShareTransferred'], (a, log, vault) => {
    const assets = a.value - a.balanceIncrease
    if (assets === 0n) return []
    const shares = scaled(assets < 0n ? -assets : assets, a.index)
    if (assets < 0n) return [paidOut(log, a.onBehalfOf, undefined, -assets, shares)]
    // The reserve's own share of interest is minted by the pool: nobody paid it in.
    if (a.caller === vault?.pool) {
      const minted = { from: ZERO_ADDRESS, to: a.onBehalfOf, shares }
      return [eventOf(log, 'ShareTransferred', minted) as DomainEvent]
    }
    return [paidIn(log, a.caller, a.onBehalfOf, assets, shares)]
  }),
  onMany(AToken.Burn, ['Redeemed'], (a, log) => {
    const assets = a.value + a.balanceIncrease
    return [paidOut(log, a.from, some(a.target), assets, scaled(assets, a.index))]
  }),
  onMany(AToken.BalanceTransfer, ['ShareTransferred'], (a, log) => [
    eventOf(log, 'ShareTransferred', { from: a.from, to: a.to, shares: a.value }) as DomainEvent,
  ]),
]

/** Asks a contract whether it is an aToken: of a pool that knows its asset. */
export async function inspectAToken(vault: string, reader: ContractReader): Promise<DomainEvent[]> {
  const reject = (reason: string): DomainEvent[] => [
    { type: 'VaultRejected', contract: vault, data: { vault, reason } },
  ]
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
  const data: EventData<'VaultDiscovered'> = {
    vault,
    protocol: 'aave',
    name: asText(name),
    symbol: asText(symbol),
    decimals,
    asset,
    assetName: asText(assetName),
    assetSymbol: asText(assetSymbol),
    assetDecimals,
    pool,
    ...(deployment ? { deployedBlock: deployment.block, deployedAt: deployment.timestamp } : {}),
  }
  return [{ type: 'VaultDiscovered', contract: vault, data }]
}
