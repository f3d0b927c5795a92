import {
  type Abi,
  type Address,
  encodeFunctionData,
  type Hex,
  type LocalAccount,
  parseTransaction,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { z } from 'zod'
import { createChainReader } from '../../../read-api/chain/reader.ts'
import type { ActionName, VaultRef } from '../../../read-api/transactions/family.ts'
import type { Bundle } from '../../../read-api/transactions/finish.ts'
import { type BundleRequest, createPreparer } from '../../../read-api/transactions/prepare.ts'
import { erc20 } from '../../chain/abis.ts'
import type { Artifact } from '../../chain/compile.ts'
import { sendDeployment, type Token } from '../../chain/deploy.ts'
import { placeMulticall3 } from '../../chain/multicall.ts'
import { type Node, startNode } from '../../chain/node.ts'

const receipt = z.object({ status: z.string(), gasUsed: z.string() })
const transaction = z.object({ input: z.string() })

/** A local node, and users who hold keys of their own and sign what they are given. */
export async function openStage(node: Node) {
  await placeMulticall3(node)
  const reader = createChainReader({
    rpc: { mainnet: [node.rpcUrl] },
    blockTime: { mainnet: 0 },
    windowMs: 0,
  })
  const preparer = createPreparer(reader)
  let users = 0

  const newUser = async (): Promise<LocalAccount> => {
    users++
    const account = privateKeyToAccount(toHex(0x7e57_0000n + BigInt(users), { size: 32 }))
    await node.rpc('anvil_setBalance', [account.address, toHex(10n ** 20n)])
    return account
  }

  /** Deploys and mines. */
  const deploy = async (artifact: Artifact, ...args: readonly unknown[]): Promise<Address> => {
    const address = await sendDeployment(node, artifact, args)
    await node.mine()
    return address
  }

  /** A transaction of the deployer, mined. */
  const act = async (to: Address, abi: Abi, functionName: string, ...args: readonly unknown[]) => {
    const data = encodeFunctionData({ abi, functionName, args })
    await node.send({ from: node.accounts[0] ?? '0x', to, data, label: functionName, gas: 20_000_000n })
    await node.mine()
  }

  const mint = (token: Token, to: Address, amount: bigint) => act(token.address, erc20, 'mint', to, amount)

  const balance = (token: Address, of: Address): Promise<bigint> =>
    node.client.readContract({ address: token, abi: erc20, functionName: 'balanceOf', args: [of] })

  /** Signs and sends; gives the status of the receipt. */
  const sign = async (user: LocalAccount, tx: Bundle['actions'][number]['tx']) => {
    const nonce = await node.client.getTransactionCount({ address: user.address })
    const signed = await user.signTransaction?.({
      type: 'eip1559',
      chainId: tx.chainId,
      to: tx.to,
      data: tx.data,
      value: BigInt(tx.value ?? '0'),
      nonce,
      gas: 3_000_000n,
      maxFeePerGas: 20_000_000_000n,
      maxPriorityFeePerGas: 0n,
    })
    if (!signed) throw new Error('the account cannot sign')
    expect(parseTransaction(signed).data ?? '0x').toBe(tx.data)
    const hash = z.string().parse(await node.rpc('eth_sendRawTransaction', [signed])) as Hex
    await node.mine()
    const { status } = receipt.parse(await node.rpc('eth_getTransactionReceipt', [hash]))
    const { input } = transaction.parse(await node.rpc('eth_getTransactionByHash', [hash]))
    return { landed: status === '0x1', hash, input }
  }

  type Wish = Partial<Omit<BundleRequest, 'vault' | 'user' | 'action'>>

  const bundle = (vault: VaultRef, user: LocalAccount, action: ActionName, wish: Wish = {}) =>
    preparer.bundle({
      vault,
      user: user.address,
      action,
      assetAddress: vault.asset.address,
      ...wish,
    })

  /** Takes the bundle, signs and sends what is left of it, and expects every transaction to land. */
  const perform = async (vault: VaultRef, user: LocalAccount, action: ActionName, wish: Wish = {}) => {
    const made = await bundle(vault, user, action, wish)
    const inputs: string[] = []
    for (const { name, tx } of made.actions.slice(made.currentActionIndex)) {
      const { landed, input } = await sign(user, tx)
      expect(landed, `${action}: ${name}`).toBe(true)
      inputs.push(input)
    }
    return { ...made, inputs }
  }

  const look = (vault: VaultRef, user: LocalAccount) => preparer.look(vault, user.address, true)

  const wait = async (seconds: number) => {
    const { timestamp } = await node.head()
    await node.mine(timestamp + seconds)
  }

  return { node, reader, preparer, newUser, deploy, act, mint, balance, sign, bundle, perform, look, wait }
}

export type Stage = Awaited<ReturnType<typeof openStage>>

export const startStage = async () => openStage(await startNode())

export const vaultRef = (
  address: Address,
  asset: Token,
  share: { symbol: string; decimals: number },
): VaultRef => ({
  network: 'mainnet',
  chainId: 1,
  address,
  asset: { address: asset.address, symbol: asset.symbol, decimals: asset.decimals },
  share: { address, ...share },
})
