import { allowUnlisted } from '../../../catalogue/filter-schema.ts'
import { identityOf } from '../../../catalogue/wire.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { timestamp, userAddress } from '../../../http/parameters.ts'
import { Address, AssetShape, leftOutWarning, NetworkShape, ProtocolShape } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { ask } from '../../../moment/query.ts'
import { asOfParameter } from '../../../moment/snapshot.ts'
import { readRange } from '../../../moment/time-range.ts'
import { positionsInWindow } from '../../../portfolio/queries.ts'

export default defineEndpoint({
  tier: 'alpha',
  method: 'get',
  path: '/historical-positions/{userAddress}',
  summary: 'Vaults that a wallet held in a window: at its start, or taken up inside it',
  params: z.object({ userAddress: userAddress() }),
  query: z.object({
    fromTimestamp: timestamp().optional(),
    toTimestamp: timestamp().optional(),
    allowUnlisted,
  }),
  response: z.strictObject({
    historicalPositions: z.array(
      z
        .strictObject({
          address: Address,
          vaultId: z.string(),
          network: NetworkShape,
          name: z.string(),
          protocol: ProtocolShape,
          asset: AssetShape,
          active: z.boolean().openapi({ description: 'Held still.' }),
        })
        .openapi('HistoricalPosition'),
    ),
    ...leftOutWarning,
  }),
  table: 'historicalPositions',
  example: { params: { userAddress: '{user}' } },
  cost: 5,
  cache: 'moment',
  async handler({ params, query }, { deps, catalogue, shown, signal, touch, leaveOut }) {
    touch(...catalogue.moment.chains.keys())
    const rows = await ask(
      deps.clickhouse,
      positionsInWindow,
      {
        account: params.userAddress,
        as_of: asOfParameter(catalogue.moment),
        ...readRange(query, catalogue.moment),
      },
      signal,
    )
    const held = rows.flatMap(row => {
      const vault = catalogue.find(row.chain_id, row.vault)
      return vault ? [{ row, vault }] : []
    })
    const visible = held.filter(({ vault }) => shown.has(vault))
    leaveOut(held.length - visible.length, visible.length === 0)
    return {
      historicalPositions: visible.map(({ row, vault }) => {
        const { address, vaultId, network, name, asset } = identityOf(vault)
        return { address, vaultId, network, name, protocol: vault.protocol, asset, active: row.is_open }
      }),
    }
  },
})
