import {
  type Address,
  decodeAbiParameters,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  parseAbi,
  toHex,
} from 'viem'
import { CallRejectedError } from '../chain/errors.ts'
import { multicall3Abi, multicall3Address } from '../chain/multicall.ts'
import type { Rpc } from '../chain/rpc.ts'
import { erc20Abi } from './abis.ts'
import { dryRunCode } from './dry-run-code.ts'
import type { PlannedAction, Token } from './family.ts'

export type DryRun =
  /**
   * Balances of `tokens` and then of the native coin: before all, and after each action. What was asked after the last,
   * undefined where nothing was answered.
   */
  | { status: 'done'; balances: bigint[][]; question?: bigint }
  | { status: 'failed'; action: number; data: Hex }
  /** The node cannot run calls on a changed state. */
  | { status: 'unknown' }

/** @see contracts/DryRun.sol */
const runAbi = parseAbi([
  'struct Call { address target; uint256 value; bytes data; }',
  'function run(Call[] calls)',
])
const resultsShape = [
  {
    type: 'tuple[]',
    components: [
      { name: 'success', type: 'bool' },
      { name: 'data', type: 'bytes' },
    ],
  },
] as const

interface Waiting {
  user: Address
  /** Calldata of `run`. */
  data: Hex
  /** What `run` reverted with, and whether it had the call to itself. */
  resolve(answer: { data: Hex | undefined; alone: boolean }): void
  reject(error: unknown): void
}

export interface DryRunOptions {
  /** Milliseconds for which concurrent runs are collected into one call. Default 3. */
  windowMs?: number
  /** Runs put into one eth_call at most: they share its gas. Default 10. */
  batchSize?: number
}

/** All in one call; undefined where the node refuses such a call altogether. */
async function runTogether(
  rpc: Rpc,
  network: string,
  runs: readonly Waiting[],
): Promise<(Hex | undefined)[]> {
  const overrides = Object.fromEntries(runs.map(({ user }) => [user, { code: dryRunCode }]))
  const calls = runs.map(({ user, data }) => ({ target: user, allowFailure: true, callData: data }))
  const first = runs.length === 1 ? runs[0] : undefined
  try {
    const answer = await rpc.request(network, 'eth_call', [
      {
        // Alone, the run has the user as origin of the transaction too.
        ...(first ? { from: first.user } : {}),
        to: multicall3Address,
        data: encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] }),
      },
      'latest',
      overrides,
    ])
    const results = decodeFunctionResult({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      data: answer as Hex,
    })
    // A run that succeeds has not run: the address kept its own code.
    return results.map(({ success, returnData }) => (success ? undefined : returnData))
  } catch (error) {
    if (error instanceof CallRejectedError) return runs.map(() => undefined)
    throw error
  }
}

/**
 * Runs actions one after the other as the user, on the newest state, without sending anything: in an eth_call for
 * which the user's own address carries the code of DryRun. So the contracts called see the user as their caller, and
 * an approval counts for the action that follows it. Several users are tried out in one call; each run is rolled back
 * before the next.
 */
export function createDryRunner(rpc: Rpc, { windowMs = 3, batchSize = 10 }: DryRunOptions = {}) {
  const queues = new Map<string, Waiting[]>()

  const flush = async (network: string, runs: readonly Waiting[]) => {
    try {
      const answers = await runTogether(rpc, network, runs)
      for (const [n, run] of runs.entries()) run.resolve({ data: answers[n], alone: runs.length === 1 })
    } catch (error) {
      for (const run of runs) run.reject(error)
    }
  }

  const enqueue = (network: string, user: Address, data: Hex) =>
    new Promise<{ data: Hex | undefined; alone: boolean }>((resolve, reject) => {
      const waiting = { user, data, resolve, reject }
      const queue = queues.get(network)
      if (queue) {
        queue.push(waiting)
        return
      }
      queues.set(network, [waiting])
      setTimeout(() => {
        const runs = queues.get(network) ?? []
        queues.delete(network)
        for (let at = 0; at < runs.length; at += batchSize)
          void flush(network, runs.slice(at, at + batchSize))
      }, windowMs)
    })

  return async function dryRun(
    network: string,
    user: Address,
    actions: readonly PlannedAction[],
    tokens: readonly Token[],
    question?: { to: Address; data: Hex },
  ): Promise<DryRun> {
    const look = looksOf(user, tokens)
    const calls = [...look]
    for (const { to, data, value = 0n } of actions) calls.push({ target: to, value, data }, ...look)
    if (question) calls.push({ target: question.to, value: 0n, data: question.data })
    const data = encodeFunctionData({ abi: runAbi, functionName: 'run', args: [calls] })
    const read = (answer: Hex | undefined) => outcomeOf(answer, look.length, actions.length)
    const first = await enqueue(network, user, data)
    let outcome = read(first.data)
    if (outcome.status !== 'done' && !first.alone) {
      // Others may have used the gas up, or a contract may look at the origin: what fails is tried again alone.
      const again = await new Promise<{ data: Hex | undefined }>((resolve, reject) => {
        void flush(network, [{ user, data, resolve, reject }])
      })
      outcome = read(again.data)
    }
    const [only] = actions
    if (outcome.status === 'failed' && actions.length === 1 && only) {
      // A contract that wants a caller without code fails here and not on chain.
      if (await passes(network, user, only)) return { status: 'unknown' }
    }
    return outcome
  }

  async function passes(
    network: string,
    user: Address,
    { to, data, value }: PlannedAction,
  ): Promise<boolean> {
    try {
      const call = { from: user, to, data, ...(value ? { value: toHex(value) } : {}) }
      await rpc.request(network, 'eth_call', [call, 'latest'])
      return true
    } catch (error) {
      if (error instanceof CallRejectedError) return false
      throw error
    }
  }
}

function looksOf(user: Address, tokens: readonly Token[]): { target: Address; value: bigint; data: Hex }[] {
  return [
    ...tokens.map(token => ({
      target: token.address,
      value: 0n,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [user] }),
    })),
    {
      target: multicall3Address,
      value: 0n,
      data: encodeFunctionData({ abi: multicall3Abi, functionName: 'getEthBalance', args: [user] }),
    },
  ]
}

function outcomeOf(answer: Hex | undefined, stride: number, actions: number): DryRun {
  const results = answer === undefined ? undefined : decodeResults(answer)
  if (!results) return { status: 'unknown' }
  const balances = [results.slice(0, stride).map(balanceOf)]
  for (let n = 0; n < actions; n++) {
    const at = stride + n * (stride + 1)
    const outcome = results[at]
    if (!outcome?.success) return { status: 'failed', action: n, data: outcome?.data ?? '0x' }
    balances.push(results.slice(at + 1, at + 1 + stride).map(balanceOf))
  }
  const asked = results[stride + actions * (stride + 1)]
  return { status: 'done', balances, ...(asked?.success ? { question: balanceOf(asked) } : {}) }
}

/** Undefined where the run itself broke off (its gas was used up). */
function decodeResults(answer: Hex): readonly { success: boolean; data: Hex }[] | undefined {
  try {
    return decodeAbiParameters(resultsShape, answer)[0]
  } catch {
    return undefined
  }
}

function balanceOf({ success, data }: { success: boolean; data: Hex }): bigint {
  return success && data.length >= 66 ? BigInt(data.slice(0, 66)) : 0n
}

/** What changed hands between two rows of balances, by symbol, in base units. */
export function exchanged(
  tokens: readonly Token[],
  before: readonly bigint[],
  after: readonly bigint[],
): { tokensReceived: Record<string, string>; tokensSpent: Record<string, string> } {
  const tokensReceived: Record<string, string> = {}
  const tokensSpent: Record<string, string> = {}
  for (const [n, symbol] of [...tokens.map(token => token.symbol), nativeSymbol].entries()) {
    const difference = (after[n] ?? 0n) - (before[n] ?? 0n)
    if (difference > 0n) tokensReceived[symbol] = String(difference)
    if (difference < 0n) tokensSpent[symbol] = String(-difference)
  }
  return { tokensReceived, tokensSpent }
}

const nativeSymbol = 'native'
