import { setTimeout } from 'node:timers/promises'
import type { Address } from 'viem'
import { calls, deposit } from './deploy.ts'
import type { Node } from './node.ts'
import { seededRandom } from './random.ts'
import type { Scenario } from './scenario.ts'
import { balancesOf } from './views.ts'

export interface LiveAct {
  words: string
  vault: Address
  user: Address
  block: number
  transactionHash: string
}

/**
 * After the scenario: one deposit, redemption or share transfer in a block of its own every `seconds`, simulated
 * time going as fast as the real one. Gives the function that ends it, once the block in hand is mined.
 */
export function keepBusy(
  node: Node,
  scenario: Scenario,
  options: {
    seconds?: number
    seed?: number
    onAct?(act: LiveAct): void
    onError?(error: unknown): void
  } = {},
): () => Promise<void> {
  const random = seededRandom(options.seed ?? 99)
  const seconds = options.seconds ?? 3
  const ending = new AbortController()
  const loop = async () => {
    while (!ending.signal.aborted) {
      try {
        const act = await actOnce(node, scenario, random.next(), random.next(), random.next(), seconds)
        if (act) options.onAct?.(act)
      } catch (error) {
        options.onError?.(error)
      }
      // Ended early when aborted, which is no error.
      await setTimeout(seconds * 1000, undefined, { signal: ending.signal }).catch(() => {})
    }
  }
  const running = loop()
  return async () => {
    ending.abort()
    await running
  }
}

async function actOnce(
  node: Node,
  scenario: Scenario,
  dice: number,
  whichVault: number,
  whichUser: number,
  seconds: number,
): Promise<LiveAct | undefined> {
  const { users } = scenario
  const vaults = scenario.vaults.filter(({ kind }) => kind !== 'nested')
  const vault = vaults[Math.floor(whichVault * vaults.length)]
  const held = vault && (await balancesOf(node, vault.address, users))
  const holders = users.filter(user => (held?.get(user) ?? 0n) > 1000n)
  const candidates = dice < 0.4 || holders.length === 0 ? users : holders
  const user = candidates[Math.floor(whichUser * candidates.length)]
  if (!vault || !user) return undefined

  let words: string
  let transactionHash: string
  if (candidates === users) {
    const assets = BigInt(1 + Math.floor(dice * 1000)) * 10n ** BigInt(vault.asset.decimals - 2)
    transactionHash = await deposit(node, { vault, user, assets, mine: false })
    words = `deposits into ${vault.symbol}`
  } else {
    const shares = (held?.get(user) ?? 0n) / 20n
    const other = users[Math.floor(dice * users.length)] ?? user
    const isRedemption = dice < 0.7
    transactionHash = await node.send(
      isRedemption
        ? calls.redeem(user, vault.address, shares)
        : calls.transfer(user, vault.address, other, shares),
    )
    words = isRedemption ? `redeems from ${vault.symbol}` : `transfers shares of ${vault.symbol} to ${other}`
  }
  const { timestamp } = await node.head()
  const { number } = await node.mine(timestamp + Math.max(1, Math.round(seconds)))
  return { words, vault: vault.address, user, block: number, transactionHash }
}
