import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import type { Engine } from '../../jobs/engine.ts'
import { type Positioned, RandomChain } from '../../jobs/streams.ts'
import { svmHistory } from '../../jobs/svm-acts.ts'
import { log as analysts, forkedBlock } from './analyst-world.ts'
import { fact, fill, SOLANA } from './fill.ts'

export const chain = new RandomChain(5).grow(140)
const [known] = chain.canonical().filter(({ event }) => event.type === 'VaultDiscovered')
export const vault = known?.event.contract ?? ''
const asset = known?.event.type === 'VaultDiscovered' ? known.event.data.asset : ''
export const feed = chain
  .canonical()
  .flatMap(({ event }) => (event.type === 'PriceReported' ? [event.data.feed] : []))[0]

/** One that counts in a benchmark. */
export const LARGE = `0x${'a1'.repeat(20)}`
const LARGE_ASSET = `0x${'a2'.repeat(20)}`
function largeVault(last: number, days: readonly Positioned[]): Positioned[] {
  const described: DomainEvent = {
    type: 'VaultDiscovered',
    contract: LARGE,
    data: {
      vault: LARGE,
      protocol: 'erc-4626',
      name: 'Large',
      symbol: 'large',
      decimals: 18,
      asset: LARGE_ASSET,
      assetName: 'USD Coin',
      assetSymbol: 'USDC',
      assetDecimals: 18,
    },
  }
  return days
    .flatMap(({ block, event }, i) => {
      const sample = { ...event, contract: LARGE, data: { ...event.data, vault: LARGE } } as DomainEvent
      return (i === 0 ? [described, sample] : [sample]).map(event => ({ position: 0, block, event }))
    })
    .map((entry, i) => ({ ...entry, position: last + 1 + i }))
}

/** Something of everything that the document's examples ask for. */
export async function fillWithExamples(engine: Engine): Promise<void> {
  const last = chain.log.at(-1)
  if (!last) throw new Error('the chain is empty')
  const charged: Positioned = {
    position: last.position + 1,
    block: last.block,
    event: { type: 'FeeChanged', contract: vault, data: { kind: 'performance', feeWad: 10n ** 17n } },
  }
  // The chain's own samples are far between: a few of them a day apart, that days have an APY.
  const daily = [1, 2, 3, 4].map(
    (day): Positioned => ({
      position: charged.position + day,
      block: {
        number: last.block.number + day,
        hash: `0x${String(day).repeat(64)}`,
        timestamp: last.block.timestamp + day * 86_400,
      },
      event: {
        type: 'StateSampled',
        contract: vault,
        data: {
          vault,
          reason: 'hourly',
          totalAssets: 2n * 10n ** 24n,
          totalSupply: 2n * 10n ** 24n,
          sharePrice: 10n ** 18n,
          decimals: 18,
          assetDecimals: 18,
        },
      },
    }),
  )
  const vaults = [...chain.log, charged, ...daily, ...largeVault(charged.position + daily.length, daily)]
  const streams: [number, Positioned[]][] = [
    [1, withReserve([...vaults, ...transfers(vaults)])],
    [SOLANA, svmHistory(5, 60)],
    [
      0,
      [
        fact(1, `asset:1:${asset}`, 'feed', { feed, decimals: 8 }),
        fact(2, `vault:1:${vault}`, 'tags', ['stable']),
        fact(3, `vault:1:${vault}`, 'listed', { protocol: 'acme' }),
        fact(4, `vault:1:${LARGE}`, 'listed', { protocol: 'acme' }),
        fact(5, `vault:1:${LARGE}`, 'curator', 'acme'),
        fact(6, `asset:1:${LARGE_ASSET}`, 'peg', { usd: '1' }),
        fact(7, `contract:1:0x${'5b'.repeat(20)}`, 'ignored', {}),
      ],
    ],
  ]
  await fill(engine, streams)
}

/** Followed by a pool's reserves, which the random chain has no tokens of. */
function withReserve(before: readonly Positioned[]): Positioned[] {
  const reserves = analysts.filter(
    ({ event: { protocol }, block }) => protocol === 'aave-v3' && block.number < forkedBlock,
  )
  return [...before, ...reserves.map((entry, i) => ({ ...entry, position: before.length + 1 + i }))]
}

/** Two alike left for another chain, and one came. */
function transfers(after: readonly Positioned[]): Positioned[] {
  const last = after.at(-1)
  if (!last) throw new TypeError('no events')
  const { number, timestamp } = last.block
  const hash = `0x${'b1'.repeat(32)}`
  const common = {
    token: `0x${'b2'.repeat(20)}`,
    depositor: depositOf().owner,
    recipient: depositOf().owner,
    amount: 5n,
    transferKey: hash,
  }
  const log = { contract: `0x${'b3'.repeat(20)}`, protocol: 'cctp-v2', transactionHash: hash }
  const sent = {
    ...common,
    sourceDomain: 0,
    destinationDomain: 6,
    maxFee: 0n,
    minFinality: 2000,
    messageHash: hash,
  }
  const received = {
    ...common,
    sourceDomain: 6,
    nonce: hash,
    fee: 1n,
    caller: common.depositor,
    finality: 2000,
  }
  const events: DomainEvent[] = [
    { ...log, type: 'BridgeSent', logIndex: 0, data: sent },
    { ...log, type: 'BridgeSent', logIndex: 1, data: sent },
    { ...log, type: 'BridgeReceived', logIndex: 2, data: received },
  ]
  return events.map((event, i) => ({
    position: last.position + 1 + i,
    block: { number: number + 1, hash, timestamp: timestamp + 1 },
    event,
  }))
}

/** A wallet that deposited, and the day. */
export function depositOf(): { owner: string; day: string } {
  const [deposit] = chain
    .canonical()
    .flatMap(({ event, block }) =>
      event.type === 'Deposited' && event.contract === vault
        ? [{ owner: event.data.owner, day: new Date(block.timestamp * 1000).toISOString().slice(0, 10) }]
        : [],
    )
  if (!deposit) throw new Error('nobody deposited')
  return deposit
}
