import { createKey } from '../db/keys/keys.ts'
import { API_COMMAND } from '../db/process/api-command.ts'
import { freePort } from '../test/chain/anvil-process.ts'
import { calls } from '../test/chain/deploy.ts'
import { balancesOf } from '../test/chain/views.ts'
import { start } from '../test/faults/command.ts'
import { startSmallChain } from '../test/faults/small-chain.ts'
import { type Bench, peakMemory, percentiles, type Result } from './bench.ts'

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 150)
const BLOCK_MS = 2_000
const ASK_EVERY_MS = 10
const GIVE_UP_MS = 30_000

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
    const delays: number[] = []
    const shows = async (shares: bigint): Promise<boolean> => {
      const response = await fetch(`http://127.0.0.1:${port}/v2/portfolio/positions/${user}`, {
        headers: { 'x-api-key': key },
      })
      return (await response.text()).includes(`"${shares}"`)
    }
    for (let i = -5; i < BLOCKS; i++) {
      const began = performance.now()
      await chain.node.send(calls.deposit(user, vault.address, BigInt(1_000_003 + i)))
      await chain.node.mine()
      const mined = performance.now()
      const shares = (await balancesOf(chain.node, vault.address, [user])).get(user) ?? 0n
      while (!(await shows(shares))) {
        if (performance.now() - mined > GIVE_UP_MS) throw new RangeError(`block ${i} never appeared`)
        await new Promise(resolve => setTimeout(resolve, ASK_EVERY_MS))
      }
      // The first ones wait for the past to be indexed.
      if (i >= 0) delays.push(performance.now() - mined)
      if (i % 30 === 0) stage.say(`block ${i} of ${BLOCKS}`)
      await new Promise(resolve => setTimeout(resolve, Math.max(0, BLOCK_MS - (performance.now() - began))))
    }
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
