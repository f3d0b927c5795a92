import request from 'supertest'
import { type Address, decodeFunctionData, type Hex, parseAbi, toHex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { z } from 'zod'
import type { Node } from '../chain/node.ts'
import type { ApiHarness } from '../read-api/harness.ts'
import { balanceOf, type VaultMarket } from './world.ts'

/** Users who hold keys of their own, ask the API for bundles, sign what they are given and look at what came of it. */

const bundleShape = z.object({
  currentActionIndex: z.number(),
  actions: z.array(
    z.object({
      name: z.string(),
      tx: z.object({ to: z.string(), chainId: z.number(), data: z.string(), value: z.string().optional() }),
      simulation: z
        .object({ status: z.string(), tokensReceived: z.record(z.string(), z.string()).optional() })
        .optional(),
    }),
  ),
})
type Bundle = z.infer<typeof bundleShape>

export const newTrader = async (node: Node, n: number): Promise<PrivateKeyAccount> => {
  const account = privateKeyToAccount(toHex(0x9e4d_0000n + BigInt(n), { size: 32 }))
  await node.rpc('anvil_setBalance', [account.address, toHex(10n ** 21n)])
  return account
}

/** What of the router's functions a bundle may call, written out from IPActionSwapPTV3.sol and IPActionMiscV3.sol. */
const swaps = parseAbi([
  'struct ApproxParams { uint256 guessMin; uint256 guessMax; uint256 guessOffchain; uint256 maxIteration; uint256 eps; }',
  'struct SwapData { uint8 swapType; address extRouter; bytes extCalldata; bool needScale; }',
  'struct TokenInput { address tokenIn; uint256 netTokenIn; address tokenMintSy; address pendleSwap; SwapData swapData; }',
  'struct TokenOutput { address tokenOut; uint256 minTokenOut; address tokenRedeemSy; address pendleSwap; SwapData swapData; }',
  'struct Order { uint256 salt; uint256 expiry; uint256 nonce; uint8 orderType; address token; address YT; address maker; address receiver; uint256 makingAmount; uint256 lnImpliedRate; uint256 failSafeRate; bytes permit; }',
  'struct FillOrderParams { Order order; bytes signature; uint256 makingAmount; }',
  'struct LimitOrderData { address limitRouter; uint256 epsSkipMarket; FillOrderParams[] normalFills; FillOrderParams[] flashFills; bytes optData; }',
  'function swapExactTokenForPt(address receiver, address market, uint256 minPtOut, ApproxParams guessPtOut, TokenInput input, LimitOrderData limit) payable',
  'function swapExactPtForToken(address receiver, address market, uint256 exactPtIn, TokenOutput output, LimitOrderData limit)',
  'function redeemPyToToken(address receiver, address YT, uint256 netPyIn, TokenOutput output)',
])

/** What a payload insists on, and which function it is of. */
export function floorOf(data: string): { of: string; token: Address | undefined; least: bigint } {
  const { functionName, args } = decodeFunctionData({ abi: swaps, data: data as Hex })
  if (functionName === 'swapExactTokenForPt') return { of: functionName, token: undefined, least: args[2] }
  const output = args[3]
  return { of: functionName, token: output.tokenOut, least: output.minTokenOut }
}

interface Wish {
  user: PrivateKeyAccount
  market: VaultMarket
  action: 'swap-in' | 'swap-out'
  amount: bigint
  assetAddress?: Address
  slippage?: number
}

export async function askBundle(api: ApiHarness, { user, market, action, amount, ...wish }: Wish) {
  const asset = wish.assetAddress ?? (action === 'swap-in' ? market.asset.address : market.pt.address)
  return request(api.app)
    .get(`/beta/fixed-term/transactions/${action}/${user.address}/mainnet/${market.market}`)
    .query({
      assetAddress: asset,
      amount: String(amount),
      simulate: 'true',
      ...(wish.slippage ? { slippage: String(wish.slippage) } : {}),
    })
    .set('x-api-key', api.apiKey)
}

/** Signs what is left of a bundle and mines it as one block; whether all of it landed. */
export async function send(
  node: Node,
  user: PrivateKeyAccount,
  bundle: Bundle,
  at?: number,
): Promise<boolean> {
  let nonce = await node.client.getTransactionCount({ address: user.address })
  const hashes: Hex[] = []
  for (const { tx } of bundle.actions.slice(bundle.currentActionIndex)) {
    const signed = await user.signTransaction({
      type: 'eip1559',
      chainId: tx.chainId,
      to: tx.to as Address,
      data: tx.data as Hex,
      value: BigInt(tx.value ?? '0'),
      nonce: nonce++,
      gas: 3_000_000n,
      maxFeePerGas: 100_000_000_000n,
      maxPriorityFeePerGas: 0n,
    })
    hashes.push(z.string().parse(await node.rpc('eth_sendRawTransaction', [signed])) as Hex)
  }
  await node.mine(at)
  const receipts = await Promise.all(hashes.map(hash => node.client.getTransactionReceipt({ hash })))
  return receipts.every(({ status }) => status === 'success')
}

export interface Traded {
  landed: boolean
  /** Base units of what came out. */
  received: bigint
  least: bigint
  quote: bigint
  by: string
}

/** Asks, signs, sends; expects the floor to be the quote less the slippage, and what landed to be at least the floor. */
export async function trade(node: Node, api: ApiHarness, wish: Wish, at?: number): Promise<Traded> {
  const answer = await askBundle(api, wish)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  const bundle = bundleShape.parse(answer.body)
  const last = bundle.actions.at(-1)
  const { of: by, token = wish.market.pt.address, least } = floorOf(last?.tx.data ?? '0x')
  const gained = Object.values(last?.simulation?.tokensReceived ?? {})[0] ?? '0'
  const slippage = BigInt(Math.round((wish.slippage ?? 0.005) * 1e9))
  // The minimum stands on the run without one; the run of the payload itself, closer searched, gave at least as much.
  expect(BigInt(gained)).toBeGreaterThanOrEqual(least)
  expect(least).toBeGreaterThanOrEqual(
    (BigInt(gained) * (10n ** 9n - slippage)) / 10n ** 9n - BigInt(gained) / 10_000n - 2n,
  )
  const before = await balanceOf(node, token, wish.user.address)
  const landed = await send(node, wish.user, bundle, at)
  const received = (await balanceOf(node, token, wish.user.address)) - before
  if (landed) expect(received).toBeGreaterThanOrEqual(least)
  return { landed, received, least, quote: BigInt(gained), by }
}
