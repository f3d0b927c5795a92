import { AccountRole, type Instruction, type KeyPairSigner } from '@solana/kit'
import { seededRandom } from '../test/chain/random.ts'
import type { TestChain } from '../test/svm/chain.ts'
import { ACTS, type Act, Crowd } from '../test/svm/crowd.ts'
import { routed } from '../test/svm/router.ts'
import { type TestPool, tokenInstruction } from '../test/svm/stake-pool.ts'
import { TOKEN_PROGRAM, tokenAccountOf } from '../test/svm/tokens.ts'

const WALLETS = 24
/** Transactions of a slot that move shares without a deposit: most of all are swaps, of some twenty instructions. */
const SWAPS = 8
/** One slot in so many has no block. */
const SKIPPED = 20

/**
 * Slots as they may look, after `begun`, by which all vaults and their holders are known: shares go from hand to hand in long transactions,
 * and somebody deposits or redeems in each.
 */
export async function busyChain(slots: number): Promise<{ chain: TestChain; begun: number }> {
  const crowd = await Crowd.gather(WALLETS)
  const { chain, wallets } = crowd
  const begun = chain.slot
  const { below, pick, chance } = seededRandom(17)
  const any = () => pick(wallets) as KeyPairSigner
  for (let slot = 0; slot < slots; slot++) {
    if (below(SKIPPED) === 0) chain.skip(1)
    const transactions = []
    for (let i = 0; i < SWAPS; i++) {
      const [from, to] = [any(), any()]
      const pool = pick(crowd.pools) as TestPool
      transactions.push(
        await chain.transaction(from, await swap(crowd, pool, from, to, BigInt(below(1_000)))),
      )
    }
    const wallet = any()
    const act = await crowd.act(pick(ACTS) as Act, wallet, BigInt(1 + below(10_000)))
    transactions.push(await chain.transaction(wallet, act))
    for (const { failed } of chain.mine(transactions, chance(0.4) ? 1 : 0))
      if (failed) throw new RangeError(`a transaction of the bench failed: ${failed}`)
  }
  return { chain, begun }
}

/** A token for shares, by way of a program that calls others: four legs and the shares. */
async function swap(
  { chain, lending }: Crowd,
  pool: TestPool,
  from: KeyPairSigner,
  to: KeyPairSigner,
  amount: bigint,
): Promise<Instruction[]> {
  const [source, target] = [
    await tokenAccountOf(from.address, lending.mint),
    await tokenAccountOf(to.address, lending.mint),
  ]
  const data = Buffer.alloc(9)
  data[0] = 3
  const legs = [1n, 2n, 3n, 4n].map(part => {
    data.writeBigUInt64LE(amount + part, 1)
    const accounts = [
      { address: source, role: AccountRole.WRITABLE },
      { address: target, role: AccountRole.WRITABLE },
      { address: from.address, role: AccountRole.READONLY_SIGNER, signer: from } as never,
    ]
    return routed(chain, { programAddress: TOKEN_PROGRAM, accounts, data: Buffer.from(data) }, 2)
  })
  const shares = await tokenInstruction(pool, from, {
    send: amount,
    to: await tokenAccountOf(to.address, pool.mint),
  })
  return [...legs, routed(chain, shares, 1)]
}
