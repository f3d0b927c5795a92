import type { Address } from 'viem'
import { calls } from './deploy.ts'
import { multicall3Address } from './multicall.ts'
import type { Call } from './node.ts'
import {
  allow,
  assetSymbol,
  count,
  type Day,
  type Play,
  permille,
  prepare,
  provide,
  schedule,
  worth,
} from './play.ts'
import { balances, type VaultView, vaultView } from './views.ts'
import type { DeployedVault } from './world.ts'

/** Yearly yield paid into a vault, by symbol of its asset; the self-ledger vault needs none. */
const annualYield: Record<string, number> = { USDC: 0.05, USDT: 0.08, WETH: 0.03, WBTC: 0.012 }

type Act = 'deposit' | 'mint' | 'redeem' | 'withdraw' | 'transfer' | 'delegated' | 'nest' | 'bundle' | 'odd'
const acts: Act[] = (
  [
    ['deposit', 36],
    ['mint', 8],
    ['redeem', 15],
    ['withdraw', 9],
    ['transfer', 14],
    ['delegated', 3],
    ['nest', 5],
    ['bundle', 6],
    ['odd', 4],
  ] as const
).flatMap(([act, weight]) => Array.from({ length: weight }, () => act))

/** What a vault's players know in the morning; balances shrink as the day's acts are planned. */
interface Morning {
  views: Map<Address, VaultView>
  balances: Map<string, bigint>
}

/** Users deposit, mint, redeem, withdraw and transfer; vaults earn. `extraYield` is added per vault and day. */
export async function playVaults(
  play: Play,
  day: Day,
  acting: number,
  extraYield: Map<Address, number>,
): Promise<void> {
  const { random } = play
  const choices = Array.from({ length: acting }, () => ({
    act: random.pick(acts) ?? 'deposit',
    vault: pickVault(play),
  }))
  const morning = await readMorning(play)
  payYield(play, day, morning, extraYield)
  for (const { act, vault } of choices) doAct(play, day, morning, act, vault)
}

/** Everything that a user holds, in every vault, is redeemed. */
export async function leaveForGood(play: Play, day: Day, user: Address): Promise<void> {
  const pairs = play.vaults.map(vault => ({ token: vault.address, holder: user }))
  const held = await balances(play.node, pairs)
  // Nested shares first: what they stand for comes back as money of its own, not as shares to be redeemed.
  for (const [i, vault] of play.vaults.entries()) {
    const shares = held[i] ?? 0n
    if (shares === 0n) continue
    const receiver = vault.kind === 'nested' ? play.world.actors.whale : user
    schedule(play, day, calls.redeem(user, vault.address, shares, receiver))
    play.holders.get(vault.address)?.delete(user)
    if (vault.kind === 'nested') hold(play, play.world.vaults.usdt.address, receiver)
  }
  play.present = play.present.filter(present => present !== user)
  count(play, 'full exit')
  day.news.push(`${user} redeems everything and leaves`)
}

function pickVault(play: Play): DeployedVault {
  const { usdc, usdt, weth, wbtc, sdai } = play.world.vaults
  return play.random.pick([usdc, usdc, usdt, usdt, weth, weth, wbtc, sdai, sdai]) ?? usdc
}

async function readMorning(play: Play): Promise<Morning> {
  const { number } = await play.node.head()
  const views = await Promise.all(play.vaults.map(vault => vaultView(play.node, vault, number)))
  const pairs = play.vaults.flatMap(vault =>
    [...(play.holders.get(vault.address) ?? [])].map(holder => ({ token: vault.address, holder })),
  )
  const held = pairs.length === 0 ? [] : await balances(play.node, pairs, number)
  return {
    views: new Map(views.map(view => [view.vault, view])),
    balances: new Map(pairs.map(({ token, holder }, i) => [`${token} ${holder}`, held[i] ?? 0n])),
  }
}

function payYield(play: Play, day: Day, morning: Morning, extraYield: Map<Address, number>): void {
  for (const vault of play.vaults) {
    const yearly = annualYield[vault.asset.symbol]
    const view = morning.views.get(vault.address)
    // Some days bring nothing: a yield that never pauses would hide errors of windows.
    if (yearly === undefined || !view || view.totalSupply === 0n || play.random.chance(0.1)) continue
    const rate = yearly / 365 + (extraYield.get(vault.address) ?? 0)
    const parts = BigInt(Math.round(rate * play.random.between(0.7, 1.3) * 1e9))
    const assets = (view.totalAssets * parts) / 1_000_000_000n
    if (assets === 0n) continue
    schedule(play, day, calls.mintToken(play.world.actors.admin, vault.asset.address, vault.address, assets))
    count(play, 'yield payment')
  }
  rewardNested(play, day, morning)
}

/** Beside what its asset earns, the nested vault is now and then given shares of that asset. */
function rewardNested(play: Play, day: Day, morning: Morning): void {
  const { nested, usdt } = play.world.vaults
  const view = morning.views.get(nested.address)
  if (!view || view.totalSupply === 0n || !play.random.chance(0.2)) return
  const shares = permille(view.totalAssets, 1)
  schedule(play, day, calls.transfer(play.world.actors.whale, usdt.address, nested.address, shares))
  count(play, 'yield payment')
}

function doAct(play: Play, day: Day, morning: Morning, act: Act, vault: DeployedVault): void {
  switch (act) {
    case 'deposit':
      depositSome(play, day, vault)
      return
    case 'mint':
      mintSome(play, day, morning, vault)
      return
    case 'nest':
      nestSome(play, day, morning)
      return
    case 'bundle':
      bundle(play, day, morning, vault)
      return
    case 'odd':
      oddTransfer(play, day, vault)
      return
    default:
      useShares(play, day, morning, act, play.random.chance(0.12) ? play.world.vaults.nested : vault)
      return
  }
}

function depositSome(play: Play, day: Day, vault: DeployedVault): void {
  const symbol = assetSymbol(play, vault.asset)
  const user = play.random.pick(play.present)
  if (!symbol || !user) return
  const assets = worth(play, symbol, 150, play.random.chance(0.1) ? 60_000 : 8000)
  provide(play, day, user, vault.asset, assets, vault.address)
  // One deposit in twelve is a gift: sender and owner differ.
  const owner = play.random.chance(1 / 12) ? (play.random.pick(play.present) ?? user) : user
  schedule(play, day, calls.deposit(user, vault.address, assets, owner))
  hold(play, vault.address, owner)
  count(play, 'deposit')
}

function mintSome(play: Play, day: Day, morning: Morning, vault: DeployedVault): void {
  const view = morning.views.get(vault.address)
  const symbol = assetSymbol(play, vault.asset)
  const user = play.random.pick(play.present)
  if (!symbol || !user || !view || view.totalAssets === 0n) {
    depositSome(play, day, vault)
    return
  }
  const assets = worth(play, symbol, 150, 5000)
  const shares = (assets * view.totalSupply) / view.totalAssets
  // The price may have grown by the time of the block.
  provide(play, day, user, vault.asset, assets + assets / 10n + 10n, vault.address)
  schedule(play, day, calls.mint(user, vault.address, shares))
  hold(play, vault.address, user)
  count(play, 'mint')
}

function useShares(
  play: Play,
  day: Day,
  morning: Morning,
  act: 'redeem' | 'withdraw' | 'transfer' | 'delegated',
  vault: DeployedVault,
): void {
  const { random } = play
  const holder = random.pick(
    play.present.filter(user => (morning.balances.get(`${vault.address} ${user}`) ?? 0n) > 1000n),
  )
  const view = morning.views.get(vault.address)
  if (!holder || !view || view.totalSupply === 0n) return
  const shares = takeShares(morning, vault, holder, random.between(50, 450))
  const other = random.pick(play.present.filter(user => user !== holder)) ?? holder
  switch (act) {
    case 'redeem':
      schedule(play, day, calls.redeem(holder, vault.address, shares, random.chance(0.1) ? other : holder))
      count(play, 'redemption')
      return
    case 'withdraw': {
      // A little less than the shares are worth: the price may fall until the block.
      const assets = (shares * view.totalAssets * 8n) / (view.totalSupply * 10n)
      if (assets === 0n) return
      schedule(play, day, calls.withdraw(holder, vault.address, assets))
      count(play, 'withdrawal')
      return
    }
    case 'transfer': {
      const half = shares / 2n
      schedule(play, day, calls.transfer(holder, vault.address, other, half))
      if (random.chance(0.3)) schedule(play, day, calls.transfer(holder, vault.address, other, shares - half))
      hold(play, vault.address, other)
      count(play, 'share transfer')
      return
    }
    case 'delegated':
      allow(play, day, holder, vault.address, other)
      schedule(play, day, calls.redeem(other, vault.address, shares, other, holder))
      count(play, 'redemption')
      return
  }
}

function nestSome(play: Play, day: Day, morning: Morning): void {
  const { nested, usdt } = play.world.vaults
  const holder = play.random.pick(
    play.present.filter(user => (morning.balances.get(`${usdt.address} ${user}`) ?? 0n) > 10n ** 18n),
  )
  if (!holder) return
  const shares = takeShares(morning, usdt, holder, play.random.between(200, 600))
  allow(play, day, holder, usdt.address, nested.address)
  schedule(play, day, calls.deposit(holder, nested.address, shares))
  hold(play, nested.address, holder)
  count(play, 'deposit of one vault’s shares into another')
}

/** Two deposits, a mint, a transfer and a redemption for one user in one transaction, and one more in its block. */
function bundle(play: Play, day: Day, morning: Morning, vault: DeployedVault): void {
  const symbol = assetSymbol(play, vault.asset)
  const user = play.random.pick(play.present)
  const view = morning.views.get(vault.address)
  if (!symbol || !user || !view || view.totalAssets === 0n) return
  const assets = worth(play, symbol, 300, 3000)
  const shares = (assets * view.totalSupply) / view.totalAssets
  const agent = multicall3Address
  const { address: token } = vault.asset
  const parts: Call[] = [
    calls.mintToken(agent, token, agent, assets * 4n),
    // A token like USDT refuses to change an allowance that is not zero.
    calls.approve(agent, token, vault.address, 0n),
    calls.approve(agent, token, vault.address, assets * 4n),
    calls.deposit(agent, vault.address, assets, user),
    calls.deposit(agent, vault.address, assets / 3n, user),
    calls.mint(agent, vault.address, shares, agent),
    calls.transfer(agent, vault.address, user, shares / 2n),
    calls.redeem(agent, vault.address, shares - shares / 2n, user),
  ]
  provide(play, day, user, vault.asset, assets, vault.address)
  schedule(play, day, calls.together(user, parts), calls.deposit(user, vault.address, assets))
  hold(play, vault.address, user)
  count(play, 'several events of one user in one transaction')
}

/** Transfers that change nothing: of zero, and to oneself. */
function oddTransfer(play: Play, day: Day, vault: DeployedVault): void {
  const user = play.random.pick(play.present)
  const other = play.random.pick(play.present)
  if (!user || !other) return
  if (play.random.chance(0.5)) schedule(play, day, calls.transfer(user, vault.address, other, 0n))
  else schedule(play, day, calls.transfer(user, vault.address, user, 0n))
  count(play, 'share transfer')
}

/** The vault's assets shrink by a part of what they were in the morning, without shares being redeemed. */
export async function loseAssets(
  play: Play,
  day: Day,
  vault: DeployedVault,
  thousandths: number,
): Promise<void> {
  const { totalAssets } = await vaultView(play.node, vault)
  const assets = permille(totalAssets, thousandths)
  schedule(play, day, calls.burnToken(play.world.actors.admin, vault.asset.address, vault.address, assets))
  day.news.push(`${vault.symbol} loses ${thousandths / 10} % of its assets`)
}

/** A vault that lives a while and empties: six users come, and `closeBrief` redeems all of them. */
export function fillBrief(play: Play, day: Day, brief: DeployedVault): void {
  for (const user of play.present.slice(0, 6)) {
    const assets = worth(play, 'USDC', 500, 5000)
    prepare(day, calls.mintToken(play.world.actors.admin, brief.asset.address, user, assets))
    allow(play, day, user, brief.asset.address, brief.address)
    schedule(play, day, calls.deposit(user, brief.address, assets))
    hold(play, brief.address, user)
    count(play, 'deposit')
  }
  day.news.push(`${brief.symbol} opens`)
}

export async function closeBrief(play: Play, day: Day, brief: DeployedVault): Promise<void> {
  const holders = [...(play.holders.get(brief.address) ?? [])]
  const held = await balances(
    play.node,
    holders.map(holder => ({ token: brief.address, holder })),
  )
  for (const [i, holder] of holders.entries()) {
    const shares = held[i] ?? 0n
    if (shares === 0n) continue
    schedule(play, day, calls.redeem(holder, brief.address, shares))
    count(play, 'redemption')
  }
  day.news.push(`${brief.symbol} closes: everybody redeems`)
}

function takeShares(morning: Morning, vault: DeployedVault, holder: Address, thousandths: number): bigint {
  const key = `${vault.address} ${holder}`
  const had = morning.balances.get(key) ?? 0n
  const taken = permille(had, thousandths)
  morning.balances.set(key, had - taken)
  return taken
}

function hold(play: Play, vault: Address, holder: Address): void {
  const holders = play.holders.get(vault) ?? new Set()
  play.holders.set(vault, holders.add(holder))
}
