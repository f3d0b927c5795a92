import { expect, it } from 'vitest'
import { TestChain } from './chain.ts'
import { builtProgram, compile, compilerVersion, PROGRAMS, sourceHash } from './programs/build.ts'
import { TestPool } from './stake-pool.ts'

it.each(PROGRAMS)('%s: the bytes are those of the source', name => {
  const { bytes, source } = builtProgram(name)
  expect(source.toString('hex'), '`npx tsx test/svm/programs/build.ts` compiles it').toBe(
    sourceHash(name).toString('hex'),
  )
  // Another compiler makes other bytes of the same source.
  if (compilerVersion()?.includes('14.0.6')) expect(compile(name).equals(bytes)).toBe(true)
})

const thousandth = { numerator: 1n, denominator: 1000n }

/** Figures of the chain's own program, of the same acts: see section 5 of the published formulas. */
it('a stake pool mints, burns and yields as the chain’s own does', async () => {
  const chain = new TestChain()
  const pool = await TestPool.create(chain, { depositFee: thousandth, withdrawalFee: thousandth })
  const wallet = await chain.wallet()
  const opened = await pool.openAccount(wallet.address, wallet)
  await chain.send(wallet, [opened, await pool.depositSol(wallet, 10_000_000_000n)])
  expect(await pool.balanceOf(wallet.address)).toBe(9_990_000_000n)
  expect(pool.state()).toEqual({ lamports: 10_000_000_000n, supply: 10_000_000_000n })

  pool.earn(867_750_000n)
  chain.nextEpoch()
  const early = await chain.send(wallet, [await pool.withdrawSol(wallet, 4_000_000_000n)])
  expect(early.failed).toBe('{"InstructionError":[0,{"Custom":17}]}')
  await chain.send(wallet, [pool.update()])
  const before = chain.svm.getBalance(wallet.address) ?? 0n
  const sent = await chain.send(wallet, [await pool.withdrawSol(wallet, 4_000_000_000n)])
  expect(sent.failed).toBeUndefined()
  // 4 shares less 0.1 %, at 1.086775 SOL each, less the fee of one signature.
  expect((chain.svm.getBalance(wallet.address) ?? 0n) - before).toBe(4_342_752_900n - 5_000n)
})
