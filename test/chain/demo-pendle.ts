import { type Address, encodeFunctionData, parseAbi } from 'viem'
import type { Fact } from '../../db/registry/fact.ts'
import { hasTimeBefore, quickly } from './demo-time.ts'
import { calls } from './deploy.ts'
import { ScenarioError } from './errors.ts'
import type { Call } from './node.ts'
import { createMarket, deployPendle, deploySy, type PendleMarket, pendleCalls, seedMarket } from './pendle.ts'
import type { Day, Play } from './play.ts'
import type { Companions } from './scenario.ts'
import type { DeployedVault } from './world.ts'

/** Pendle's published contracts on the chain of the demo, with two markets over its vaults: one ends within the scenario. */
export interface DemoMarkets extends Companions {
  factory: Address
  short: PendleMarket
  long: PendleMarket
  /** Who may hold PT. */
  holders: readonly Address[]
  facts(): Fact[]
}

const COMES = 10
const DAY = 86_400
/** Who trades; they stay to the end of every scenario. */
const PARTICIPANTS = [0, 1, 2, 4, 5]

const marketAbi = parseAbi([
  'function swapExactPtForSy(address receiver, uint256 exactPtIn, bytes data) returns (uint256, uint256)',
  'function swapSyForExactPt(address receiver, uint256 exactPtOut, bytes data) returns (uint256, uint256)',
])

type Open = Pick<DemoMarkets, 'factory' | 'short' | 'long' | 'holders'>

export function createDemoMarkets(): DemoMarkets {
  let opened: Open | undefined
  let since = 0
  const known = (): Open => {
    if (!opened) throw new ScenarioError(`The markets come on day ${COMES}`)
    return opened
  }
  return {
    vaults: [],
    get factory() {
      return known().factory
    },
    get short() {
      return known().short
    },
    get long() {
      return known().long
    },
    get holders() {
      return known().holders
    },
    facts: () =>
      [known().short, known().long].map(({ sy }) => ({
        subject: `contract:1:${sy}`,
        kind: 'wrapper',
        value: {},
      })),
    async onDay(play, day) {
      if (!opened && day.index >= COMES && (await hasTimeBefore(play.node, day)))
        opened = await open(play, day)
      else if (opened) live(play, day, since++, opened)
    },
  }
}

async function open({ node, world, days }: Play, day: Day): Promise<Open> {
  const quick = quickly(node)
  const { admin, users } = world.actors
  const pendle = await deployPendle(quick)
  const today = Math.floor(day.start / DAY) * DAY
  const market = async (
    vault: DeployedVault,
    runs: number,
    liquidity: bigint,
    initialAnchor: bigint,
  ): Promise<PendleMarket> => {
    const { asset, address, symbol } = vault
    const unit = 10n ** BigInt(asset.decimals)
    await node.send(calls.mintToken(admin, asset.address, admin, 2n * liquidity * unit))
    const sy = await deploySy(quick, address, symbol)
    const made = await createMarket(quick, pendle, { sy, asset, expiry: today + runs * DAY, initialAnchor })
    await seedMarket(quick, made, admin, liquidity * unit)
    return made
  }
  const left = days - day.index
  const short = await market(world.vaults.usdc, Math.ceil(left / 2), 400_000n, 102n * 10n ** 16n)
  const long = await market(world.vaults.weth, left + 90, 150n, 105n * 10n ** 16n)
  const people = PARTICIPANTS.flatMap(n => users[n] ?? [])
  return { factory: pendle.marketFactory, short, long, holders: [admin, ...people] }
}

/** Every third day somebody buys PT in one market or makes and sells some; after its end PT are redeemed. */
function live({ world }: Play, day: Day, since: number, { short, long, holders }: Open): void {
  if (since % 3 !== 0) return
  const { admin } = world.actors
  const people = holders.slice(1)
  const round = since / 3
  const market = round % 2 === 0 ? short : long
  const user = people[round % people.length] ?? admin
  const unit = 10n ** BigInt(market.asset.decimals)
  const amount = ((market === short ? 4_000n : 2n) + BigInt(round % 7)) * unit
  const acts = pendleCalls(market)
  const trade = (functionName: 'swapExactPtForSy' | 'swapSyForExactPt', pt: bigint): Call => ({
    from: user,
    to: market.market,
    data: encodeFunctionData({ abi: marketAbi, functionName, args: [user, pt, '0x'] }),
    gas: 5_000_000n,
    label: functionName,
  })
  const slot = day.plan[Math.min(2, day.plan.length - 1)]
  const hasEnded = day.start >= market.expiry
  if (hasEnded) {
    // Whoever bought in the first rounds still holds this much.
    if (round % 4 === 0) slot?.push(...acts.unite(user, unit, true).map(call => ({ ...call, mayFail: true })))
    return
  }
  const given = [calls.mintToken(admin, market.asset.address, user, amount), ...acts.wrap(user, amount)]
  // A share is worth more than one asset: so much SY is certain to come of the amount, and to pay for so many PT.
  const sy = (amount * 7n) / 10n
  if (round % 4 < 2) {
    const pt = (sy * 9n) / 10n
    slot?.push(...given, calls.transfer(user, market.sy, market.market, sy), trade('swapSyForExactPt', pt))
  } else {
    const pt = (sy * 6n) / 10n
    slot?.push(
      ...given,
      ...acts.split(user, sy),
      calls.transfer(user, market.pt.address, market.market, pt),
      trade('swapExactPtForSy', pt),
    )
  }
}
