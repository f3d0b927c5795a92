import { type Address, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { withSuffix } from '../../db/attribution.ts'
import type { ChainReader } from '../chain/reader.ts'
import { RefusedError } from '../http/errors.ts'
import { erc4626Abi } from './abis.ts'
import { type createDryRunner, type DryRun, exchanged } from './dry-run.ts'
import type { Plan, ReadViews, Token } from './family.ts'
import { revertReason } from './revert-reason.ts'

export interface Simulation {
  /** Of a page that shows it: there is none, the simulation is a call of ours. */
  url: ''
  status: 'success' | 'failure' | 'internal server error'
  /** Base units by symbol. */
  tokensReceived?: Record<string, string>
  tokensSpent?: Record<string, string>
}

export interface BundleAction {
  name: string
  /** `value` in wei. */
  tx: { to: Address; chainId: number; data: Hex; value?: string }
  simulation?: Simulation
}

export interface Bundle {
  /** False where the node cannot run calls on a changed state: then nothing of it was tried out. */
  isSimulated: boolean
  currentActionIndex: number
  actions: BundleAction[]
}

export interface PlanOptions {
  /** The token refuses to change a nonzero allowance. */
  resetAllowance: boolean
  /** Base units of each token that is quoted; absent for the run that finds them. */
  quotes?: readonly bigint[]
}

/** What is to be made into a bundle. */
export interface Unfinished {
  network: string
  chainId: number
  user: Address
  action: string
  /** The block that the plan stands on. */
  block: bigint
  /** Tokens whose balances the run watches. */
  tokens: readonly Token[]
  /** Pure. */
  plan(options: PlanOptions): Plan
  /** What the plan is run for twice: how much of each the first run gave are the quotes that the second plan stands on. */
  quoted?: readonly Token[]
  simulate?: boolean | undefined
  /** The vault that says what its shares are worth, where the plan pays for shares. */
  worth?: { vault: Address; asset: Token; share: Token; by?: 'previewRedeem' | undefined }
  /** Appended to the payload of every action. */
  suffix?: Hex | undefined
}

/** The first read is of the newest block (or a young one); those after it are of the same. */
export function pinnedReads(reader: ChainReader, network: string, age: 'fresh' | 'cached'): ReadViews {
  let at: bigint | undefined
  return async views => {
    const reading = await reader.read(network, views, at === undefined ? { age } : { block: at })
    at = reading.block.number
    return reading
  }
}

/**
 * Runs a plan on the newest state before it is handed out; where it would revert, or would take something and give
 * nothing, the answer is a RefusedError with the reason.
 */
export function createFinisher(dryRun: ReturnType<typeof createDryRunner>) {
  const run = ({ network, user, tokens, worth }: Unfinished, plan: Plan): Promise<DryRun> =>
    dryRun(
      network,
      user,
      plan.actions.slice(plan.currentActionIndex),
      tokens,
      worth && plan.pays !== undefined ? { to: worth.vault, data: worthOf(worth) } : undefined,
    )

  /** Runs a plan, and once more with the allowance set to zero before where its approval was refused. */
  const attempt = async (unfinished: Unfinished, options: PlanOptions) => {
    const plan = unfinished.plan(options)
    const outcome = await run(unfinished, plan)
    const refused = plan.actions[plan.currentActionIndex + (outcome.status === 'failed' ? outcome.action : 0)]
    if (outcome.status !== 'failed' || refused?.name !== 'approve' || options.resetAllowance)
      return { plan, outcome, options }
    const again = { ...options, resetAllowance: true }
    const other = unfinished.plan(again)
    return { plan: other, outcome: await run(unfinished, other), options: again }
  }

  return async (unfinished: Unfinished): Promise<Bundle & { block: bigint }> => {
    const { chainId, tokens, suffix, simulate, block, quoted } = unfinished
    let tried = await attempt(unfinished, { resetAllowance: false })
    check(unfinished, tried.plan, tried.outcome)
    if (quoted) {
      const { outcome, options } = tried
      const quotes = quoted.map(token => gainOf(unfinished, outcome, token))
      tried = await attempt(unfinished, { ...options, quotes })
      check(unfinished, tried.plan, tried.outcome)
    }
    const { plan, outcome } = tried
    return {
      isSimulated: outcome.status === 'done',
      block,
      currentActionIndex: plan.currentActionIndex,
      actions: plan.actions.map(({ name, to, data, value }, n) => ({
        name,
        tx: {
          to,
          chainId,
          data: withSuffix(data, suffix),
          ...(value ? { value: String(value) } : {}),
        },
        ...(simulate && n >= plan.currentActionIndex
          ? { simulation: simulationOf(tokens, outcome, n - plan.currentActionIndex) }
          : {}),
      })),
    }
  }
}

/** In shares, so many that a price is said with digits to spare. */
const probeOf = ({ decimals }: Token) => 10n ** BigInt(decimals + 6)

const worthOf = ({ share, by }: NonNullable<Unfinished['worth']>): Hex =>
  encodeFunctionData({
    abi: erc4626Abi,
    functionName: by ?? 'convertToAssets',
    args: [probeOf(share)],
  })

/** Percent of what goes in that the shares have to be worth. */
const LEAST_WORTH = 99n

/** Where a token stands among balances, at whose end is the chain's own coin (the zero address); -1: not watched. */
const placeOf = (tokens: readonly Token[], { address }: Token): number =>
  address === zeroAddress ? tokens.length : tokens.findIndex(token => token.address === address)

/** What a run gave of a token, base units. Without a run there is nothing to promise. */
function gainOf({ action, network, tokens }: Unfinished, outcome: DryRun, token: Token): bigint {
  if (outcome.status !== 'done')
    throw new RefusedError(
      `No quote for this ${action}: the node of ${network} cannot try transactions out. Give the API one that takes state overrides in eth_call.`,
    )
  const n = placeOf(tokens, token)
  return (outcome.balances.at(-1)?.[n] ?? 0n) - (outcome.balances[0]?.[n] ?? 0n)
}

function check({ action, tokens, worth }: Unfinished, plan: Plan, outcome: DryRun): void {
  if (outcome.status === 'unknown') return
  if (outcome.status === 'failed') {
    const name = plan.actions[plan.currentActionIndex + outcome.action]?.name ?? action
    throw new RefusedError(
      `This ${action} would fail on chain at the action ${name}: ${revertReason(outcome.data)}.`,
    )
  }
  const before = outcome.balances[0] ?? []
  const after = outcome.balances.at(-1) ?? []
  for (const gained of plan.gains) {
    const n = placeOf(tokens, gained)
    if (n >= 0 && (after[n] ?? 0n) <= (before[n] ?? 0n)) {
      throw new RefusedError(`The amount is too small: this ${action} would give no ${gained.symbol}.`)
    }
  }
  if (!worth || plan.pays === undefined) return
  const { asset, share } = worth
  const n = tokens.findIndex(token => token.address === share.address)
  const received = (after[n] ?? 0n) - (before[n] ?? 0n)
  // What does not say what a share is worth is a token that shows its holders the asset (aTokens, Comets), or one for each.
  const value =
    outcome.question === undefined
      ? share.decimals === asset.decimals
        ? received
        : undefined
      : (received * outcome.question) / probeOf(share)
  // A unit is lost to rounding where shares are reckoned, and one where they are valued.
  if (value !== undefined && (value + 2n) * 100n < plan.pays * LEAST_WORTH) {
    throw new RefusedError(
      `This ${action} would give ${share.symbol} worth ${value} for ${plan.pays} (base units of ${asset.symbol}): less than ${LEAST_WORTH} %.`,
    )
  }
}

/** What the nth action of a run spent and received of these tokens. */
export function simulationOf(tokens: readonly Token[], outcome: DryRun, n: number): Simulation {
  const before = outcome.status === 'done' ? outcome.balances[n] : undefined
  const after = outcome.status === 'done' ? outcome.balances[n + 1] : undefined
  if (!before || !after) return { url: '', status: 'internal server error' }
  return { url: '', status: 'success', ...exchanged(tokens, before, after) }
}
