import { groupBy } from '../../../../db/group-by.ts'
import { networkOfChain } from '../../../../db/networks.ts'
import { protocolName } from '../../../../db/protocols.ts'
import { assetAt } from '../../../catalogue/assets.ts'
import { keyOf } from '../../../catalogue/catalogue.ts'
import { compileFilter, networkFilter, type Unsupported as Unknown } from '../../../catalogue/filter.ts'
import { vaultFilter } from '../../../catalogue/filter-schema.ts'
import { byIdentity } from '../../../catalogue/orders.ts'
import { identityOf } from '../../../catalogue/wire.ts'
import { checksum, checksumIn } from '../../../http/amounts.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { addresses, choice, timestamp } from '../../../http/parameters.ts'
import { leftOutWarning, Unsupported } from '../../../http/shapes.ts'
import { widened, z } from '../../../http/zod.ts'
import { namesOf } from '../../../lending/select.ts'
import { readRange, refuseFuture } from '../../../moment/time-range.ts'
import { readStakes, type StatedStake } from '../../../portfolio/read-stakes.ts'
import { readRewards, readStatement, type StatedPosition } from '../../../portfolio/read-statement.ts'
import { stakeFilter } from '../../../portfolio/select-stakes.ts'
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
    'What the wallets together held of vaults, lent, owed, pledged, and held of fixed terms and of vaults of liquidity when the period began and ended, what they paid in and out, and what they gained: yield and effect of the price apart, realised and not. opening + deposits − withdrawals + transfersIn − transfersOut + gain = closing, and realised + unrealisedClosing − unrealisedOpening = gain, to the last digit, of each position and of their sums; statements of periods that follow each other add up. Debts count below zero: what is borrowed is paid out of them, what is repaid is paid in, and what a liquidation takes and repays is among the transfers. Movements at the first moment are before the period, those at the last are in it; shares of a vault that move between the wallets are no transfer. Amounts are those after the last block at or before a moment: vaults at the last share price that was read by then, lending with interest up to the moment, principal tokens at the rate of the last trade, liquidity as it was last read. No log says what was paid in the asset for principal tokens and for shares of liquidity: they count at what they were worth at the end of the block, and as paid where a pool or the vault gave or took as many in it. Costs are reckoned from the first deposit of all, whenever the period begins: fifo takes the oldest first, average all at their average; what was received cost what it was worth then. In USD each flow counts at the price of its block, and yield at the price of the end of its day (UTC), or of the period. Nothing of Solana is in it, whose wallets have other addresses, and, as `notIncluded` says, no yield tokens and no liquidity of fixed terms, no deposits and redemptions that were asked for and are not carried out, and no rewards that were not claimed; `incompleteNetworks` names those whose blocks up to the end are not all read yet, of which a statement that begins there would lack the rest.',
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
    const reached = Math.min(
      ...chains.flatMap(([chain]) =>
        FACES.flatMap(face => (catalogue.chain(chain, face)?.blockTime ?? Number.POSITIVE_INFINITY) - 1),
      ),
    )
    const newest = Math.max(query.fromTimestamp, Number.isFinite(reached) ? reached : 0)
    const period = readRange({ toTimestamp: newest, ...query }, catalogue.moment)
    if (query.toTimestamp !== undefined) refuseFuture('toTimestamp', query.toTimestamp, catalogue.moment)
    const filter = compileFilter({ ...query, allowCorrupted: true }, shown)
    const leftOut = new Set<string>()
    context.touch(...catalogue.moment.chains.keys())
    const passes = stakeFilter(query, shown)
    const [unsorted, stakes, rewards] = await Promise.all([
      readStatement(
        { wallets, method, ...period },
        vault => {
          if (filter.isLeftOut(vault)) leftOut.add(keyOf(vault.state.chainId, vault.state.address))
          return filter.matches(vault)
        },
        context,
      ),
      readStakes(
        { wallets, method, ...period },
        wants,
        stake => {
          if (!passes(stake)) return false
          const isShown = stake.isVouchedFor || shown.withUnlisted
          if (!isShown) leftOut.add(keyOf(stake.chainId, stake.id))
          return isShown
        },
        context,
      ),
      readRewards({ wallets, ...period }, wants, context),
    ])
    // What is lent to a market is shown, though its contract is no vault that anybody vouches for.
    for (const { stake } of stakes)
      if (stake.kind === 'supplied') leftOut.delete(keyOf(stake.chainId, stake.address))
    const positions = unsorted.sort((a, b) => byIdentity(a.vault, b.vault))
    const all = [
      ...positions.map(({ vault, account }) => ({ asset: vault.asset, account })),
      ...stakes.map(({ stake, account }) => ({ asset: stake.asset, account })),
    ]
    context.leaveOut(leftOut.size, all.length === 0)
    return {
      wallets: wallets.map(checksum),
      fromTimestamp: period.from,
      toTimestamp: period.to,
      method,
      total: { usd: usdWire(totalOf(all.map(({ account }) => account.usd))) },
      assets: [...groupBy(all, ({ asset }) => asset.key).values()].flatMap(of => {
        const [first] = of
        const network = first && networkOf(first.asset.chainId)
        if (!network) return []
        return {
          asset: { ...assetAt(first.asset, undefined), network },
          native: nativeWire(totalOf(of.map(({ account }) => account.native))),
          usd: usdWire(totalOf(of.map(({ account }) => account.usd))),
        }
      }),
      data: [...positions.map(positionWire), ...stakes.sort(byPlace).flatMap(stakeWire)],
      rewards: rewards.flatMap(({ chainId, token, source, amount, usd }) => {
        const network = networkOf(chainId)
        const asset = catalogue.asset(chainId, token)
        if (!network) return []
        return {
          network,
          token: checksum(token),
          ...(asset ? { asset: assetAt(asset, undefined) } : {}),
          source: protocolName(source),
          amountNative: amount.toString(),
          amountUsd: usdText(usd),
        }
      }),
      notIncluded: [...NOT_INCLUDED],
      incompleteNetworks: chains.flatMap(([chain]) =>
        FACES.some(face => (catalogue.chain(chain, face)?.blockTime ?? 0) <= period.to)
          ? (networkOf(chain)?.name ?? [])
          : [],
      ),
      errors: unknownTo(filter.errors, stakes),
    }
  },
})

/** Names that no vault has and no position, either. */
function unknownTo(errors: Unknown, stakes: readonly StatedStake[]): Unknown {
  const names = new Set(
    stakes.flatMap(({ stake: { asset, protocol } }) => [
      ...namesOf(asset),
      protocol.name,
      protocol.protocolId ?? protocol.name,
    ]),
  )
  const left = (of: string[]) => of.filter(name => !names.has(name.toLowerCase()))
  return {
    ...errors,
    unsupportedAssets: left(errors.unsupportedAssets),
    unsupportedProtocols: left(errors.unsupportedProtocols),
  }
}

/** What a statement is made of. */
const FACES = ['core', 'lending', 'fixed-term', 'amm'] as const

function networkOf(chain: number) {
  const network = networkOfChain(chain)
  return network && { name: network.name, chainId: network.chainId, networkCaip: network.networkCaip }
}

function positionWire({ vault, openingShares, closingShares, account }: StatedPosition) {
  const { vaultId, address, name, network } = identityOf(vault)
  return {
    kind: 'vault' as const,
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
}

function stakeWire({ stake, openingUnits, closingUnits, account }: StatedStake) {
  const network = networkOf(stake.chainId)
  if (!network) return []
  return {
    kind: stake.kind,
    [stake.kind === 'amm' || stake.kind === 'fixed-term' ? 'vaultId' : 'marketId']: checksumIn(stake.id),
    account: checksum(stake.account),
    address: checksum(stake.address),
    name: stake.name,
    network,
    protocol: stake.protocol,
    asset: assetAt(stake.asset, undefined),
    shares: { opening: openingUnits.toString(), closing: closingUnits.toString() },
    native: nativeWire(account.native),
    usd: usdWire(account.usd),
  }
}

const placeOf = ({ stake }: StatedStake) =>
  [stake.kind, stake.protocol.name, stake.id, stake.asset.address, stake.account].join(' ')
const byPlace = (a: StatedStake, b: StatedStake) =>
  a.stake.chainId - b.stake.chainId || (placeOf(a) < placeOf(b) ? -1 : 1)
