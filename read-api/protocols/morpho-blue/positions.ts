import { morphoBalances, morphoMaxBorrow, ORACLE_PRICE_SCALE } from '../../../abi/morpho-blue/math.ts'
import type { Reading } from '../../catalogue/reading.ts'
import type { Vault } from '../../catalogue/vault.ts'
import { checksum } from '../../http/amounts.ts'
import type { LendingPosition } from '../../lending/family.ts'
import { positionId, quotient, ratio } from '../../lending/market.ts'
import { ask } from '../../moment/query.ts'
import type { Allocation } from '../../vaults/allocation.ts'
import { morphoRows, morphoStateAt } from './lending.ts'
import type { MorphoLendingMarket } from './market.ts'
import * as queries from './queries.ts'

/** In the units that the contract stores. */
interface Held {
  supplyShares: bigint
  borrowShares: bigint
  collateral: bigint
}

/** What an account has in markets of one chain. */
export async function morphoPositions(
  markets: readonly MorphoLendingMarket[],
  account: string,
  reading: Reading,
): Promise<LendingPosition[]> {
  const held = (await readHeld(markets[0]?.chainId ?? 0, [account], reading)).get(account)
  return markets.map(market => positionOf(market, account, held?.get(market.id)))
}

/** What each of these accounts, a hundred at most, has in the markets of a chain, by market. */
async function readHeld(
  chain: number,
  accounts: readonly string[],
  { deps, catalogue, signal }: Reading,
): Promise<Map<string, Map<string, Held>>> {
  const p = catalogue.chain(chain, 'lending')?.position ?? 0
  const asked = { chain, p, accounts: [...accounts] }
  const held = new Map<string, Map<string, Held>>(accounts.map(account => [account, new Map()]))
  for (const row of await ask(deps.clickhouse, queries.morphoPositions, asked, signal)) {
    held.get(row.account)?.set(row.market, {
      supplyShares: BigInt(row.supply_shares),
      borrowShares: BigInt(row.borrow_shares),
      collateral: BigInt(row.collateral),
    })
  }
  return held
}

/** What vaults have supplied of their assets to the markets of a chain, also to those of which an asset is not described. */
export async function morphoSupplies(
  _: readonly MorphoLendingMarket[],
  vaults: readonly string[],
  reading: Reading,
  chain: number,
): Promise<(vault: Vault) => Allocation[]> {
  const [rows, held] = await Promise.all([morphoRows(reading, chain), readHeld(chain, vaults, reading)])
  const at = reading.catalogue.chain(chain, 'lending')?.blockTime ?? 0
  return vault => {
    const { address, chainId, asset } = vault.state
    const { symbol } = vault.asset
    return rows.flatMap((row): Allocation[] => {
      const position = row.loan_asset === asset ? held.get(address)?.get(row.market) : undefined
      if (!position) return []
      const { state } = morphoStateAt(row, at)
      const { supplied: value } = morphoBalances(position, state)
      if (value === 0n) return []
      const collateral = row.collateral_asset && reading.catalogue.asset(chainId, row.collateral_asset)
      return [
        {
          name: row.collateral_asset
            ? `Morpho Blue ${collateral ? collateral.symbol : row.collateral_asset}/${symbol} ${percent(row.lltv)}`
            : `Morpho Blue ${symbol}, without borrowers`,
          address: checksum(row.morpho),
          assetSymbol: symbol,
          value,
          // A market without a collateral is where MetaMorpho parks what it does not lend.
          kind: row.collateral_asset ? 'deployed' : 'idle',
          utilization: ratio(state.borrowAssets, state.supplyAssets),
        },
      ]
    })
  }
}

/** @example percent('860000000000000000') → '86 %' */
const percent = (wad: string) => `${Number(BigInt(wad) / 10n ** 14n) / 100} %`

function positionOf(
  market: MorphoLendingMarket,
  account: string,
  position: Held = { supplyShares: 0n, borrowShares: 0n, collateral: 0n },
): LendingPosition {
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
    ...healthOf(market, position.collateral, borrowed),
  }
}

/** What _isHealthy of Morpho.sol weighs. */
function healthOf(market: MorphoLendingMarket, collateral: bigint, borrowed: bigint) {
  if (borrowed === 0n) return { ltv: 0, healthFactor: undefined }
  if (market.oraclePrice === undefined) return { ltv: undefined, healthFactor: undefined }
  const worth = (collateral * market.oraclePrice) / ORACLE_PRICE_SCALE
  const limit = morphoMaxBorrow(collateral, market.oraclePrice, market.params.lltv)
  return { ltv: quotient(borrowed, worth), healthFactor: quotient(limit, borrowed) }
}
