import type { Address } from 'viem'
import type { Fact } from '../../db/registry/fact.ts'
import { rootOf } from '../amm/uniswap.ts'
import { balanceOf, chainState, ticksAround } from '../amm/world.ts'
import { hasTimeBefore, quickly } from './demo-time.ts'
import { calls } from './deploy.ts'
import { ScenarioError } from './errors.ts'
import { createPool, createVault, deployIchi, type Ichi, type IchiVault, ichiCalls } from './ichi.ts'
import type { Call } from './node.ts'
import type { Day, Play } from './play.ts'
import type { Companions } from './scenario.ts'

/** A vault of liquidity on Uniswap's published pool of the demo's USDC and WETH. */
export interface DemoLiquidity extends Companions {
  factory: Address
  vault: IchiVault
  /** Who may hold its shares. */
  holders: readonly Address[]
  facts(): Fact[]
}

const COMES = 12
/** Who takes part; they stay to the end of every scenario. */
const PARTICIPANTS = [0, 1, 2, 4, 5]
const SPACING = 60

interface Open {
  ichi: Ichi
  vault: IchiVault
  holders: readonly Address[]
}

export function createDemoLiquidity(): DemoLiquidity {
  let opened: Open | undefined
  let since = 0
  const known = (): Open => {
    if (!opened) throw new ScenarioError(`The vault of liquidity comes on day ${COMES}`)
    return opened
  }
  return {
    vaults: [],
    get factory() {
      return known().ichi.factory
    },
    get vault() {
      return known().vault
    },
    get holders() {
      return known().holders
    },
    facts() {
      const { factory, admin, guard } = known().ichi
      return [{ subject: `contract:1:${factory}`, kind: 'ammFactory', value: { deployer: admin, guard } }]
    },
    async onDay(play, day) {
      if (!opened && day.index >= COMES && (await hasTimeBefore(play.node, day))) opened = await open(play)
      else if (opened) await live(play, day, since++, opened)
    },
  }
}

async function open({ node, world }: Play): Promise<Open> {
  const quick = quickly(node)
  const { USDC, WETH } = world.assets
  const { admin, users } = world.actors
  const [usdc, weth] = [USDC.token, WETH.token]
  const ichi = await deployIchi(quick)
  // As many dollars as an ether costs on the first day.
  const amounts = new Map([
    [usdc.address, BigInt(WETH.startPrice) * 10n ** 6n],
    [weth.address, 10n ** 18n],
  ])
  const [first, second] = [...amounts].sort(([a], [b]) => (a < b ? -1 : 1))
  const pool = await createPool(quick, ichi, {
    tokens: [usdc, weth],
    fee: 3_000,
    sqrtPriceX96: rootOf(second?.[1] ?? 1n, first?.[1] ?? 1n),
    observations: 60,
  })
  const vault = await createVault(quick, { factory: ichi.factory, pool, takes: [usdc], owner: admin })
  const people = PARTICIPANTS.flatMap(n => users[n] ?? [])
  for (const account of [admin, ...people])
    for (const token of [usdc, weth]) {
      await node.send(calls.mintToken(admin, token.address, account, 10n ** BigInt(token.decimals + 7)))
      for (const spender of [ichi.trader, vault.address])
        await node.send(calls.approve(account, token.address, spender))
    }
  // Of others: some hundred ether.
  await node.send(ichiCalls(ichi).provide(admin, pool, 10n ** 16n))
  await quick.mine()
  return { ichi, vault, holders: [admin, ...people] }
}

/** Somebody deposits, somebody trades in the pool, the vault is set around the price, somebody withdraws: a day each. */
async function live({ node }: Play, day: Day, since: number, { ichi, vault, holders }: Open): Promise<void> {
  const acts = ichiCalls(ichi)
  const { admin } = ichi
  const people = holders.slice(1)
  const round = Math.floor(since / 4)
  const user = people[round % people.length] ?? admin
  const isFirst = vault.pool.token0.address === vault.takes[0]?.address
  const at = (call: Call) => day.plan[Math.min(3, day.plan.length - 1)]?.push(call)
  if (since % 4 === 0) {
    const amount = BigInt(3_000 + 250 * (round % 5)) * 10n ** 6n
    at(acts.deposit(user, vault, isFirst ? amount : 0n, isFirst ? 0n : amount))
  }
  if (since % 4 === 1) {
    // Dollars for ether, then ether for dollars.
    const isDollars = round % 2 === 0
    const amount = isDollars ? 6_000n * 10n ** 6n : 2n * 10n ** 18n
    at(acts.trade(admin, vault.pool, isDollars === isFirst, amount))
  }
  if (since % 4 === 2) {
    const { tick } = await chainState(node, vault)
    at(acts.rebalance(vault, ticksAround(tick, SPACING, 20, isFirst)))
  }
  if (since % 8 === 7) {
    const shares = await balanceOf(node, vault.address, user)
    if (shares > 1n) at(acts.withdraw(user, vault, shares / 2n))
  }
}
