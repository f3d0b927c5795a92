import { networks } from '../db/networks.ts'
import { runChain } from '../processors/chain-processor.ts'
import { loadProtocols } from '../processors/load-protocols.ts'
import { openPortal } from '../processors/source/portal-client.ts'
import { startNode } from '../test/chain/node.ts'
import { blocksOfNode } from '../test/portal/anvil.ts'
import { type Bench, measured, perSecond, type Stage } from './bench.ts'
import { fillWithDeposits } from './deposits.ts'
import { portalOver } from './portal-over.ts'

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 500_000)
const BUDGET = 60_000

export const bench: Bench = {
  about:
    `A local Portal in a process of its own (compressed lines of JSON, as the published one sends them) → decoded → event store with its cursor in the same ` +
    `transaction: ${EVENTS.toLocaleString('en')} events of one OpenZeppelin vault in blocks of 100, none sampled. Beside it, in the same run, the same blocks by RPC from the anvil that made them.`,
  async run(stage) {
    const node = await startNode()
    stage.afterwards(() => node.stop())
    stage.say('filling the chain')
    const { vault, first, last } = await fillWithDeposits(node, EVENTS, 100)
    // No name keeps these blocks: a processor would not have them in its memory.
    const url = await portalOver(
      stage,
      'evm',
      await blocksOfNode(node, first, last + networks.mainnet.finality),
    )
    const client = () =>
      openPortal({ network: 'mainnet', urls: [url], settings: { url: 'PORTAL', key: 'PORTAL_API_KEY' } })
    stage.say('by RPC')
    const byNode = await index(stage, { node: node.rpcUrl, vault, first, last })
    stage.say('by the Portal, which looks everything up for the first time')
    await index(stage, { node: node.rpcUrl, vault, first, last, portal: client() })
    stage.say('by the Portal')
    const byPortal = await index(stage, { node: node.rpcUrl, vault, first, last, portal: client() })
    const rate = (EVENTS / byPortal.ms) * 1000
    return [
      {
        what: 'events stored',
        ours: perSecond(EVENTS, byPortal.ms),
        beside: `by RPC ${perSecond(EVENTS, byNode.ms)}`,
        ratio: byNode.ms / byPortal.ms,
        budget: `${BUDGET.toLocaleString('en')}/s`,
        holds: rate >= BUDGET,
      },
      {
        what: 'of a second of the processor’s own CPU',
        ours: perSecond(EVENTS, byPortal.cpu),
        beside: `by RPC ${perSecond(EVENTS, byNode.cpu)}`,
        ratio: byNode.cpu / byPortal.cpu,
      },
    ]
  },
}

/** Milliseconds that pass, and those of this process's CPU. */
async function index(
  stage: Stage,
  {
    node,
    vault,
    first,
    last,
    portal,
  }: { node: string; vault: string; first: number; last: number; portal?: ReturnType<typeof openPortal> },
): Promise<{ ms: number; cpu: number }> {
  const { pool } = await stage.postgres()
  const protocols = await loadProtocols()
  const took = await measured(() =>
    runChain({
      network: networks.mainnet,
      protocols,
      pool,
      rpcUrls: [node],
      portal,
      contracts: { 'chainlink-feed': [] },
      listedVaults: [vault],
      startBlock: first,
      endBlock: last,
      samples: false,
    }),
  )
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM event_log WHERE type IN ('Deposited', 'ShareTransferred')`,
  )
  if (rows[0]?.count !== EVENTS)
    throw new RangeError(`${rows[0]?.count} events of logs stored, not ${EVENTS}`)
  return took
}
