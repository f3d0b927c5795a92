import { encodeFunctionData } from 'viem'
import { networks } from '../db/networks.ts'
import { ownArtifacts } from '../test/chain/compile.ts'
import { calls, deployVault, sendDeployment } from '../test/chain/deploy.ts'
import { placeMulticall3 } from '../test/chain/multicall.ts'
import type { Node } from '../test/chain/node.ts'

/** A deposit is stored as two events: Deposited and ShareTransferred. */
const EVENTS_OF_DEPOSIT = 2

/** Mines final blocks full of deposits; gives the vault and the first and last block with any. */
export async function fillWithDeposits(
  node: Node,
  events: number,
  perBlock: number,
): Promise<{ vault: string; first: number; last: number }> {
  await placeMulticall3(node)
  const vault = await deployVault(node, { assetDecimals: 6, symbol: 'bench' })
  const [owner] = node.accounts
  if (!owner) throw new TypeError('a node without accounts')
  const burst = await sendDeployment(node, ownArtifacts().DepositBurst, [vault.address])
  await node.mine()
  await node.send(calls.mintToken(owner, vault.asset.address, burst, 10n ** 30n))
  await node.mine()
  const { number } = await node.head()
  const deposits = perBlock / EVENTS_OF_DEPOSIT
  const blocks = events / perBlock
  for (let i = 0; i < blocks; i++) {
    await node.send({
      from: owner,
      to: burst,
      data: encodeFunctionData({
        abi: ownArtifacts().DepositBurst.abi,
        functionName: 'run',
        args: [vault.address, BigInt(i * deposits), BigInt(deposits)],
      }),
      gas: 250_000_000n,
    })
    await node.mine()
  }
  // Everything becomes final: evm-processor ends a range when its last block is.
  await node.mineEmpty(networks.mainnet.finality)
  return { vault: vault.address, first: number + 1, last: number + blocks }
}
