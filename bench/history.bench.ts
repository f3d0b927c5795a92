import type { Database } from '@subsquid/util-internal-processor-tools'
import { networks } from '../db/networks.ts'
import { runChain } from '../processors/chain-processor.ts'
import { loadProtocols } from '../processors/load-protocols.ts'
import { calls } from '../test/chain/deploy.ts'
import { endow, startSmallChain } from '../test/faults/small-chain.ts'
import { runBare } from './bare-processor.ts'
import { type Bench, perSecond, timed } from './bench.ts'
import { startCounter } from './counter.ts'

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 20_000)
const EVERY = 500
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const DEPOSIT = '0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7'

export const bench: Bench = {
  about:
    `${BLOCKS.toLocaleString('en')} blocks of a local anvil, 12 s apart, a deposit in every ${EVERY}th and nothing else: history by RPC, ` +
    'with hourly samples of the vault, and the requests that it takes (those of a batch counted one by one). Beside it, in the same run on the ' +
    'same node: evm-processor, which reads every block whole, with a bare insert and nothing sampled.',
  async run(stage) {
    const chain = await startSmallChain(20_262)
    stage.afterwards(() => chain.node.stop())
    const { node, users, vaults } = chain
    const [vault] = vaults
    const [user] = users
    if (!vault || !user) throw new TypeError('a chain without vaults or users')
    await endow(node, vault, user)
    await node.mine()
    const first = (await node.head()).number + 1
    for (let at = 0; at < BLOCKS; at += EVERY) {
      await node.send(calls.deposit(user, vault.address, 1_000_000n))
      await node.mine()
      await node.mineEmpty(EVERY - 1, 12)
    }
    const last = (await node.head()).number
    await node.mineEmpty(networks.mainnet.finality, 12)
    const counter = await startCounter(stage, node.rpcUrl)

    stage.say('evm-processor, every block')
    const bare = await stage.postgres()
    await bare.pool.query('CREATE TABLE bare (block int, log int)')
    const database: Database<typeof bare.pool> = {
      async connect() {
        return { height: -1, hash: '0x' }
      },
      transact: async (_, handle) => handle(bare.pool),
    }
    const whole = await timed(() =>
      runBare(
        { rpc: counter.url, from: first, to: last, address: vault.address, topics: [DEPOSIT, TRANSFER] },
        database,
        async (to, blocks) => {
          const logs = blocks.flatMap(({ header, logs }) =>
            logs.map(({ logIndex }) => [header.height, logIndex] as const),
          )
          await to.query('INSERT INTO bare SELECT * FROM unnest($1::int[], $2::int[])', [
            logs.map(([block]) => block),
            logs.map(([, log]) => log),
          ])
        },
      ),
    )
    const wholeRequests = counter.take()

    stage.say('Vaultlog')
    const { pool } = await stage.postgres()
    const protocols = await loadProtocols()
    const ours = await timed(() =>
      runChain({
        network: networks.mainnet,
        protocols,
        pool,
        rpcUrls: [counter.url],
        contracts: { 'chainlink-feed': [] },
        listedVaults: [vault.address],
        startBlock: first,
        endBlock: last,
      }),
    )
    const requests = counter.take()
    const blocks = last - first + 1
    const { rows } = await pool.query<{ deposits: number }>(
      `SELECT count(*)::int AS deposits FROM event_log WHERE type = 'Deposited' AND block_number >= $1`,
      [first],
    )
    if (rows[0]?.deposits !== blocks / EVERY)
      throw new RangeError(`${rows[0]?.deposits} deposits stored, not ${blocks / EVERY}`)
    const per = (all: number) => Math.round((all / blocks) * 10_000).toLocaleString('en')
    return [
      {
        what: 'blocks',
        ours: perSecond(blocks, ours.ms),
        beside: `evm-processor ${perSecond(blocks, whole.ms)}`,
        ratio: whole.ms / ours.ms,
      },
      {
        what: 'requests per 10,000 blocks',
        ours: per(requests),
        beside: `evm-processor ${per(wholeRequests)}`,
        ratio: wholeRequests / requests,
      },
    ]
  },
}
