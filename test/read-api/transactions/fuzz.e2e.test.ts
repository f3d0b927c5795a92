import fc from 'fast-check'
import { encodeFunctionData, type LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RefusedError } from '../../../read-api/http/errors.ts'
import type { VaultRef } from '../../../read-api/transactions/family.ts'
import { erc20, erc4626 } from '../../chain/abis.ts'
import { calls, deployToken, deployVault, type Token } from '../../chain/deploy.ts'
import { contract } from '../artifacts.ts'
import { type Stage, startStage, vaultRef } from './stage.ts'

/**
 * Any amount, any decimals, any token: what is handed out lands and does what it promised, and what is refused would
 * not have worked.
 */
describe('fuzz', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage()
  })
  const tally = { landed: 0, refused: 0 }
  afterAll(async () => {
    await stage?.node.stop()
    // Neither side of the rule may go untried.
    console.info(`fuzz: ${tally.landed} bundles landed, ${tally.refused} were refused rightly`)
    expect(tally.landed).toBeGreaterThan(50)
    expect(tally.refused).toBeGreaterThan(50)
  })

  type Kind = 'plain' | 'returns nothing' | 'takes a fee'

  async function scene(decimals: number, kind: Kind) {
    const { node, deploy, newUser, mint } = stage
    const asset: Token =
      kind === 'takes a fee'
        ? {
            address: await deploy(contract('FeeToken'), 'Fee', 'FEE', 100n),
            symbol: 'FEE',
            name: 'Fee',
            decimals: 18,
          }
        : await deployToken(node, { decimals, returnsNothing: kind === 'returns nothing' })
    const vault = await deployVault(node, { asset })
    const user = await newUser()
    const balance = 1_000n * 10n ** BigInt(asset.decimals) + 7n
    await mint(asset, user.address, balance)
    // Somebody else is in already, and a share is worth 1.7 assets or so.
    const other = node.accounts[30] ?? '0x'
    const seed = 100n * 10n ** BigInt(asset.decimals)
    await mint(asset, other, seed)
    await node.send(calls.approve(other, asset.address, vault.address))
    await node.send(calls.deposit(other, vault.address, seed))
    await mint(asset, vault.address, (seed * 7n) / 10n)
    return { ref: vaultRef(vault.address, asset, vault), user, asset }
  }

  const cases: [number, Kind][] = [
    ...[0, 6, 8, 18, 27].map((decimals): [number, Kind] => [decimals, 'plain']),
    [6, 'returns nothing'],
    [18, 'takes a fee'],
  ]

  test.each(cases)('%i decimals, a token that is %s', async (decimals, kind) => {
    const { ref, user, asset } = await scene(decimals, kind)
    const { balance } = stage
    const amounts = fc.oneof(
      fc.constantFrom('one', 'two', 'all', 'all but one', 'one more', 'twice'),
      fc.bigInt({ min: 1n, max: 10n ** BigInt(asset.decimals + 3) }),
      fc
        .integer({ min: 1, max: asset.decimals + 3 })
        .chain(n => fc.bigInt({ min: 1n, max: 10n ** BigInt(n) })),
    )
    const steps = fc.record({
      action: fc.constantFrom('deposit' as const, 'redeem' as const),
      inShares: fc.boolean(),
      wish: amounts,
    })
    await fc.assert(
      fc.asyncProperty(steps, async ({ action, inShares, wish }) => {
        const shares = action === 'redeem' && inShares
        const held =
          action === 'deposit' || shares
            ? await balance(shares ? ref.address : asset.address, user.address)
            : ((await stage.look(ref, user)).positionValue ?? 0n)
        const amount = typeof wish === 'bigint' ? wish : resolve(wish, held)
        if (amount > 0n) await attempt(ref, user, action, shares, amount)
      }),
      { numRuns: 36, seed: 7_000 + decimals, endOnFailure: true },
    )
    // And at the end nothing is left.
    if ((await balance(ref.address, user.address)) > 0n) {
      await stage.perform(ref, user, 'redeem', { all: true })
      expect(await balance(ref.address, user.address)).toBe(0n)
    }
  })

  async function attempt(
    ref: VaultRef,
    user: LocalAccount,
    action: 'deposit' | 'redeem',
    inShares: boolean,
    amount: bigint,
  ) {
    const { balance, perform } = stage
    const asset = ref.asset.address
    const wish = { amount, simulate: true, assetAddress: inShares ? ref.address : asset }
    const before = [await balance(asset, user.address), await balance(ref.address, user.address)] as const
    const made = await perform(ref, user, action, wish).catch((error: unknown) => {
      if (error instanceof RefusedError) return error
      throw error
    })
    const after = [await balance(asset, user.address), await balance(ref.address, user.address)] as const
    if (made instanceof RefusedError) {
      tally.refused++
      expect(after).toEqual(before)
      expect(await byHand(ref, user, action, inShares, amount), made.message).not.toBe('works')
      return
    }
    tally.landed++
    const [assets, shares] = [after[0] - before[0], after[1] - before[1]]
    const { simulation } = made.actions.at(-1) ?? {}
    const [spent, received] = [simulation?.tokensSpent ?? {}, simulation?.tokensReceived ?? {}]
    if (action === 'deposit') {
      expect(assets).toBe(-amount)
      expect(spent).toEqual({ [ref.asset.symbol]: String(amount) })
      expect(received).toEqual({ [ref.share.symbol]: String(shares) })
      expect(shares).toBeGreaterThan(0n)
    } else {
      if (inShares) expect(shares).toBe(-amount)
      // With a fee on transfers the vault pays the amount, and the wallet gets less.
      else if (ref.asset.symbol !== 'FEE') expect(assets).toBe(amount)
      expect(spent).toEqual({ [ref.share.symbol]: String(-shares) })
      expect(received).toEqual({ [ref.asset.symbol]: String(assets) })
      expect(assets).toBeGreaterThan(0n)
    }
  }

  /** The refused call, sent all the same on a state that is then taken back. */
  async function byHand(
    ref: VaultRef,
    user: LocalAccount,
    action: 'deposit' | 'redeem',
    inShares: boolean,
    amount: bigint,
  ): Promise<'works' | 'gives nothing' | 'gives too little'> {
    const { node, balance, sign } = stage
    const restore = await node.snapshot()
    const gained = action === 'deposit' ? ref.address : ref.asset.address
    const had = await balance(gained, user.address)
    const me = user.address
    const data =
      action === 'deposit'
        ? encodeFunctionData({ abi: erc4626, functionName: 'deposit', args: [amount, me] })
        : encodeFunctionData({
            abi: erc4626,
            functionName: inShares ? 'redeem' : 'withdraw',
            args: [amount, me, me],
          })
    const approve = (value: bigint) =>
      sign(user, {
        to: ref.asset.address,
        chainId: 1,
        data: encodeFunctionData({ abi: erc20, functionName: 'approve', args: [ref.address, value] }),
      })
    await approve(0n)
    await approve(amount)
    const { landed } = await sign(user, { to: ref.address, chainId: 1, data })
    const gain = (await balance(gained, user.address)) - had
    const worth =
      action === 'deposit'
        ? await node.client.readContract({
            address: ref.address,
            abi: erc4626,
            functionName: 'convertToAssets',
            args: [gain],
          })
        : amount
    await restore()
    if (!landed || gain === 0n) return 'gives nothing'
    return (worth + 2n) * 100n < amount * 99n ? 'gives too little' : 'works'
  }
})

function resolve(wish: string, held: bigint): bigint {
  if (wish === 'one') return 1n
  if (wish === 'two') return 2n
  if (wish === 'all') return held
  if (wish === 'all but one') return held - 1n
  return wish === 'one more' ? held + 1n : 2n * held
}
