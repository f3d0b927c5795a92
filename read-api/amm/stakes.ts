import { groupBy } from '../../db/group-by.ts'
import { protocolName } from '../../db/protocols.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { ammFamilies } from '../load-protocols.ts'
import { inChunks } from '../moment/chunks.ts'
import { lastBy } from '../moment/last-by.ts'
import { ask } from '../moment/query.ts'
import { inTimes } from '../moment/states-at.ts'
import { ROW_LIMIT, refuseTooMany, type Stake, type StakeStep } from '../portfolio/stake.ts'
import { ammVaultsOf, stateOf } from './book.ts'
import { ammHeld, ammSharesByBlock, ammStatesAt } from './queries.ts'
import type { AmmVault } from './vault.ts'

/** What accounts held of vaults of liquidity up to a moment (unix seconds), for statements: of each a position in either token. */
export async function ammStakes(
  { chain, accounts, to }: { chain: number; accounts: readonly string[]; to: number },
  context: EndpointContext,
): Promise<Stake[]> {
  const vaults = new Map((await ammVaultsOf(context, chain)).map(vault => [vault.address, vault]))
  const p = context.catalogue.chain(chain, 'amm')?.position ?? 0
  const asked = { chain, p, accounts: [...accounts], to, limit: ROW_LIMIT }
  // What was paid for shares that nobody held is not read.
  const held = await inChunks([...vaults.keys()], names =>
    ask(
      context.deps.clickhouse,
      ammHeld,
      { chain, p, accounts: [...accounts], vaults: names },
      context.signal,
    ),
  )
  const rows = await inChunks(
    held.map(({ vault }) => vault),
    names => ask(context.deps.clickhouse, ammSharesByBlock, { ...asked, vaults: names }, context.signal),
  )
  refuseTooMany(rows.length)
  return [...groupBy(rows, ({ vault, account }) => `${vault} ${account}`).values()].flatMap(own => {
    const [first] = own
    const vault = vaults.get(first?.vault ?? '')
    if (!first || !vault) return []
    const steps = own.map(
      ({ at, block, balance, is_paid }): StakeStep => ({
        at,
        block,
        units: BigInt(balance),
        ...(is_paid ? { paid: 'worth' as const } : {}),
      }),
    )
    return ([0, 1] as const).map((side): Stake => {
      const values: Stake['values'] = async times => {
        const stateAt = await readStates(vault, times, context)
        return (step, at) => {
          const { amounts, supply } = stateAt(at) ?? {}
          if (!amounts || !supply) return undefined
          return (amounts[side] * (steps[step]?.units ?? 0n)) / supply
        }
      }
      return {
        kind: 'amm',
        chainId: chain,
        account: first.account,
        protocol: { name: protocolName(vault.protocol), protocolId: vault.protocol },
        id: vault.address,
        address: vault.address,
        name: vault.symbol || vault.name,
        asset: vault.tokens[side],
        isVouchedFor: vault.standing !== 'found',
        steps,
        values,
      }
    })
  })
}

/** What a vault was at the last state before each moment, as lists value it. */
async function readStates(
  { chainId, address, protocol, side }: AmmVault,
  times: readonly number[],
  { deps, catalogue, signal }: EndpointContext,
) {
  const family = ammFamilies.find(of => of.protocol === protocol)
  const pinned = { chain: chainId, p: catalogue.chain(chainId, 'amm')?.position ?? 0, vault: address }
  const rows = await inTimes(times, some => ask(deps.clickhouse, ammStatesAt, { ...pinned, ...some }, signal))
  const known = rows.map(row => ({
    at: row.at,
    figures: family?.figures(stateOf({ ...row, sampled_at: row.at }), side),
  }))
  return (at: number) => lastBy(known, at)?.figures
}
