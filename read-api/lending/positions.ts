import { type AaveHolding, aaveAccount, owedAt, suppliedAt } from '../../abi/aave-v3/math.ts'
import { morphoBalances, morphoMaxBorrow, ORACLE_PRICE_SCALE } from '../../abi/morpho-blue/math.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { ask } from '../moment/query.ts'
import { cometPosition, readComets } from '../protocols/compound-v3/lending.ts'
import { type EvkHeld, evkPosition, readEvk, readSubAccounts } from '../protocols/euler-v2/lending.ts'
import type { AaveLendingMarket, LendingAsset, LendingMarket, MorphoLendingMarket } from './market.ts'
import { positionId, quotient } from './market.ts'
import * as queries from './queries.ts'

/** What a user has of one asset of a market, base units with interest up to the moment. */
export interface AssetPosition {
  asset: LendingAsset
  /** One for each underlying position, whatever markets show it. */
  positionId: string
  collateralEnabled: boolean
  supplied: bigint
  borrowed: bigint
}

export interface LendingPosition {
  market: LendingMarket
  /** The wallet that was asked for. */
  user: string
  /** Whose position it is: the wallet itself, or an account that it has in the protocol. */
  account: string
  assets: AssetPosition[]
  /** Debt over collateral at the protocol's oracle's price; 0 without debt, undefined where that price is not recorded. */
  ltv: number | undefined
  /** Undefined without debt and where the price is not recorded. */
  healthFactor: number | undefined
}

/** Balances in the units that the contracts store: of Morpho Blue by market, of Aave by token. */
export interface Stored {
  morpho: Map<string, { supplyShares: bigint; borrowShares: bigint; collateral: bigint }>
  scaled: Map<string, bigint>
}

export interface Held extends Stored {
  choices: Map<string, number>
  evk: EvkHeld
  /** Base principal and balances by collateral asset, by Comet. */
  comets: Map<string, { principal: bigint; collateral: Map<string, bigint> }>
}

/** An account's positions in markets of one chain; all of them, also empty ones. */
export async function readPositions(
  markets: readonly LendingMarket[],
  account: string,
  { deps, catalogue, signal }: EndpointContext,
): Promise<LendingPosition[]> {
  const chain = markets[0]?.chainId
  if (chain === undefined) return []
  const pinned = { chain, p: catalogue.chain(chain, 'lending')?.position ?? 0, account }
  const lenders = markets.filter(market => market.protocol === 'euler-v2')
  const [evk, comets, balances, choices] = await Promise.all([
    readEvk(deps.clickhouse, { ...pinned, accounts: [account] }, lenders, signal),
    readComets(deps.clickhouse, pinned, signal),
    readHeld(chain, [account], { deps, catalogue, signal }),
    ask(deps.clickhouse, queries.aaveChoices, pinned, signal),
  ])
  const held: Held = {
    ...(balances.get(account) ?? { morpho: new Map(), scaled: new Map() }),
    comets,
    evk: evk(account),
    choices: new Map(choices.map(({ pool, market, value }) => [`${pool} ${market}`, value])),
  }
  return markets.map(market => {
    if (market.protocol === 'morpho-blue') return morphoPosition(market, account, held)
    if (market.protocol === 'compound-v3') return cometPosition(market, account, held)
    if (market.protocol === 'euler-v2') return evkPosition(market, account, held.evk)
    return aavePosition(market, account, held)
  })
}

/** Those of a wallet, and after them those of its sub-accounts, in markets of one chain. */
export async function readWallet(
  markets: readonly LendingMarket[],
  wallet: string,
  context: EndpointContext,
): Promise<LendingPosition[]> {
  const { deps, catalogue, signal } = context
  const [first] = markets
  if (!first) return []
  const pinned = { chain: first.chainId, p: catalogue.chain(first.chainId, 'lending')?.position ?? 0, wallet }
  const pairs = markets.filter(market => market.protocol === 'euler-v2')
  const [own, subs] = await Promise.all([
    readPositions(markets, wallet, context),
    readSubAccounts(deps.clickhouse, pinned, pairs, signal),
  ])
  return [...own, ...subs]
}

const isEmpty = ({ assets }: LendingPosition) =>
  assets.every(({ supplied, borrowed }) => supplied === 0n && borrowed === 0n)
const safety = ({ ltv, healthFactor }: LendingPosition) =>
  healthFactor ?? (ltv === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY)

/**
 * Of a wallet's positions in one market the one to show: its own, or, where it has nothing there itself, that of the
 * sub-account that is closest to liquidation; and the accounts of the others.
 */
export function mainPosition(
  positions: readonly LendingPosition[],
): { position: LendingPosition; others: string[] } | undefined {
  const [own, ...subs] = positions
  if (!own) return undefined
  const [riskiest] = subs.toSorted((a, b) => (safety(a) < safety(b) ? -1 : safety(a) > safety(b) ? 1 : 0))
  const position = riskiest && isEmpty(own) ? riskiest : own
  return { position, others: subs.filter(of => of !== position).map(({ account }) => account) }
}

/** What each of these accounts, a hundred at most, has in the markets of a chain. */
export async function readHeld(
  chain: number,
  accounts: readonly string[],
  { deps, catalogue, signal }: Pick<EndpointContext, 'deps' | 'catalogue' | 'signal'>,
): Promise<Map<string, Stored>> {
  const pinned = { chain, p: catalogue.chain(chain, 'lending')?.position ?? 0, accounts }
  const [morpho, balances] = await Promise.all([
    ask(deps.clickhouse, queries.morphoPositions, pinned, signal),
    ask(deps.clickhouse, queries.aaveBalances, pinned, signal),
  ])
  const held = new Map<string, Stored>(
    accounts.map(account => [account, { morpho: new Map(), scaled: new Map() }]),
  )
  for (const row of morpho) {
    held.get(row.account)?.morpho.set(row.market, {
      supplyShares: BigInt(row.supply_shares),
      borrowShares: BigInt(row.borrow_shares),
      collateral: BigInt(row.collateral),
    })
  }
  for (const { account, token, scaled } of balances) held.get(account)?.scaled.set(token, BigInt(scaled))
  return held
}

function morphoPosition(market: MorphoLendingMarket, account: string, held: Held): LendingPosition {
  const position = held.morpho.get(market.id) ?? { supplyShares: 0n, borrowShares: 0n, collateral: 0n }
  const { supplied, borrowed } = morphoBalances(position, market.state)
  return {
    market,
    user: account,
    account,
    assets: market.assets.map(asset => ({
      asset,
      positionId: positionId(market, account, asset),
      collateralEnabled: asset.side === 'collateral',
      supplied: asset.side === 'loan' ? supplied : position.collateral,
      borrowed: asset.side === 'loan' ? borrowed : 0n,
    })),
    ...morphoHealth(market, position.collateral, borrowed),
  }
}

/** What _isHealthy of Morpho.sol weighs. */
function morphoHealth(market: MorphoLendingMarket, collateral: bigint, borrowed: bigint) {
  if (borrowed === 0n) return { ltv: 0, healthFactor: undefined }
  if (market.oraclePrice === undefined) return { ltv: undefined, healthFactor: undefined }
  const worth = (collateral * market.oraclePrice) / ORACLE_PRICE_SCALE
  const limit = morphoMaxBorrow(collateral, market.oraclePrice, market.params.lltv)
  return { ltv: quotient(borrowed, worth), healthFactor: quotient(limit, borrowed) }
}

function aavePosition(market: AaveLendingMarket, account: string, held: Held): LendingPosition {
  const choice = (asset: string) => held.choices.get(`${market.root} ${asset}`) ?? 0
  const category = choice('')
  const assets: AssetPosition[] = []
  const holdings: AaveHolding[] = []
  let isPriced = true
  let owes = false
  for (const reserve of market.reserves) {
    const { isDirected, isDecoupled } = reserve
    const supplied = suppliedAt(held.scaled.get(reserve.aToken) ?? 0n, reserve.income, isDirected)
    const borrowed = owedAt(held.scaled.get(reserve.debtToken) ?? 0n, reserve.debt, isDirected)
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
