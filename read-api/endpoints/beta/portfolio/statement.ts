import { groupBy } from '../../../../db/group-by.ts'
import { networkOfChain } from '../../../../db/networks.ts'
import { protocolName } from '../../../../db/protocols.ts'
import { assetAt } from '../../../catalogue/assets.ts'
import { keyOf } from '../../../catalogue/catalogue.ts'
import { compileFilter, networkFilter } from '../../../catalogue/filter.ts'
import { vaultFilter } from '../../../catalogue/filter-schema.ts'
import { byIdentity } from '../../../catalogue/orders.ts'
import { identityOf } from '../../../catalogue/wire.ts'
import { checksum } from '../../../http/amounts.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { addresses, choice, timestamp } from '../../../http/parameters.ts'
import { leftOutWarning, Unsupported } from '../../../http/shapes.ts'
import { widened, z } from '../../../http/zod.ts'
import { readRange, refuseFuture } from '../../../moment/time-range.ts'
import { readRewards, readStatement } from '../../../portfolio/read-statement.ts'
import { totalOf, usdText } from '../../../portfolio/statement.ts'
import { NOT_INCLUDED, nativeWire, Statement, usdWire } from '../../../portfolio/statement-schemas.ts'

const MOST_WALLETS = 20

/** Nothing that is judged by today's figures. */
const filters = z.object(vaultFilter).pick({
  allowedNetworks: true,
  disallowedNetworks: true,
  allowedAssets: true,
  disallowedAssets: true,
  allowedProtocols: true,
  disallowedProtocols: true,
  allowUnlisted: true,
})

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/portfolio/statement',
  summary: 'Statement of account of one or several wallets between two moments',
  description:
    'What the wallets together held of vaults when the period began and ended, what they paid in and out, and what they gained: yield and effect of the price apart, realised and not. opening + deposits − withdrawals + transfersIn − transfersOut + gain = closing, and realised + unrealisedClosing − unrealisedOpening = gain, to the last digit; statements of periods that follow each other add up. Movements at the first moment are before the period, those at the last are in it; shares that move between the wallets are no transfer. Amounts are those after the last block at or before a moment, at the last share price that was read by then. Costs are reckoned from the first deposit of all, whenever the period begins: fifo takes the oldest shares first, average all at their average; shares that were received cost what they were worth then. In USD each flow counts at the price of its block, and yield at the price of the end of its day (UTC), or of the period. Nothing of lending markets (no debts, either), fixed terms, vaults of liquidity and Solana is in it; `incompleteNetworks` names those whose blocks up to the end are not all read yet, of which a statement that begins there would lack the rest.',
  query: z.object({
    wallets: addresses('The wallets.', MOST_WALLETS),
    fromTimestamp: timestamp().openapi({ description: 'Unix seconds: the period begins after it.' }),
    toTimestamp: timestamp().optional().openapi({
      description: 'Unix seconds; the newest moment that all of the networks have reached where absent.',
    }),
    method: choice(['fifo', 'average'])
      .optional()
      .transform(value => value ?? 'fifo')
      .openapi({
        type: 'string',
        enum: ['fifo', 'average'],
        default: 'fifo',
        description: 'Which shares go first where some of them go.',
      }),
    ...filters.shape,
  }),
  response: widened(Statement, { errors: Unsupported, ...leftOutWarning }),
  table: 'data',
  example: { query: { wallets: '{user}', fromTimestamp: '{timestamp}' } },
  cost: 10,
  cache: 'moment',
  async handler({ query }, context) {
    const { catalogue, shown } = context
    const { wallets, method } = query
    const wants = networkFilter(query)
    const chains = [...catalogue.moment.chains].filter(([chain]) => wants(chain))
    // What is read of a chain later, of this very second too, would be in no statement: this one ends before it.
    const reached = Math.min(...chains.map(([, { blockTime }]) => blockTime - 1))
    const newest = Math.max(query.fromTimestamp, Number.isFinite(reached) ? reached : 0)
    const period = readRange({ toTimestamp: newest, ...query }, catalogue.moment)
    if (query.toTimestamp !== undefined) refuseFuture('toTimestamp', query.toTimestamp, catalogue.moment)
    const filter = compileFilter({ ...query, allowCorrupted: true }, shown)
    const leftOut = new Set<string>()
    context.touch(...catalogue.moment.chains.keys())
    const [unsorted, rewards] = await Promise.all([
      readStatement(
        { wallets, method, ...period },
        vault => {
          if (filter.isLeftOut(vault)) leftOut.add(keyOf(vault.state.chainId, vault.state.address))
          return filter.matches(vault)
        },
        context,
      ),
      readRewards({ wallets, ...period }, wants, context),
    ])
    const positions = unsorted.sort((a, b) => byIdentity(a.vault, b.vault))
    context.leaveOut(leftOut.size, positions.length === 0)
    return {
      wallets: wallets.map(checksum),
      fromTimestamp: period.from,
      toTimestamp: period.to,
      method,
      total: { usd: usdWire(totalOf(positions.map(({ account }) => account.usd))) },
      assets: [...groupBy(positions, ({ vault }) => vault.asset.key).values()].flatMap(of => {
        const [first] = of
        if (!first) return []
        const { asset, network } = first.vault
        return {
          asset: { ...assetAt(asset, undefined), network },
          native: nativeWire(totalOf(of.map(({ account }) => account.native))),
          usd: usdWire(totalOf(of.map(({ account }) => account.usd))),
        }
      }),
      data: positions.map(({ vault, openingShares, closingShares, account }) => {
        const { vaultId, address, name, network } = identityOf(vault)
        return {
          vaultId,
          address,
          name,
          network,
          protocol: vault.protocol,
          asset: assetAt(vault.asset, undefined),
          shares: { opening: openingShares.toString(), closing: closingShares.toString() },
          native: nativeWire(account.native),
          usd: usdWire(account.usd),
        }
      }),
      rewards: rewards.flatMap(({ chainId, token, source, amount, usd }) => {
        const network = networkOfChain(chainId)
        const asset = catalogue.asset(chainId, token)
        if (!network) return []
        return {
          network: { name: network.name, chainId, networkCaip: network.networkCaip },
          token: checksum(token),
          ...(asset ? { asset: assetAt(asset, undefined) } : {}),
          source: protocolName(source),
          amountNative: amount.toString(),
          amountUsd: usdText(usd),
        }
      }),
      notIncluded: [...NOT_INCLUDED],
      incompleteNetworks: chains.flatMap(([chain, { blockTime }]) =>
        blockTime <= period.to ? (networkOfChain(chain)?.name ?? []) : [],
      ),
      errors: filter.errors,
    }
  },
})
