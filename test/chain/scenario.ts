import { type Address, encodeFunctionData, type Hex, pad, toEventSelector, toHex } from 'viem'
import type { Aave } from './aave.ts'
import { emitterAbi } from './abis.ts'
import { calls, deployVault } from './deploy.ts'
import { ScenarioError } from './errors.ts'
import { borrowTooMuch, configure, type Loans, liquidate, noLoans, playLending } from './lending-play.ts'
import type { Morpho } from './morpho.ts'
import { multicall3Address } from './multicall.ts'
import type { Node } from './node.ts'
import { count, type Day, type Deed, newDay, type Play, schedule } from './play.ts'
import { seededRandom } from './random.ts'
import { closeBrief, fillBrief, leaveForGood, loseAssets, playVaults } from './vault-play.ts'
import {
  type AssetFeed,
  type AssetSymbol,
  buildWorld,
  type DeployedVault,
  symbols,
  userCount,
  type World,
} from './world.ts'

export interface ScenarioOptions {
  /** Simulated days, at least 20. Default 130. */
  days?: number
  seed?: number
  /** After every day: days done, days in all, what was remarkable. */
  onProgress?(done: number, total: number, words: string): void
  companions?: readonly Companions[]
}

/** Others who live on the chain beside the scenario, and change nothing of what its own people do. */
export interface Companions {
  /** Known once they are deployed. */
  vaults: readonly DeployedVault[]
  /** After a day was planned, before its first block. */
  onDay(play: Play, day: Day): Promise<void>
}

export interface Checkpoint {
  name: string
  block: number
  timestamp: number
}

export interface Scenario {
  /** Unix seconds of the first day's midnight and of the last block. */
  start: number
  end: number
  vaults: DeployedVault[]
  users: Address[]
  /** Everybody who can hold shares, contracts included: their balances add up to the total supply. */
  holders: Address[]
  feeds: AssetFeed[]
  morpho: Morpho
  aave: Aave
  /** Other contracts by name. */
  deployments: { multicall3: Address; notAVault: Address; anyLog: Address }
  actors: World['actors']
  /** What happened, a sentence each. */
  plainWords: string[]
  checkpoints: Checkpoint[]
  tally: Partial<Record<Deed, number>>
  stats: { blocks: number; transactions: number }
}

const secondsPerDay = 86_400

/**
 * Plays months of vaults and lending on a fresh node, from the first full hour after its head on. The same seed,
 * days and genesis give the same transactions, logs and block times.
 */
export async function runScenario(node: Node, options: ScenarioOptions = {}): Promise<Scenario> {
  const days = options.days ?? 130
  if (days < 20) throw new ScenarioError(`The scenario needs 20 days or more, not ${days}`)
  const world = await buildWorld(node)
  const start = Math.ceil(((await node.head()).timestamp + 1) / 3600) * 3600
  const play = newPlay(node, world, options.seed ?? 1, days)
  const loans = noLoans()
  const checkpoints: Checkpoint[] = []
  const remarkable: string[] = []
  const mark = async (name: string) => {
    const { number, timestamp } = await node.head()
    checkpoints.push({ name, block: number, timestamp })
  }
  await mark('deployed')

  const script = writeScript(days)
  for (let index = 0; index < days; index++) {
    for (const name of script.marksBefore.get(index) ?? []) await mark(name)
    const day = newDay(play.random, index, start + index * secondsPerDay, script.isHourly(index))
    await planDay(play, day, loans, script)
    for (const { onDay } of options.companions ?? []) await onDay(play, day)
    for (const [slot, timestamp] of day.times.entries()) {
      for (const call of day.plan[slot] ?? []) await node.send(call)
      await node.mine(timestamp)
    }
    for (const news of day.news) remarkable.push(`Day ${index + 1}: ${news}.`)
    options.onProgress?.(index + 1, days, day.news.join('; '))
  }
  await node.mine(start + days * secondsPerDay)
  await mark('end')

  const { number, timestamp: end } = await node.head()
  return {
    start,
    end,
    vaults: play.vaults,
    users: world.actors.users,
    holders: allHolders(play),
    feeds: symbols.map(symbol => ({ ...world.assets[symbol].feed, asset: world.assets[symbol].token })),
    morpho: world.morpho,
    aave: world.aave,
    deployments: { multicall3: multicall3Address, notAVault: world.notAVault, anyLog: world.anyLog },
    actors: world.actors,
    plainWords: [...summary(play), ...remarkable],
    checkpoints,
    tally: Object.fromEntries(play.tally),
    stats: { blocks: number + 1, transactions: node.sent },
  }
}

/** On which day of the whole what happens. */
function writeScript(days: number) {
  const at = (fraction: number) => Math.round(days * fraction)
  const loss = at(0.5)
  const crash = at(0.7)
  const isHourly = (day: number) => day < 2 || Math.abs(day - loss) <= 3 || day >= days - 31
  const exits = new Map([0.58, 0.64, 0.78, 0.82, 0.88, 0.94].map((fraction, i) => [at(fraction), 3 + i * 8]))
  const marksBefore = new Map([
    [at(0.25), ['a quarter']],
    [loss, ['before the loss']],
    [loss + 1, ['after the loss']],
    [crash, ['before the crash']],
    [crash + 2, ['after the liquidations']],
    [at(0.9), ['nine tenths']],
  ])
  return {
    isHourly,
    marksBefore,
    exits,
    loss,
    /** Days on which the vault that lost earns more than usual. */
    recovery: [loss + 3, loss + at(0.25)] as const,
    crash,
    briefOpens: at(0.15),
    briefCloses: at(0.4),
    fee: at(0.2),
    caps: at(0.27),
    pause: at(0.32),
    impostors: new Set([5, at(0.36), at(0.85)]),
  }
}

type Script = ReturnType<typeof writeScript>

async function planDay(play: Play, day: Day, loans: Loans, script: Script): Promise<void> {
  const { index } = day
  welcome(play, index)
  const exit = script.exits.get(index)
  const leaver = exit === undefined ? undefined : play.world.actors.users[exit]
  if (leaver) await leaveForGood(play, day, leaver)
  if (index === script.briefOpens) await openBrief(play, day)
  const brief = play.vaults.find(vault => vault.symbol === briefSymbol)
  if (brief && index === script.briefCloses) await closeBrief(play, day, brief)

  const isRecovering = index >= script.recovery[0] && index < script.recovery[1]
  const extraYield = new Map(isRecovering ? [[play.world.vaults.weth.address, 0.0018]] : [])
  await playVaults(play, day, 8 + play.random.below(8), extraYield)
  if (index === script.loss) await loseAssets(play, day, play.world.vaults.weth, 120)

  const isQuiet = index >= script.crash && index <= script.crash + 1
  if (!isQuiet) await playLending(play, day, loans, 3 + play.random.below(3))
  if (index === script.crash - 1) borrowTooMuch(play, day, loans)
  if (index === script.crash + 1) await liquidate(play, day)
  if (index === script.fee) configure(play, day, 'fee')
  if (index === script.caps) configure(play, day, 'caps')
  if (index === script.pause) configure(play, day, 'pause')
  if (index === script.pause + 1) configure(play, day, 'unpause')
  if (script.impostors.has(index)) impostors(play, day)
  reportPrices(play, day, script)
}

/** Ten users are there at once, the others join one by one until half time. */
function welcome(play: Play, index: number): void {
  for (const [i, user] of play.world.actors.users.entries()) {
    const joins = i < 10 ? 0 : Math.round(((i - 9) / (userCount - 10)) * 0.5 * play.days)
    if (joins === index) play.present.push(user)
  }
}

const briefSymbol = 'bvUSDC'

async function openBrief(play: Play, day: Day): Promise<void> {
  const asset = play.world.assets.USDC.token
  const vault = await deployVault(
    play.node,
    { asset, offset: 0, name: 'Demo Brief Vault', symbol: briefSymbol },
    { mine: false },
  )
  const { number, timestamp } = await play.node.mine()
  const brief = { ...vault, deployedBlock: number, deployedAt: timestamp }
  play.vaults.push(brief)
  fillBrief(play, day, brief)
}

/** Logs that only look like a vault's: from a contract that is none, and with topics or data that do not fit. */
function impostors(play: Play, day: Day): void {
  const { actors, notAVault, anyLog, vaults } = play.world
  const from = actors.liquidator
  const shaped = (functionName: 'deposit' | 'withdraw') => ({
    from,
    to: notAVault,
    data: encodeFunctionData({ abi: emitterAbi, functionName, args: [1_000_000n] }),
  })
  const emit = (topics: Hex[], data: Hex) => ({
    from,
    to: anyLog,
    data: encodeFunctionData({ abi: emitterAbi, functionName: 'emitLog', args: [topics, data] }),
  })
  const deposit = toEventSelector('Deposit(address,address,uint256,uint256)')
  const user = pad(from)
  const list = [
    shaped('deposit'),
    shaped('withdraw'),
    // As the exchange of 2017 whose Deposit has the same signature: nothing indexed.
    emit([deposit], toHex(1, { size: 128 })),
    emit([deposit, user, user], toHex(1, { size: 32 })),
    emit([deposit, `0x${'f'.repeat(64)}`, user], toHex(1, { size: 64 })),
    emit([], toHex('no topics at all')),
  ]
  schedule(play, day, ...list)
  count(play, 'log that only looks like one of a vault', list.length)
  // Nobody has so much: the transaction reverts and leaves no log.
  schedule(play, day, { ...calls.redeem(from, vaults.usdc.address, 10n ** 30n), mayFail: true })
  count(play, 'transaction that failed')
}

const range = {
  USDC: [0.998, 1.002],
  USDT: [0.997, 1.002],
  DAI: [0.998, 1.003],
  WBTC: [86_000, 104_000],
} as const
const step = { USDC: 0.0004, USDT: 0.0005, DAI: 0.0004, WETH: 0.011, WBTC: 0.008 } as const

/** Dollars report once a day, ether and bitcoin four times; on the day of the crash ether falls by a third. */
function reportPrices(play: Play, day: Day, script: Script): void {
  const { actors, assets } = play.world
  for (const symbol of symbols) {
    const isDollar = symbol === 'USDC' || symbol === 'USDT' || symbol === 'DAI'
    for (let i = 0; i < (isDollar ? 1 : 4); i++) {
      const slot = Math.floor(((i + (isDollar ? 0.1 : 0.5)) / (isDollar ? 1 : 4)) * day.times.length)
      play.prices[symbol] = nextPrice(play, symbol, day.index, i, script)
      day.plan[slot]?.push(calls.reportPrice(actors.admin, assets[symbol].feed, play.prices[symbol]))
      count(play, 'price report')
    }
  }
  if (day.index === script.crash) day.news.push('ether falls by a third')
}

function nextPrice(play: Play, symbol: AssetSymbol, day: number, i: number, script: Script): number {
  const digits = symbol === 'WETH' || symbol === 'WBTC' ? 100 : 100_000_000
  const before = play.prices[symbol]
  const round = (price: number) => Math.round(price * digits) / digits
  if (symbol === 'WETH' && day === script.crash) return round(before * (i < 3 ? 0.88 : 1))
  const moved = before * (1 + play.random.between(-step[symbol], step[symbol]))
  const [low, high] = symbol === 'WETH' ? (day < script.crash ? [2850, 3350] : [2000, 2480]) : range[symbol]
  return round(Math.min(high, Math.max(low, moved)))
}

function newPlay(node: Node, world: World, seed: number, days: number): Play {
  return {
    node,
    world,
    random: seededRandom(seed),
    days,
    vaults: Object.values(world.vaults),
    prices: {
      USDC: world.assets.USDC.startPrice,
      USDT: world.assets.USDT.startPrice,
      DAI: world.assets.DAI.startPrice,
      WETH: world.assets.WETH.startPrice,
      WBTC: world.assets.WBTC.startPrice,
    },
    present: [],
    holders: new Map(),
    wallets: new Map(),
    allowances: new Set(),
    tally: new Map(),
  }
}

function allHolders(play: Play): Address[] {
  const { admin, whale, liquidator, users } = play.world.actors
  return [admin, whale, liquidator, ...users, ...play.vaults.map(vault => vault.address), multicall3Address]
}

function summary(play: Play): string[] {
  const { users } = play.world.actors
  const deeds = [...play.tally].sort(([, a], [, b]) => b - a).map(([deed, n]) => `${deed}: ${n}`)
  return [
    `${users.length} users, ${play.vaults.length} vaults, ${play.world.morpho.markets.length} Morpho Blue markets and ${play.world.aave.reserves.length} Aave v3 reserves lived through ${play.days} days.`,
    `What they did: ${deeds.join(', ')}.`,
  ]
}
