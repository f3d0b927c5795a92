import type { Network } from '../../db/networks.ts'
import type { DeadLetterBox } from '../handling/dead-letters.ts'
import { withoutContracts } from '../knowledge/registry-watch.ts'
import { CrossCheck } from './cross-check.ts'
import type { OnLeftOut } from './receipt-logs.ts'
import { type ChainRpc, openChainRpc } from './rpc.ts'

/** What the nodes of a chain are asked by, and what holds one of them against another where there are several. */
export function openNodes(
  {
    network,
    rpcUrls,
    crossCheckMs,
  }: { network: Network; rpcUrls: readonly string[]; crossCheckMs?: number | undefined },
  ignored: ReadonlySet<string>,
  deadLetters: DeadLetterBox,
): [ChainRpc | undefined, CrossCheck | undefined] {
  if (rpcUrls.length === 0) return [undefined, undefined]
  const onLeftOut: OnLeftOut = ({ block, hash, transaction, reason }) =>
    deadLetters.keep([
      {
        stage: 'decode',
        block: { number: block, hash, timestamp: Number.NaN },
        contract: '',
        reason:
          `Logs of transaction ${transaction} are left out: they are more than any answer that is read may have (${reason}). ` +
          `Everything else goes on; what they say is missing of the contracts in it.`,
      },
    ])
  const rpc = withoutContracts(openChainRpc(rpcUrls, { network: network.name, onLeftOut }), ignored)
  if (rpcUrls.length === 1) return [rpc, undefined]
  const check = new CrossCheck({
    chain: network.name,
    first: openChainRpc(rpcUrls.slice(0, 1)),
    second: openChainRpc(rpcUrls.slice(1)),
    onDifference: letters => deadLetters.keep(letters),
    patienceMs: crossCheckMs,
  })
  return [rpc, check]
}
