import { type Address, encodeFunctionData } from 'viem'
import { ownArtifacts } from '../../chain/compile.ts'
import { calls, deployFeed, type Token } from '../../chain/deploy.ts'
import { deployEulerCore, evcAbi, evkAbi } from '../../chain/evk.ts'
import type { Stage } from './stage.ts'

/** Vaults of Euler v2 under one connector and one router, on contracts of our own after the EVK; each asset is worth 1 USD. */
export async function deployEuler<N extends string>({ node, deploy }: Stage, tokens: Record<N, Token>) {
  const { connector, vault, route } = await deployEulerCore(node, await deploy(ownArtifacts().AnyLog))
  await node.send(route('setSpread', [10n ** 15n]))
  const vaults = {} as Record<N, Address>
  for (const [name, token] of Object.entries(tokens) as [N, Token][]) {
    const feed = await deployFeed(node, { description: `${token.symbol} / USD`, price: 1 })
    const { address } = await vault({ token, feed })
    await node.mine()
    vaults[name] = address
  }
  return { evc: connector, vaults }
}

/** Deposits collateral and borrows against it, so that interest accrues to `lends`. Amounts in base units. */
export async function oweTo(
  { node }: Pick<Stage, 'node'>,
  borrower: Address,
  evc: Address,
  secures: { vault: Address; token: Token; amount: bigint },
  lends: { vault: Address; amount: bigint },
) {
  const send = async (to: Address, data: `0x${string}`) => node.send({ from: borrower, to, data })
  await node.send(calls.approve(borrower, secures.token.address, secures.vault))
  const deposit = encodeFunctionData({
    abi: evkAbi,
    functionName: 'deposit',
    args: [secures.amount, borrower],
  })
  await send(secures.vault, deposit)
  for (const [functionName, vault] of [
    ['enableCollateral', secures.vault],
    ['enableController', lends.vault],
  ] as const)
    await send(evc, encodeFunctionData({ abi: evcAbi, functionName, args: [borrower, vault] }))
  await node.mine()
  const borrow = encodeFunctionData({ abi: evkAbi, functionName: 'borrow', args: [lends.amount, borrower] })
  await send(lends.vault, borrow)
  await node.mine()
}
