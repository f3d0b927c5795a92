import type { Address } from 'viem'
import { createKey } from '../db/keys/keys.ts'
import { API_COMMAND } from '../db/process/api-command.ts'
import { freePort } from '../test/chain/anvil-process.ts'
import { calls } from '../test/chain/deploy.ts'
import { balancesOf } from '../test/chain/views.ts'
import { start } from '../test/faults/command.ts'
import { type SmallChain, startSmallChain } from '../test/faults/small-chain.ts'
import { type Bench, peakMemory, percentiles, type Result } from './bench.ts'

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 150)
const BLOCK_MS = 2_000
const ASK_EVERY_MS = 10
const GIVE_UP_MS = 30_000

interface Mined {
  at: number
  shares: bigint
}

async function deposit(chain: SmallChain, user: Address, vault: Address): Promise<Mined> {
  await chain.node.send(calls.deposit(user, vault, 1_000_003n))
  await chain.node.mine()
  const at = performance.now()
  return { at, shares: (await balancesOf(chain.node, vault, [user])).get(user) ?? 0n }
}

/** Milliseconds from the block to the first answer that shows it, or what came after it. */
async function within({ at, shares }: Mined, shown: () => Promise<bigint>): Promise<number> {
  while ((await shown()) < shares) {
    if (performance.now() - at > GIVE_UP_MS) throw new RangeError('a block never appeared')
    await new Promise(resolve => setTimeout(resolve, ASK_EVERY_MS))
  }
  return performance.now() - at
}

export const bench: Bench = {
  about:
    `${BLOCKS} blocks, 2 s apart, each with a deposit: from the moment anvil has mined the block to the first answer of ` +
    '/v2/portfolio/positions that shows the new balance, asked for every 10 ms. Processor over HTTP, which finds the rhythm of the blocks by itself, worker and API are processes of their own.',
  async run(stage) {
    const chain = await startSmallChain(20_261)
    stage.afterwards(() => chain.node.stop())
    const { pool, url } = await stage.postgres()
    const clickhouse = await stage.clickhouse()
    const { key } = await createKey(pool, { name: 'bench', plan: 'unlimited' })
    const port = await freePort()
    const environment = {
      DATABASE_URL: url,
      CLICKHOUSE_URL: stage.clickhouseUrl,
      CLICKHOUSE_DATABASE: clickhouse.database,
      RPC_MAINNET: chain.node.rpcUrl,
      API_PORT: String(port),
      // No registry lists the vaults of the chain.
      SHOW_UNLISTED: 'true',
      ...Object.fromEntries(['PROCESSOR', 'WORKER', 'API'].map(name => [`${name}_METRICS_PORT`, 'off'])),
    }
    const processes = [['processors/main.ts', 'mainnet'], ['jobs/main.ts'], API_COMMAND].map(args =>
      start(args, environment),
    )
    stage.afterwards(async () => {
      for (const { child } of processes) child.kill('SIGTERM')
      await Promise.all(processes.map(({ ended }) => ended))
    })
    await processes[2]?.until(/read API listening/)

    const [vault] = chain.vaults
    const [user] = chain.users
    if (!vault || !user) throw new TypeError('a chain without vaults or users')
    const shown = async (): Promise<bigint> => {
      const response = await fetch(`http://127.0.0.1:${port}/v2/portfolio/positions/${user}`, {
        headers: { 'x-api-key': key },
      })
      return BigInt(/"lpToken":\{[^}]*"balanceNative":"(\d+)"/.exec(await response.text())?.[1] ?? 0)
    }
    // The first ones wait for the past to be indexed.
    const ahead = await deposit(chain, user, vault.address)
    await within(ahead, shown)
    const mined: Mined[] = []
    const delays: number[] = []
    const mining = (async () => {
      const began = performance.now()
      // A chain does not wait for who reads it.
      for (let i = 0; i < BLOCKS; i++) {
        await new Promise(resolve => setTimeout(resolve, began + i * BLOCK_MS - performance.now()))
        mined.push(await deposit(chain, user, vault.address))
        if (i % 30 === 0) stage.say(`block ${i} of ${BLOCKS}`)
      }
    })()
    while (delays.length < BLOCKS) {
      const next = mined[delays.length]
      if (!next) await new Promise(resolve => setTimeout(resolve, ASK_EVERY_MS))
      else delays.push(await within(next, shown))
    }
    await mining
    const { p50, p99 } = percentiles(delays)
    const memory = await peakMemory(processes[0]?.child.pid)
    return [
      {
        what: 'block mined → in an answer',
        ours: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
        budget: 'p50 500 ms, p99 2 s',
        holds: p50 <= 500 && p99 <= 2_000,
      },
      ...(memory === undefined
        ? []
        : [
            {
              what: 'memory of the processor at its peak',
              ours: `${memory.toFixed(0)} MiB`,
              budget: '512 MiB',
              holds: memory <= 512,
            } satisfies Result,
          ]),
    ]
  },
}
