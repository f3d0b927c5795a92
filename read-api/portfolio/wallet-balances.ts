import type { Address } from 'viem'
import { erc20Abi } from 'viem'
import { networkOfChain } from '../../db/networks.ts'
import { within } from '../../db/process/within.ts'
import { keyOf } from '../catalogue/catalogue.ts'
import { chainUnavailable } from '../chain/errors.ts'
import { multicall3Abi, multicall3Address } from '../chain/multicall.ts'
import { NATIVE_ADDRESS } from '../chain/native-coins.ts'
import type { View } from '../chain/view.ts'
import { view } from '../chain/view.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { DependencyDownError } from '../http/errors.ts'

export interface TokenRef {
  readonly key: string
  readonly chainId: number
  readonly address: string
  readonly price?: number | undefined
}

export interface WalletBalances {
  /** Base units by `chain:address`. A token that does not answer is not there. */
  balances: ReadonlyMap<string, bigint>
  /** Chains whose balances are not known: no endpoint answered in time, or none is configured. */
  unreachable: string[]
  /** By chain, the block the balances are of. */
  blocks: ReadonlyMap<number, bigint>
}

type Asking = Pick<EndpointContext, 'deps' | 'shown' | 'signal'>

/** Tokens of strangers are asked together by no more than this, so that one of them spoils few others. */
const STRANGERS_AT_ONCE = 20

/**
 * What a wallet holds of these tokens on chain now: one batch of calls per chain, all under one deadline. Tokens of
 * strangers are asked last, for half as long, and that they do not answer says nothing of their chain.
 */
export async function readWallet(
  wallet: string,
  tokens: readonly TokenRef[],
  context: Asking,
  deadlineMs: number,
): Promise<WalletBalances> {
  const isTrusted = (token: TokenRef) => token.address === NATIVE_ADDRESS || context.shown.isTrusted(token)
  const known = await readTogether(wallet, tokens.filter(isTrusted), context, deadlineMs)
  const strange = tokens.filter(token => !isTrusted(token) && !known.unreachable.includes(nameOf(token)))
  if (strange.length === 0) return known
  const balances = new Map(known.balances)
  const blocks = new Map(known.blocks)
  const half = deadlineMs / 2
  const askStrangers = async (over: AbortSignal) => {
    for (let i = 0; i < strange.length && !over.aborted; i += STRANGERS_AT_ONCE) {
      const some = await readTogether(wallet, strange.slice(i, i + STRANGERS_AT_ONCE), context, half)
      for (const [key, balance] of some.balances) balances.set(key, balance)
      for (const [chainId, block] of some.blocks) if (!blocks.has(chainId)) blocks.set(chainId, block)
    }
  }
  await within({ ms: half, signal: context.signal }, askStrangers, () => {})
  return { balances: new Map(balances), unreachable: known.unreachable, blocks: new Map(blocks) }
}

const nameOf = ({ chainId }: TokenRef) => networkOfChain(chainId)?.name ?? String(chainId)

async function readTogether(
  wallet: string,
  tokens: readonly TokenRef[],
  { deps, signal }: Pick<EndpointContext, 'deps' | 'signal'>,
  deadlineMs: number,
): Promise<WalletBalances> {
  const byChain = new Map<number, Set<string>>()
  for (const { chainId, address } of tokens) {
    byChain.set(chainId, (byChain.get(chainId) ?? new Set()).add(address))
  }
  const balances = new Map<string, bigint>()
  const blocks = new Map<number, bigint>()
  const unreachable: string[] = []
  await Promise.all(
    [...byChain].map(async ([chainId, addresses]) => {
      const network = networkOfChain(chainId)?.name ?? String(chainId)
      const views: Record<string, View<bigint>> = {}
      for (const address of addresses) {
        views[address] =
          address === NATIVE_ADDRESS
            ? view(multicall3Abi, multicall3Address, 'getEthBalance', [wallet as Address])
            : view(erc20Abi, address as Address, 'balanceOf', [wallet as Address])
      }
      try {
        const { block, values } = await within(
          { ms: deadlineMs, signal },
          () => deps.onChain.reader.read(network, views),
          () => chainUnavailable(network),
        )
        blocks.set(chainId, block.number)
        for (const address of addresses) {
          const balance = values[address]
          if (balance !== undefined) balances.set(keyOf(chainId, address), balance)
        }
      } catch (error) {
        if (!(error instanceof DependencyDownError)) throw error
        unreachable.push(network)
      }
    }),
  )
  return { balances, unreachable: unreachable.sort(), blocks }
}
