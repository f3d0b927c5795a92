import request from 'supertest'
import { keccak256, toHex } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { transferKey, ZERO_WORD } from '../../../abi/cctp-v2/message.ts'
import type { BlockEvents } from '../../../db/events/event-store.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { loadProjections } from '../../../jobs/projection.ts'
import { seededRandom } from '../../chain/random.ts'
import { type ApiHarness, startApi } from '../harness.ts'

/**
 * Random burns and receipts between two chains, many of them alike, receipts before their burns too, and forks on both sides,
 * against a model that knows nothing but lists.
 */

const CHAINS = [
  { id: 1, name: 'mainnet', domain: 0 },
  { id: 8453, name: 'base', domain: 6 },
] as const
type Chain = (typeof CHAINS)[number]
const WALLETS = Array.from({ length: 4 }, (_, i) => `0x${String(i + 1).repeat(40)}` as const)
const SOLANA_KEY = `0x${'5a'.repeat(32)}` as const
const START = 1_735_689_600

interface Move {
  chain: Chain
  block: number
  at: number
  kind: 'sent' | 'received'
  from: Chain
  toDomain: number
  depositor: string
  recipient: string
  amount: bigint
  transaction: string
  /** Place among all moves of the chain. */
  order: number
}

class World {
  readonly moves: Move[] = []
  private readonly random = seededRandom(2_026).next
  private readonly heights = new Map<Chain, number>(CHAINS.map(chain => [chain, 100]))
  private readonly positions = new Map<Chain, number>(CHAINS.map(chain => [chain, 0]))
  /** Of each chain, its blocks with the positions of their events. */
  private readonly blocks = new Map<Chain, { number: number; hash: string; from: number; to: number }[]>(
    CHAINS.map(chain => [chain, []]),
  )
  private count = 0
  forks = 0

  private pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)] as T
  }

  private move(chain: Chain, block: number, at: number): Move {
    const kind = this.random() < 0.55 ? 'sent' : 'received'
    const other = CHAINS.find(of => of !== chain) as Chain
    const toSolana = kind === 'sent' && this.random() < 0.1
    return {
      chain,
      block,
      at,
      kind,
      from: kind === 'sent' ? chain : other,
      toDomain: kind === 'sent' ? (toSolana ? 5 : other.domain) : chain.domain,
      depositor: this.pick(WALLETS),
      recipient: toSolana ? SOLANA_KEY : this.pick(WALLETS),
      amount: BigInt(1 + Math.floor(this.random() * 2)) * 1_000_000n,
      transaction: keccak256(toHex(`move ${++this.count}`)),
      order: this.count,
    }
  }

  /** A block of one chain, perhaps after a fork of a few. */
  step(): { chain: Chain; blocks: BlockEvents[] } {
    const chain = this.pick(CHAINS)
    const own = this.blocks.get(chain) ?? []
    const blocks: BlockEvents[] = []
    if (this.random() < 0.2 && own.length > 3) {
      this.forks++
      const depth = 1 + Math.floor(this.random() * 3)
      for (const { number, hash, from, to } of own.splice(-depth).reverse()) {
        blocks.push({
          block: { number, hash, timestamp: 0 },
          events: [
            {
              type: 'BlockRetracted',
              contract: '',
              data: { blockNumber: number, blockHash: hash, fromPosition: from, toPosition: to },
            },
          ],
        })
        this.positions.set(chain, (this.positions.get(chain) ?? 0) + 1)
        this.heights.set(chain, number - 1)
        for (const move of this.moves.filter(of => of.chain === chain && of.block === number))
          this.moves.splice(this.moves.indexOf(move), 1)
      }
    }
    const number = (this.heights.get(chain) ?? 0) + 1
    this.heights.set(chain, number)
    const timestamp = START + number * 12
    const hash = keccak256(toHex(`block ${chain.id} ${number} ${this.count}`))
    const moves = Array.from({ length: 1 + Math.floor(this.random() * 3) }, () =>
      this.move(chain, number, timestamp),
    )
    this.moves.push(...moves)
    const from = (this.positions.get(chain) ?? 0) + 1
    const to = from + moves.length - 1
    this.positions.set(chain, to)
    own.push({ number, hash, from, to })
    blocks.push({ block: { number, hash, timestamp }, events: moves.map(eventOf) })
    return { chain, blocks }
  }

  /** Burns without a receipt, the oldest taken for received first. */
  inTransit(wallet?: string): Move[] {
    const key = (move: Move) =>
      [move.from.domain, move.toDomain, move.depositor, move.recipient, move.amount].join()
    const arrived = new Map<string, number>()
    for (const move of this.moves.filter(({ kind }) => kind === 'received'))
      arrived.set(key(move), (arrived.get(key(move)) ?? 0) + 1)
    return this.moves
      .filter(({ kind }) => kind === 'sent')
      .sort((a, b) => a.block - b.block || a.order - b.order)
      .filter(move => {
        const left = arrived.get(key(move)) ?? 0
        if (left > 0) arrived.set(key(move), left - 1)
        return left === 0
      })
      .filter(move => !wallet || move.depositor === wallet || move.recipient === wallet)
  }
}

const word = (account: string) => `0x${account.slice(2).padStart(64, '0')}` as const
const TRANSMITTER = '0x81d40f21f12a8f0e3252bccb954d722d4c464b64'

function eventOf(move: Move, n: number): DomainEvent {
  const { depositor, recipient, amount, from } = move
  const token = `0x${'c0'.repeat(20)}` as const
  const key = transferKey({
    version: 1,
    burnToken: word(token),
    mintRecipient: word(recipient),
    amount,
    messageSender: word(depositor),
    maxFee: 0n,
    feeExecuted: 0n,
    expirationBlock: 0n,
    hookData: '0x',
  })
  const common = { token, depositor, recipient, amount, sourceDomain: from.domain, transferKey: key }
  const log = {
    contract: TRANSMITTER,
    protocol: 'cctp-v2',
    logIndex: n,
    transactionHash: move.transaction,
  }
  return move.kind === 'sent'
    ? {
        ...log,
        type: 'BridgeSent',
        data: {
          ...common,
          destinationDomain: move.toDomain,
          maxFee: 0n,
          minFinality: 2000,
          messageHash: ZERO_WORD,
        },
      }
    : {
        ...log,
        type: 'BridgeReceived',
        data: { ...common, nonce: keccak256(toHex(move.order)), fee: 0n, caller: depositor, finality: 2000 },
      }
}

let api: ApiHarness
beforeAll(async () => {
  const others = (await loadProjections()).filter(({ face }) => face !== 'core' && face !== 'bridge')
  api = await startApi({ without: others.map(({ name }) => name) })
})
afterAll(() => api?.stop())

it('is what a list of burns less a list of receipts leaves, at every step', async () => {
  const world = new World()
  let compared = 0
  for (let round = 0; round < 12; round++) {
    for (let i = 0; i < 20; i++) {
      const { chain, blocks } = world.step()
      await api.append(chain.id, chain.name, blocks)
    }
    await api.catchUp()
    for (const wallet of [...WALLETS, SOLANA_KEY.slice(0, 42)]) {
      const answer = await request(api.app)
        .get(`/alpha/transactions/cctp/money-in-transit/${wallet}`)
        .set('x-api-key', api.apiKey)
      expect(answer.status).toBe(200)
      const found = (answer.body.data as (Record<string, unknown> & { burnTxHash: string })[]).map(
        transit => ({
          ...transit,
          depositor: String(transit['depositor']).toLowerCase(),
          mintRecipient: String(transit['mintRecipient']).toLowerCase(),
          burnToken: '',
        }),
      )
      const expected = world.inTransit(wallet).map(move => ({
        burnToken: '',
        amountNative: String(move.amount),
        mintRecipient: move.recipient,
        destinationDomain: move.toDomain,
        status: 'pending',
        depositor: move.depositor,
        burnTxHash: move.transaction,
      }))
      const sorted = (list: { burnTxHash?: unknown }[]) =>
        [...list].sort((a, b) => (String(a.burnTxHash) < String(b.burnTxHash) ? -1 : 1))
      expect(sorted(found)).toEqual(sorted(expected))
      compared += expected.length
    }
    const table = await api.clickhouse.query({
      query: 'SELECT tx_hash FROM transfers_in_transit ORDER BY tx_hash',
      format: 'JSONEachRow',
    })
    const hashes = (await table.json<{ tx_hash: string }>()).map(({ tx_hash }) => tx_hash)
    expect(hashes).toEqual(
      world
        .inTransit()
        .map(({ transaction }) => transaction)
        .sort(),
    )
  }
  expect(compared).toBeGreaterThan(200)
  expect(world.forks).toBeGreaterThan(20)
}, 300_000)

it('status of what is no burn is 404, of what is no hash 400', async () => {
  const get = (transaction: string) =>
    request(api.app)
      .get('/alpha/transactions/cctp/status')
      .query({ burnTxHash: transaction, srcNetwork: 'mainnet' })
      .set('x-api-key', api.apiKey)
  expect((await get(`0x${'0f'.repeat(32)}`)).status).toBe(404)
  expect((await get('0x12')).status).toBe(400)
})
