import { type Address, type Hex, zeroAddress } from 'viem'
import { withSuffix } from '../../db/attribution.ts'
import type { ChainReader } from '../chain/reader.ts'
import { RefusedError } from '../errors.ts'
import { createDryRunner, type DryRun, exchanged } from './dry-run.ts'
import { createFamilyFinder } from './families.ts'
import type { ActionName, Amount, Plan, ReadViews, Standing, TransactionFamily, VaultRef } from './family.ts'
import { revertReason } from './revert-reason.ts'

/** Addresses that stand for the chain's own coin. */
const nativeAddresses = new Set<string>([zeroAddress, '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'])

export interface BundleRequest {
  vault: VaultRef
  user: Address
  action: ActionName
  /** Lower case: the vault's asset, its share token, or the native coin. Says what `amount` is an amount of. */
  assetAddress: Address
  amount?: bigint
  all?: boolean
  simulate?: boolean
  /** Appended to the payload of every action. */
  suffix?: Hex
}

export interface Simulation {
  url: string
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
  currentActionIndex: number
  actions: BundleAction[]
}

/**
 * Makes payloads that land. Every bundle is run on the newest state before it is handed out; where it would revert,
 * or would take something and give nothing, the answer is a RefusedError with the reason.
 */
export function createPreparer(reader: ChainReader, known?: readonly TransactionFamily[]) {
  const findFamily = createFamilyFinder(reader, known)
  const dryRun = createDryRunner(reader.rpc)

  /** The first read is of the newest block; those after it are of the same. */
  const pinned = (network: string): ReadViews => {
    let at: bigint | undefined
    return async views => {
      const reading = await reader.read(network, views, at === undefined ? { age: 'fresh' } : { block: at })
      at = reading.block.number
      return reading
    }
  }

  const bind = async (vault: VaultRef) => {
    const bound = await findFamily(vault)
    if (!bound) throw new RefusedError('No transactions can be prepared for this vault.')
    return bound
  }

  const look = async (vault: VaultRef, user: Address, valued: boolean): Promise<Standing> =>
    (await bind(vault)).look(user, pinned(vault.network), { valued })

  const bundle = async (request: BundleRequest): Promise<Bundle & { block: bigint }> => {
    const { vault, user, action, suffix } = request
    const { amount, native } = amountOf(request)
    const standing = await look(vault, user, false)
    let plan = standing.build({ action, amount, native })
    let outcome = await run(vault, user, plan)
    const refused = plan.actions[plan.currentActionIndex + (outcome.status === 'failed' ? outcome.action : 0)]
    if (outcome.status === 'failed' && refused?.name === 'approve') {
      plan = standing.build({ action, amount, native, resetAllowance: true })
      outcome = await run(vault, user, plan)
    }
    check(vault, action, plan, outcome)
    return {
      block: standing.block.number,
      currentActionIndex: plan.currentActionIndex,
      actions: plan.actions.map(({ name, to, data, value }, n) => ({
        name,
        tx: {
          to,
          chainId: vault.chainId,
          data: withSuffix(data, suffix),
          ...(value ? { value: String(value) } : {}),
        },
        ...(request.simulate && n >= plan.currentActionIndex
          ? { simulation: simulationOf(vault, outcome, n - plan.currentActionIndex) }
          : {}),
      })),
    }
  }

  const run = (vault: VaultRef, user: Address, plan: Plan): Promise<DryRun> =>
    dryRun(vault.network, user, plan.actions.slice(plan.currentActionIndex), tokensOf(vault))

  return { look, bundle, bind, dryRun }
}

const tokensOf = (vault: VaultRef) =>
  vault.asset.address === vault.share.address ? [vault.asset] : [vault.asset, vault.share]

function amountOf(request: BundleRequest): { amount: Amount | undefined; native: boolean } {
  const { vault, assetAddress, amount, all } = request
  if (amount !== undefined && all) throw new RefusedError('amount and all=true exclude each other.')
  const isNative = nativeAddresses.has(assetAddress)
  if (isNative && vault.asset.address !== vault.wrappedNative) {
    throw new RefusedError(
      `The vault does not take the chain's own coin, its asset is ${vault.asset.symbol}.`,
    )
  }
  const isShare = assetAddress === vault.share.address && assetAddress !== vault.asset.address
  if (!isNative && !isShare && assetAddress !== vault.asset.address) {
    throw new RefusedError(
      `assetAddress must be the vault's asset ${vault.asset.address} (${vault.asset.symbol}) or its share token ${vault.share.address}.`,
    )
  }
  if (all) return { amount: { kind: 'all' }, native: isNative }
  if (amount === undefined) return { amount: undefined, native: isNative }
  return { amount: { kind: isShare ? 'shares' : 'assets', value: amount }, native: isNative }
}

function check(vault: VaultRef, action: ActionName, plan: Plan, outcome: DryRun): void {
  if (outcome.status === 'unknown') return
  if (outcome.status === 'failed') {
    const name = plan.actions[plan.currentActionIndex + outcome.action]?.name ?? action
    throw new RefusedError(
      `This ${action} would fail on chain at the action ${name}: ${revertReason(outcome.data)}.`,
    )
  }
  const before = outcome.balances[0] ?? []
  const after = outcome.balances.at(-1) ?? []
  const tokens = tokensOf(vault)
  for (const gained of plan.gains) {
    const n = tokens.findIndex(token => token.address === gained.address)
    if (n >= 0 && (after[n] ?? 0n) <= (before[n] ?? 0n)) {
      throw new RefusedError(`The amount is too small: this ${action} would give no ${gained.symbol}.`)
    }
  }
}

function simulationOf(vault: VaultRef, outcome: DryRun, n: number): Simulation {
  const before = outcome.status === 'done' ? outcome.balances[n] : undefined
  const after = outcome.status === 'done' ? outcome.balances[n + 1] : undefined
  if (!before || !after) return { url: '', status: 'internal server error' }
  return { url: '', status: 'success', ...exchanged(tokensOf(vault), before, after) }
}
