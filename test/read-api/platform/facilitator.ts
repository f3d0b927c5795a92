import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { x402Facilitator } from '@x402/core/facilitator'
import type { Network } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import express from 'express'
import type { Address, Hex } from 'viem'
import { createWalletClient, defineChain, encodeFunctionData, http, publicActions } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { ownArtifacts } from '../../chain/compile.ts'
import { startNode } from '../../chain/node.ts'

/** USDC of Base Sepolia as @x402/evm knows it (its DEFAULT_ASSETS): the code put there stands in for it. */
export const USDC: Address = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
export const NETWORK = 'eip155:84532'

const account = (index: number) =>
  mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: index })

/**
 * A chain with a token that is paid by signature, and a facilitator on it: the published one, over HTTP, which checks
 * signatures and balances and settles by a transaction on the chain.
 */
export async function startFacilitator() {
  const node = await startNode({ chainId: 84532, timestamp: Math.floor(Date.now() / 1000) - 60 })
  await node.rpc('evm_setAutomine', [true])
  const { abi, bytecode } = ownArtifacts().PaymentToken
  const chain = defineChain({
    id: 84532,
    name: 'test',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [node.rpcUrl] } },
  })
  const wallet = createWalletClient({ account: account(1), chain, transport: http() }).extend(publicActions)
  const deployed = await wallet.waitForTransactionReceipt({
    hash: await wallet.deployContract({ abi, bytecode }),
  })
  const code = await wallet.getCode({ address: deployed.contractAddress as Address })
  await node.rpc('anvil_setCode', [USDC, code])
  const mint = async (to: Address, amount: bigint) => {
    const hash = await wallet.sendTransaction({
      to: USDC,
      data: encodeFunctionData({ abi, functionName: 'mint', args: [to, amount] }),
    })
    await wallet.waitForTransactionReceipt({ hash })
  }
  const balanceOf = async (of: Address) =>
    (await wallet.readContract({ address: USDC, abi, functionName: 'balanceOf', args: [of] })) as bigint

  const facilitator = new x402Facilitator().register(
    NETWORK as Network,
    new ExactEvmScheme(
      toFacilitatorEvmSigner({
        address: wallet.account.address,
        readContract: args => wallet.readContract({ ...args, args: args.args ?? [] }),
        verifyTypedData: args => wallet.verifyTypedData(args as Parameters<typeof wallet.verifyTypedData>[0]),
        writeContract: ({ address, abi: of, functionName, args, gas }) =>
          wallet.writeContract({ address, abi: of, functionName, args, gas } as Parameters<
            typeof wallet.writeContract
          >[0]),
        sendTransaction: ({ to, data }) => wallet.sendTransaction({ to, data }),
        waitForTransactionReceipt: args => wallet.waitForTransactionReceipt(args),
        getCode: args => wallet.getCode(args),
      }),
    ),
  )
  const seen = { verified: 0, settled: [] as Hex[] }
  const app = express().use(express.json())
  app.get('/supported', (_request, response) => response.json(facilitator.getSupported()))
  app.post('/verify', async (request, response) => {
    seen.verified++
    response.json(await facilitator.verify(request.body.paymentPayload, request.body.paymentRequirements))
  })
  app.post('/settle', async (request, response) => {
    const settled = await facilitator.settle(request.body.paymentPayload, request.body.paymentRequirements)
    if (settled.success) seen.settled.push(settled.transaction as Hex)
    response.json(settled)
  })
  const server: Server = createServer(app)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    account,
    mint,
    balanceOf,
    transaction: (hash: Hex) => wallet.getTransactionReceipt({ hash }),
    async stop() {
      await new Promise(resolve => {
        server.close(resolve)
        server.closeAllConnections()
      })
      await node.stop()
    },
  }
}
