import { type AaveHolding, aaveAccount, owedAt, suppliedAt } from '../../../abi/aave-v3/math.ts'
import type { Reading } from '../../catalogue/reading.ts'
import type { Vault } from '../../catalogue/vault.ts'
import { checksum } from '../../http/amounts.ts'
import type { AssetPosition, LendingPosition } from '../../lending/family.ts'
import { positionId, quotient, ratio } from '../../lending/market.ts'
import { ask } from '../../moment/query.ts'
import type { Allocation } from '../../vaults/allocation.ts'
import type { AaveLendingMarket } from './market.ts'
import * as queries from './queries.ts'

/** What an account has in pools of one chain. */
export async function aavePositions(
  markets: readonly AaveLendingMarket[],
  account: string,
  reading: Reading,
): Promise<LendingPosition[]> {
  const [{ chainId: chain } = { chainId: 0 }] = markets
  const p = reading.catalogue.chain(chain, 'lending')?.position ?? 0
  const [balances, chosen] = await Promise.all([
    readScaled(chain, [account], reading),
    ask(reading.deps.clickhouse, queries.aaveChoices, { chain, p, account }, reading.signal),
  ])
  const choices = new Map(chosen.map(({ pool, market, value }) => [`${pool} ${market}`, value]))
  return markets.map(market => positionOf(market, account, balances.get(account) ?? new Map(), choices))
}

/** Scaled balances of each of these accounts, a hundred at most, by token. */
async function readScaled(
  chain: number,
  accounts: readonly string[],
  { deps, catalogue, signal }: Reading,
): Promise<Map<string, Map<string, bigint>>> {
  const p = catalogue.chain(chain, 'lending')?.position ?? 0
  const asked = { chain, p, accounts: [...accounts] }
  const scaled = new Map<string, Map<string, bigint>>(accounts.map(account => [account, new Map()]))
  for (const row of await ask(deps.clickhouse, queries.aaveBalances, asked, signal))
    scaled.get(row.account)?.set(row.token, BigInt(row.scaled))
  return scaled
}

/** What vaults have supplied of their assets to the pools of a chain. */
export async function aaveSupplies(
  markets: readonly AaveLendingMarket[],
  vaults: readonly string[],
  reading: Reading,
  chain: number,
): Promise<(vault: Vault) => Allocation[]> {
  const scaled = await readScaled(chain, vaults, reading)
  const reserves = markets.flatMap(market => market.reserves.map(reserve => ({ market, reserve })))
  return vault => {
    const { address, asset } = vault.state
    const { symbol } = vault.asset
    return reserves.flatMap(({ market, reserve }): Allocation[] => {
      const held = (reserve.asset === asset && scaled.get(address)?.get(reserve.aToken)) || 0n
      const value = suppliedAt(held, reserve.income, reserve.isDirected)
      const whole = market.assets.find(({ id }) => id === asset)
      if (value === 0n || !whole) return []
      return [
        {
          name: `${market.name} ${symbol}`,
          address: checksum(market.root),
          assetSymbol: symbol,
          value,
          kind: 'deployed',
          utilization: ratio(whole.borrowed, whole.supplied),
        },
      ]
    })
  }
}

function positionOf(
  market: AaveLendingMarket,
  account: string,
  scaled: ReadonlyMap<string, bigint>,
  choices: ReadonlyMap<string, number>,
): LendingPosition {
  const choice = (asset: string) => choices.get(`${market.root} ${asset}`) ?? 0
  const category = choice('')
  const assets: AssetPosition[] = []
  const holdings: AaveHolding[] = []
  let isPriced = true
  let owes = false
  for (const reserve of market.reserves) {
    const { isDirected, isDecoupled } = reserve
    const supplied = suppliedAt(scaled.get(reserve.aToken) ?? 0n, reserve.income, isDirected)
    const borrowed = owedAt(scaled.get(reserve.debtToken) ?? 0n, reserve.debt, isDirected)
    const isCollateral = choice(reserve.asset) === 1
    owes ||= borrowed > 0n
    const asset = market.assets.find(({ id }) => id === reserve.asset)
    if (asset)
      assets.push({
        asset,
        positionId: positionId(market, account, asset),
        collateralEnabled: isCollateral,
        supplied,
        borrowed,
      })
    const counts = borrowed > 0n || (isCollateral && supplied > 0n)
    if (!counts) continue
    const eMode = `emode:${category}`
    // Of v3.2 and later; before, an asset was in one category, which it may still name.
    const isTold = reserve.setting(`${eMode}:collateral`)
    const isInEMode =
      category !== 0 && (isTold === undefined ? reserve.eModeCategory === category : isTold === '1')
    // A category with an oracle of its own prices its assets by that.
    if (reserve.oraclePrice === undefined || (isInEMode && reserve.setting('oracle', eMode))) isPriced = false
    holdings.push({
      supplied,
      borrowed,
      isCollateral,
      isDirected,
      isDecoupled,
      price: reserve.oraclePrice ?? 0n,
      decimals: reserve.decimals,
      ltvBps: reserve.ltvBps,
      liquidationThresholdBps: reserve.liquidationThresholdBps,
      ...(isInEMode
        ? {
            eMode: {
              ltvBps: BigInt(reserve.setting('ltvBps', eMode) ?? '0'),
              liquidationThresholdBps: BigInt(reserve.setting('liquidationThresholdBps', eMode) ?? '0'),
            },
          }
        : {}),
    })
  }
  const base = aaveAccount(holdings)
  const isKnown = isPriced && base.healthFactorWad !== undefined
  // A debt that comes to nothing in the oracle's currency is none to the pool.
  const isFree = !owes || (isPriced && base.healthFactorWad === undefined)
  return {
    market,
    user: account,
    account,
    assets,
    ltv: isFree ? 0 : isKnown ? quotient(base.totalDebtBase, base.totalCollateralBase) : undefined,
    healthFactor: isKnown ? Number(base.healthFactorWad) / 1e18 : undefined,
  }
}
