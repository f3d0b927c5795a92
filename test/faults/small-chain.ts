import type { Address } from 'viem'
import { calls, deployVault, type Vault } from '../chain/deploy.ts'
import { placeMulticall3 } from '../chain/multicall.ts'
import { type Call, type Node, type NodeOptions, startNode } from '../chain/node.ts'
import { type Random, seededRandom } from '../chain/random.ts'
import { balancesOf } from '../chain/views.ts'

/** A chain with a few vaults and people, small enough to be indexed anew for every question. */
export interface SmallChain {
  node: Node
  vaults: Vault[]
  users: Address[]
  random: Random
  /** Mines `blocks` blocks, each with one deposit, share transfer or redemption, `seconds` of chain time apart. */
  live(blocks: number, seconds?: number): Promise<void>
  /** A call of somebody at random that is sure to succeed on any branch on which the vaults exist. */
  someCall(): Call
  /** `vault holder` → shares by balanceOf at the head; zeros left out. */
  balances(): Promise<Record<string, string>>
  addVault(): Promise<Vault>
}

/** Ten minutes: an hourly sample every sixth block. */
const BLOCK_SECONDS = 600

export async function startSmallChain(seed: number, options: NodeOptions = {}): Promise<SmallChain> {
  const node = await startNode(options)
  await placeMulticall3(node)
  const random = seededRandom(seed)
  const users = node.accounts.slice(1, 9)
  const vaults: Vault[] = []
  const addVault = async () => {
    const vault = await deployVault(
      node,
      { assetDecimals: vaults.length % 2 === 0 ? 18 : 6, symbol: `v${vaults.length}` },
      { mine: false },
    )
    vaults.push(vault)
    return vault
  }
  await addVault()
  await addVault()
  await node.mine()
  // Everybody can deposit at any time, on every branch.
  for (const vault of vaults) {
    for (const user of users) await endow(node, vault, user)
    await node.mine()
  }

  const someCall = (): Call => {
    const vault = random.pick(vaults.slice(0, 2))
    const user = random.pick(users)
    if (!vault || !user) throw new TypeError('a chain without vaults or users')
    return calls.deposit(user, vault.address, BigInt(1 + random.below(1000)) * 10n ** 6n)
  }

  const act = async () => {
    const vault = random.pick(vaults.slice(0, 2))
    const user = random.pick(users)
    const other = random.pick(users)
    if (!vault || !user || !other) return
    const dice = random.next()
    const shares = (await balancesOf(node, vault.address, [user])).get(user) ?? 0n
    if (dice < 0.5 || shares === 0n) {
      await node.send(calls.deposit(user, vault.address, BigInt(1 + random.below(1000)) * 10n ** 6n))
    } else {
      const part = 1n + shares / BigInt(2 + random.below(5))
      await node.send(
        dice < 0.75
          ? calls.transfer(user, vault.address, other, part)
          : calls.redeem(user, vault.address, part),
      )
    }
  }

  return {
    node,
    vaults,
    users,
    random,
    addVault,
    someCall,
    async live(blocks, seconds = BLOCK_SECONDS) {
      for (let i = 0; i < blocks; i++) {
        await act()
        const { timestamp } = await node.head()
        await node.mine(timestamp + seconds)
      }
    },
    async balances() {
      const held: Record<string, string> = {}
      for (const { address } of vaults) {
        if ((await node.client.getCode({ address })) === undefined) continue
        for (const [user, shares] of await balancesOf(node, address, users))
          if (shares > 0n) held[`${address} ${user}`] = shares.toString()
      }
      return held
    },
  }
}

/** Assets and an approval without end. */
export async function endow(node: Node, vault: Vault, user: Address): Promise<void> {
  const owner = node.accounts[0]
  if (!owner) return
  await node.send(calls.mintToken(owner, vault.asset.address, user, 10n ** 30n))
  await node.send(calls.approve(user, vault.asset.address, vault.address))
}
