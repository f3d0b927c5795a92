import {
  assetsOfShares,
  type EvkHolding,
  evkLiquidity,
  owedAssets,
  owedLater,
} from '../../../abi/euler/math.ts'
import type { Reading } from '../../catalogue/reading.ts'
import type { LendingPosition } from '../../lending/family.ts'
import { quotient } from '../../lending/market.ts'
import { ask } from '../../moment/query.ts'
import type { EvkLendingMarket, EvkSide } from './market.ts'
import * as queries from './queries.ts'
import { subAccountsOf } from './sub-accounts.ts'

interface EvkHeld {
  debts: Map<string, { owed: bigint; accumulator: bigint }>
  shares: Map<string, bigint>
  /** `<role> <vault>` */
  enabled: Set<string>
}

const NOTHING: EvkHeld = { debts: new Map(), shares: new Map(), enabled: new Set() }

/** Vaults that lend or secure in these markets. */
export const vaultsOf = (markets: readonly EvkLendingMarket[]) => [
  ...new Set(markets.flatMap(({ lender }) => [lender.vault, ...lender.securities.map(of => of.vault)])),
]

/** What an account has in pairs of one chain. */
export async function evkPositions(
  markets: readonly EvkLendingMarket[],
  account: string,
  reading: Reading,
): Promise<LendingPosition[]> {
  const held = await readHeld(markets, [account], reading)
  return markets.map(market => positionOf(market, account, held(account)))
}

async function readHeld(
  markets: readonly EvkLendingMarket[],
  accounts: readonly string[],
  { deps: { clickhouse }, catalogue, signal }: Reading,
): Promise<(account: string) => EvkHeld> {
  const [{ chainId: chain } = { chainId: 0 }] = markets
  const vaults = vaultsOf(markets)
  if (vaults.length === 0 || accounts.length === 0) return () => NOTHING
  const p = catalogue.chain(chain, 'lending')?.position ?? 0
  const asked = { chain, p, accounts: [...accounts] }
  const [debts, enabled, shares] = await Promise.all([
    ask(clickhouse, queries.evkDebts, asked, signal),
    ask(clickhouse, queries.evkEnabled, asked, signal),
    ask(clickhouse, queries.evkShares, { ...asked, vaults }, signal),
  ])
  return account => {
    const own = <T extends { account: string }>(rows: readonly T[]) =>
      rows.filter(row => row.account === account)
    return {
      debts: new Map(
        own(debts).map(row => [row.vault, { owed: BigInt(row.owed), accumulator: BigInt(row.accumulator) }]),
      ),
      shares: new Map(own(shares).map(row => [row.vault, BigInt(row.shares)])),
      enabled: new Set(
        own(enabled)
          .filter(row => row.enabled === 1)
          .map(({ role, vault }) => `${role} ${vault}`),
      ),
    }
  }
}

/** What the sub-accounts of a wallet have in these markets, without those that have nothing there. */
export async function evkSubPositions(
  markets: readonly EvkLendingMarket[],
  wallet: string,
  reading: Reading,
): Promise<LendingPosition[]> {
  const { deps, catalogue, signal } = reading
  const [{ chainId: chain } = { chainId: 0 }] = markets
  const asked = { chain, p: catalogue.chain(chain, 'lending')?.position ?? 0, wallets: [wallet] }
  const accounts = await subAccountsOf(deps.clickhouse, asked, signal)
  const heldBy = await readHeld(markets, accounts, reading)
  return accounts
    .flatMap(account => markets.map(market => positionOf(market, account, heldBy(account), wallet)))
    .filter(({ assets }) => assets.some(({ supplied, borrowed }) => supplied > 0n || borrowed > 0n))
}

/** The same debt stands in every market of the vault that lends; its positionId is one and the same there. */
function positionOf(
  market: EvkLendingMarket,
  account: string,
  held: EvkHeld,
  user: string = account,
): LendingPosition {
  const { lender, collateral } = market
  const debt = held.debts.get(lender.vault)
  const isController = held.enabled.has(`controller ${lender.vault}`)
  const borrowed =
    debt && isController ? owedAssets(owedLater(debt.owed, debt.accumulator, lender.state.accumulator)) : 0n
  const suppliedIn = ({ vault, state }: EvkSide) => assetsOfShares(held.shares.get(vault) ?? 0n, state)
  return {
    market,
    user,
    account,
    assets: market.assets.map(asset => {
      const isLoan = asset.side === 'loan'
      const of = isLoan ? lender : collateral
      return {
        asset,
        positionId: `${market.chainId}:evk:${of.vault}:${account}`,
        collateralEnabled: !isLoan && held.enabled.has(`collateral ${collateral.vault}`),
        supplied: suppliedIn(of),
        borrowed: isLoan ? borrowed : 0n,
      }
    }),
    ...healthOf(lender, borrowed, held),
  }
}

/**
 * A debt stands in every pair of its lender: of those, the ones whose collateral secures it, and all where none does.
 */
export function securedPairs(positions: readonly LendingPosition[]): LendingPosition[] {
  const isSecured = ({ assets }: LendingPosition) =>
    assets.some(of => of.asset.side === 'collateral' && of.collateralEnabled && of.supplied > 0n)
  const debtOf = ({ market, account }: LendingPosition) => `${market.root} ${account}`
  const secured = new Set(positions.filter(isSecured).map(debtOf))
  return positions.filter(position => isSecured(position) || !secured.has(debtOf(position)))
}

/** By all that the account has enabled as collateral, whichever pair it is looked at in. */
function healthOf(lender: EvkLendingMarket['lender'], borrowed: bigint, held: EvkHeld) {
  if (borrowed === 0n) return { ltv: 0, healthFactor: undefined }
  const unknown = { ltv: undefined, healthFactor: undefined }
  if (lender.oraclePrice === undefined) return unknown
  const holdings: EvkHolding[] = []
  for (const { vault, state, liquidationBps, oraclePrice } of lender.securities) {
    const shares = held.shares.get(vault) ?? 0n
    if (shares === 0n || liquidationBps === 0 || !held.enabled.has(`collateral ${vault}`)) continue
    if (!state || oraclePrice === undefined) return unknown
    holdings.push({ assets: assetsOfShares(shares, state), price: oraclePrice, liquidationBps })
  }
  const debt = { assets: borrowed, price: lender.oraclePrice }
  const { liability, collateral, limit } = evkLiquidity(debt, holdings)
  return { ltv: quotient(liability, collateral), healthFactor: quotient(limit, liability) }
}
