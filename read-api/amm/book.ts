import { DAY, WAD } from '../../db/units.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { perMoment } from '../catalogue/per-moment.ts'
import type { Standing } from '../catalogue/vault-state.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { NotFoundError } from '../http/errors.ts'
import { address, network } from '../http/parameters.ts'
import { ammFamilies } from '../load-protocols.ts'
import { askKept } from '../moment/kept.ts'
import { ask } from '../moment/query.ts'
import { type AmmStateRow, type AmmVaultRow, ammBalance, ammStates, ammVaults } from './queries.ts'
import type { AmmFigures, AmmGuard, AmmState, AmmVault, Side } from './vault.ts'

type Asking = Pick<EndpointContext, 'deps' | 'catalogue' | 'touch'>

/**
 * All vaults of liquidity of a chain as of the catalogue's moment, by address; without those that an operator ignores, or of
 * whose tokens one is not described.
 */
export function ammVaultsOf(context: Asking, chainId: number): Promise<AmmVault[]> {
  if (!context.catalogue.chain(chainId, 'amm')) return Promise.resolve([])
  context.touch(chainId)
  return readVaults(context, chainId)
}

const WINDOWS = { week: 7, month: 30 } as const

const readVaults = perMoment(async (context: Asking, chain: number): Promise<AmmVault[]> => {
  const { deps, catalogue } = context
  const { position = 0, blockTime = 0 } = catalogue.chain(chain, 'amm') ?? {}
  const pinned = { chain, p: position }
  const statesIn = async (since: number, until: number) => {
    const window = { since: Math.max(0, since), until: Math.max(0, until) }
    const rows = await ask(deps.clickhouse, ammStates, { ...pinned, ...window })
    return new Map(rows.map(row => [row.vault, stateOf(row)]))
  }
  // What began a window may have been read later than an hour before, but not by more than the window itself.
  const begun = (days: number) => statesIn(blockTime - 2 * days * DAY, blockTime - days * DAY)
  const [rows, now, week, month] = await Promise.all([
    askKept(context, ammVaults, chain, 'amm'),
    statesIn(0, blockTime),
    begun(WINDOWS.week),
    begun(WINDOWS.month),
  ])
  return rows.flatMap(
    row =>
      vaultOf(catalogue, chain, row, {
        now: now.get(row.vault),
        week: week.get(row.vault),
        month: month.get(row.vault),
      }) ?? [],
  )
})

interface States {
  now: AmmState | undefined
  week: AmmState | undefined
  month: AmmState | undefined
}

function vaultOf(
  catalogue: Catalogue,
  chainId: number,
  row: AmmVaultRow,
  states: States,
): AmmVault | undefined {
  const tokens = [catalogue.asset(chainId, row.token0), catalogue.asset(chainId, row.token1)]
  const [first, second] = tokens
  const family = ammFamilies.find(({ protocol }) => protocol === row.protocol)
  const takes = ([0, 1] as const).filter(side => (side === 0 ? row.takes_token0 : row.takes_token1))
  const isIgnored = [row.vault, row.factory].some(of => catalogue.facts.isIgnored(chainId, of))
  if (!first || !second || !family || isIgnored || takes.length === 0) return undefined
  const side: Side = takes.includes(1) ? 1 : 0
  const figured = (state: AmmState | undefined) => state && { at: state.at, ...family.figures(state, side) }
  const now = figured(states.now)
  const [week, month] = [aprOf(now, figured(states.week)), aprOf(now, figured(states.month))]
  return {
    chainId,
    address: row.vault,
    protocol: row.protocol,
    name: row.name,
    symbol: row.symbol,
    decimals: row.decimals,
    tokens: [first, second],
    takes,
    side,
    ...vouching(catalogue, chainId, row),
    state: states.now,
    figures: now,
    apr: { week: week ?? month, month: month ?? week },
  }
}

/** A state as it is stored. */
export function stateOf(row: Omit<AmmStateRow, 'vault'>): AmmState {
  const position = (liquidity: string | null, lower: number | null, upper: number | null) =>
    liquidity === null || lower === null || upper === null
      ? undefined
      : { liquidity: BigInt(liquidity), lower, upper }
  const base = position(row.base_liquidity, row.base_lower, row.base_upper)
  const limit = position(row.limit_liquidity, row.limit_lower, row.limit_upper)
  return {
    totals: [BigInt(row.total0), BigInt(row.total1)],
    supply: BigInt(row.supply),
    root: BigInt(row.root),
    meanTick: row.mean_tick ?? undefined,
    positions: base && limit && [base, limit],
    at: row.sampled_at,
  }
}

type Figured = AmmFigures & { at: number }

/** Simple interest per year of the value of a share between two states; undefined where they are not valued alike. */
function aprOf(now: Figured | undefined, then: Figured | undefined): number | undefined {
  if (!now || !then || now.isSpot !== then.isSpot || now.at <= then.at) return undefined
  if (now.supply === 0n || then.supply === 0n || then.value === 0n) return undefined
  const growth = (now.value * then.supply * WAD) / (then.value * now.supply)
  const apr = ((Number(growth) / 1e18 - 1) * 365 * DAY) / (now.at - then.at)
  return Number.isFinite(apr) ? apr : undefined
}

/**
 * Who vouches for a vault: the registry, for it (`listed`) or for the account for which a factory that it names made it
 * (`made`); `found` is everything else that factories made, for anybody. A guard knows its factory's vaults by that account.
 */
function vouching(
  { facts }: Catalogue,
  chainId: number,
  { vault, factory, creator }: AmmVaultRow,
): { standing: Standing; guard: AmmGuard | undefined } {
  const { ammFactory } = facts.contract(chainId, factory)
  const isMade = ammFactory?.deployer === creator
  const guard = isMade ? ammFactory.guard : undefined
  return {
    standing: facts.market(chainId, vault).listed ? 'listed' : isMade ? 'made' : 'found',
    guard: guard === undefined ? undefined : { address: guard, deployer: creator },
  }
}

export const ammPath = { network: network(), vaultId: address('The vault: address of the list.') }

/** The vault that a path names. */
export async function findAmmVault(
  params: { network: { name: string; chainId: number }; vaultId: string },
  context: Asking,
): Promise<AmmVault> {
  const vaults = await ammVaultsOf(context, params.network.chainId)
  const vault = vaults.find(of => of.address === params.vaultId)
  if (!vault)
    throw new NotFoundError(
      `There is no vault of liquidity ${params.vaultId} on ${params.network.name}. GET /beta/amm/deep/detailed-vaults lists them.`,
    )
  return vault
}

/** Shares that an account holds, base units, as of the catalogue's moment. */
export async function ammBalanceOf(
  { deps, catalogue }: Asking,
  { chainId, address: vault }: AmmVault,
  holder: string,
): Promise<bigint> {
  const { position = 0 } = catalogue.chain(chainId, 'amm') ?? {}
  const [row] = await ask(deps.clickhouse, ammBalance, { chain: chainId, p: position, vault, holder })
  return BigInt(row?.balance ?? '0')
}
