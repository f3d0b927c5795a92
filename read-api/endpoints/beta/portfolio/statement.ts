import { protocolName } from '../../../../db/protocols.ts'
import { SOLANA } from '../../../../db/streams.ts'
import { assetAt } from '../../../catalogue/assets.ts'
import { type Catalogue, keyOf } from '../../../catalogue/catalogue.ts'
import { compileFilter, networkFilter, type Unsupported as Unknown } from '../../../catalogue/filter.ts'
import { vaultFilter } from '../../../catalogue/filter-schema.ts'
import { byIdentity } from '../../../catalogue/orders.ts'
import { checksum } from '../../../http/amounts.ts'
import { defineEndpoint, type EndpointContext } from '../../../http/endpoint.ts'
import { choice, timestamp, wallets as walletList } from '../../../http/parameters.ts'
import { leftOutWarning, Unsupported } from '../../../http/shapes.ts'
import { widened, z } from '../../../http/zod.ts'
import { readRange, refuseFuture } from '../../../moment/time-range.ts'
import { type PaidReward, readRewards } from '../../../portfolio/paid-rewards.ts'
import { placesOf } from '../../../portfolio/places.ts'
import { readStakes, type StatedStake } from '../../../portfolio/read-stakes.ts'
import { readStatement } from '../../../portfolio/read-statement.ts'
import { stakeFilter } from '../../../portfolio/select-stakes.ts'
import type { Period } from '../../../portfolio/shares.ts'
import { totalOf, usdText } from '../../../portfolio/statement.ts'
import { NOT_INCLUDED, Statement } from '../../../portfolio/statement-schemas.ts'
import {
  assetsWire,
  type Line,
  networkOf,
  stakeLine,
  svmLine,
  usdWire,
  vaultLine,
} from '../../../portfolio/statement-wire.ts'
import { isSolana, passesSolana } from '../../../svm/select.ts'
import { readSvmStatement } from '../../../svm/statement.ts'

const MOST_WALLETS = 20

/** The filters of vaults, without those that judge by today's figures. */
const filters = z.object(vaultFilter).pick({
  allowedNetworks: true,
  disallowedNetworks: true,
  allowedAssets: true,
  disallowedAssets: true,
  allowedProtocols: true,
  disallowedProtocols: true,
  allowUnlisted: true,
})

const query = z.object({
  wallets: walletList('The wallets, of any of the networks together.', MOST_WALLETS),
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
})

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/portfolio/statement',
  summary: 'Statement of account of one or several wallets between two moments',
  description:
    'What the wallets together held of vaults, lent, owed, pledged, and held of fixed terms and of vaults of liquidity when the period began and ended, what they paid in and out, and what they gained: yield and effect of the price apart, realised and not. opening + deposits − withdrawals + transfersIn − transfersOut + gain = closing, and realised + unrealisedClosing − unrealisedOpening = gain, to the last digit, of each position and of their sums; statements of periods that follow each other add up. Debts count below zero: what is borrowed is paid out of them, what is repaid is paid in, and what a liquidation takes and repays is among the transfers. Movements at the first moment are before the period, those at the last are in it; what moves between the wallets within a position is no transfer: they count together, and so do the accounts that a wallet has in a protocol (Euler). Amounts are those after the last block at or before a moment: vaults at the last share price that was read by then, lending with interest up to the moment, principal tokens at the rate of the last trade, liquidity as it was last read. No log says what was paid in the asset for principal tokens and for shares of liquidity: they count at what they were worth at the end of the block, and as paid where a pool or the vault gave or took as many in it. Costs are reckoned from the first deposit of all, whenever the period begins: fifo takes the oldest first, average all at their average; what was received cost what it was worth then. In USD each flow counts at the price of its block, and yield at the price of the end of its day (UTC), or of the period. A day at whose end the asset had no price counts with the next that has one, within a week. On Solana shares count in token accounts and staked in the farm that a vault names, at the last price that was read or that the program wrote to its log; before the first of either, of which no node tells afterwards, nothing is known of their worth. What is not known is empty, in sums too, and `unknown` of a position says why. As `notIncluded` says, no yield tokens and no liquidity of fixed terms are in it, no deposits and redemptions that were asked for and are not carried out, and no rewards that were not claimed; `incompleteNetworks` names those whose blocks up to the end are not all read yet, of which a statement that begins there would lack the rest.',
  query,
  response: widened(Statement, { errors: Unsupported, ...leftOutWarning }),
  table: 'data',
  example: { query: { wallets: '{user}', fromTimestamp: '{timestamp}' } },
  cost: 10,
  cache: 'moment',
  face: ['lending', 'fixed-term', 'amm', 'svm'],
  async handler({ query }, context) {
    const { catalogue } = context
    const { method } = query
    const wallets = {
      evm: query.wallets.filter(wallet => !isOfSolana(wallet)),
      svm: query.wallets.filter(isOfSolana),
    }
    const networks = networksOf(query, wallets, context)
    // What is read of a chain later, of this very second too, would be in no statement: this one ends before it.
    const reached = Math.min(
      ...networks.flatMap(({ times }) => times.map(time => (time ?? Number.POSITIVE_INFINITY) - 1)),
    )
    const newest = Math.max(query.fromTimestamp, Number.isFinite(reached) ? reached : 0)
    const period = readRange({ toTimestamp: newest, ...query }, catalogue.moment)
    if (query.toTimestamp !== undefined) refuseFuture('toTimestamp', query.toTimestamp, catalogue.moment)
    context.touch(...networks.map(({ chain }) => chain))
    const { lines, rewards, leftOut, errors } = await readLines(query, wallets, period, context)
    context.leaveOut(leftOut, lines.length === 0)
    return {
      wallets: query.wallets.map(checksum),
      fromTimestamp: period.from,
      toTimestamp: period.to,
      method,
      total: { usd: usdWire(totalOf(lines.map(({ account }) => account.usd))) },
      assets: assetsWire(lines),
      data: lines.map(({ wire }) => wire),
      rewards: rewards.flatMap(of => rewardWire(of, catalogue)),
      notIncluded: [
        ...(wallets.evm.length > 0 ? NOT_INCLUDED.evm : []),
        ...(wallets.svm.length > 0 ? NOT_INCLUDED.svm : []),
      ],
      incompleteNetworks: networks
        .filter(({ times }) => times.some(time => (time ?? 0) <= period.to))
        .flatMap(({ chain }) => networkOf(chain)?.name ?? []),
      errors,
    }
  },
})

const isOfSolana = (wallet: string) => wallet.length === 66

type Query = z.output<typeof query>
interface Wallets {
  evm: string[]
  svm: string[]
}

/** What a statement is made of. */
const FACES = ['core', 'lending', 'fixed-term', 'amm'] as const

/** The networks that a statement of wallets is of, each with the times up to which its parts are read. */
function networksOf(query: Query, { evm, svm }: Wallets, { catalogue }: EndpointContext) {
  const chains = evm.length > 0 ? [...catalogue.moment.chains.keys()].filter(networkFilter(query)) : []
  return [
    ...chains.map(chain => ({ chain, times: FACES.map(face => catalogue.chain(chain, face)?.blockTime) })),
    ...(svm.length > 0 && passesSolana(query)
      ? [{ chain: SOLANA.id, times: [catalogue.chain(SOLANA.id, 'svm')?.blockTime] }]
      : []),
  ]
}

async function readLines(query: Query, wallets: Wallets, period: Period, context: EndpointContext) {
  const { shown } = context
  const filter = compileFilter({ ...query, allowCorrupted: true }, shown)
  const leftOut = new Set<string>()
  const passes = stakeFilter(query, shown)
  const places = await placesOf(wallets.evm, networkFilter(query), context)
  const asked = { places, method: query.method, ...period }
  const svm = { wallets: passesSolana(query) ? wallets.svm : [], method: query.method, ...period }
  const [positions, stakes, rewards, solana] = await Promise.all([
    readStatement(
      asked,
      vault => {
        if (filter.isLeftOut(vault)) leftOut.add(keyOf(vault.state.chainId, vault.state.address))
        return filter.matches(vault)
      },
      context,
    ),
    readStakes(
      asked,
      place => {
        if (!passes(place)) return false
        const isShown = place.isVouchedFor || shown.withUnlisted
        if (!isShown) leftOut.add(keyOf(place.chainId, place.id))
        return isShown
      },
      context,
    ),
    readRewards(asked, context),
    readSvmStatement(svm, query, context),
  ])
  // What is lent to a market is shown, though its contract is no vault that anybody vouches for.
  for (const { place } of stakes)
    if (place.kind === 'supplied') leftOut.delete(keyOf(place.chainId, place.address))
  const lines = [
    ...positions.sort((a, b) => byIdentity(a.vault, b.vault)).flatMap(vaultLine),
    ...stakes.sort(byPlace).flatMap(stakeLine),
    ...solana.positions.flatMap(of => svmLine(of, context.catalogue)),
  ]
  return {
    lines,
    rewards,
    leftOut: leftOut.size + solana.leftOut.length,
    errors: unknownTo(filter.errors, lines, context),
  }
}

/** Names that no vault has and no position, either. */
function unknownTo(errors: Unknown, lines: readonly Line[], { catalogue }: EndpointContext): Unknown {
  const isServed = catalogue.chain(SOLANA.id, 'svm') !== undefined
  const names = new Set(
    lines.flatMap(({ asset, wire: { protocol } }) =>
      [asset.symbol, asset.address, asset.assetCaip, protocol.name, protocol.protocolId ?? protocol.name].map(
        name => name.toLowerCase(),
      ),
    ),
  )
  const left = (of: string[]) => of.filter(name => !names.has(name.toLowerCase()))
  return {
    unsupportedNetworks: errors.unsupportedNetworks.filter(name => !(isServed && isSolana(name))),
    unsupportedAssets: left(errors.unsupportedAssets),
    unsupportedProtocols: left(errors.unsupportedProtocols),
  }
}

function rewardWire({ chainId, token, source, amount, usd }: PaidReward, catalogue: Catalogue) {
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
}

const nameOf = ({ place: { kind, protocol, id, asset } }: StatedStake) =>
  [kind, protocol.name, id, asset.address].join(' ')
const byPlace = (a: StatedStake, b: StatedStake) =>
  a.place.chainId - b.place.chainId || (nameOf(a) < nameOf(b) ? -1 : 1)
