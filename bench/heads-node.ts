import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type NetworkName, networks } from '../db/networks.ts'
import { GeneratedChain, type GeneratedVault } from '../test/faults/chain/generated-chain.ts'
import { startFaultyNode } from '../test/faults/chain/rpc-server.ts'

/**
 * Nodes of generated chains in a process of their own, by IPC: gets the chains, tells their URLs, mines from `go` on, and tells of
 * each block when it is mined.
 */
export const chainSchema = z.object({
  name: z.custom<NetworkName>(name => typeof name === 'string'),
  vaults: z.number(),
  /** Deposits, redemptions and transfers a second. */
  acts: z.number(),
})
export type HeadsChain = z.infer<typeof chainSchema>
const orders = z.union([
  z.object({ chains: z.array(chainSchema), now: z.number() }),
  z.object({ go: z.literal(true) }),
])

export interface Mined {
  name: NetworkName
  number: number
  /** Date.now() when the node knew it. */
  at: number
  acts: number
}

/** One block of so many is replaced by another. */
const FORK_OF = 500
/** Vaults that appear in a block of the history. */
const AT_ONCE = 100
const HISTORY_SECONDS = 60

interface Seated extends HeadsChain {
  chain: GeneratedChain
}

/** A chain whose vaults have each had a deposit, its newest block a second ago. */
function seat(about: HeadsChain, now: number): Seated {
  const { chainId } = networks[about.name]
  const blocks = Math.ceil(about.vaults / AT_ONCE)
  const startTime = now - (blocks + 1) * HISTORY_SECONDS
  const chain = new GeneratedChain({ seed: chainId, chainId, startTime, blockSeconds: HISTORY_SECONDS })
  for (let left = about.vaults; left > 0; left -= AT_ONCE) {
    const born = Array.from({ length: Math.min(AT_ONCE, left) }, () => chain.addVault())
    chain.mine(born.map(vault => depositOf(chain, vault)))
  }
  return { ...about, chain }
}

const depositOf = (chain: GeneratedChain, vault: GeneratedVault) =>
  chain.deposit(
    vault,
    chain.random.pick(chain.people) ?? '',
    BigInt(1 + chain.random.below(1e9)) * 10n ** 15n,
  )

/** The n-th vault acts about 1/n as often as the first. */
function actOf({ chain }: Seated) {
  const n = Math.floor(chain.vaults.length ** chain.random.next()) - 1
  const vault = chain.vaults[n]
  return vault ? depositOf(chain, vault) : []
}

async function mine(seated: Seated, now: () => number): Promise<void> {
  const { chain, name, acts } = seated
  const ms = networks[name].blockTime * 1000
  let due = performance.now() + chain.random.next() * ms
  let owed = 0
  for (;;) {
    await sleep(Math.max(0, due - performance.now()))
    due += ms
    // The mean is what counts; between two acts the time is random, as people's is.
    owed += (acts * ms * -Math.log(1 - chain.random.next())) / 1000
    const count = Math.floor(owed)
    owed -= count
    if (chain.random.chance(1 / FORK_OF)) chain.rollback(1)
    const transactions = Array.from({ length: count }, () => actOf(seated))
    const { number } = chain.mine(transactions, { timestamp: Math.max(chain.head.timestamp, now()) })
    process.send?.({ name, number, at: Date.now(), acts: count } satisfies Mined)
  }
}

let seated: Seated[] = []
let begins = 0
process.on('message', async message => {
  const order = orders.parse(message)
  if ('go' in order) {
    // Their clock stood while the vaults' history was read, however long that took.
    const shift = begins - Math.floor(Date.now() / 1000)
    for (const each of seated) void mine(each, () => Math.floor(Date.now() / 1000) + shift)
    return
  }
  begins = order.now
  seated = order.chains.map(about => seat(about, order.now))
  const nodes = await Promise.all(seated.map(({ chain }) => startFaultyNode(chain, { runsReader: true })))
  process.send?.({ urls: Object.fromEntries(seated.map(({ name }, i) => [name, nodes[i]?.url])) })
})
process.on('disconnect', () => process.exit(0))
