import { type Address, encodeFunctionData, type Hex, pad, toHex } from 'viem'
import { z } from 'zod'
import { erc20, feedAbi, morphoAbi } from '../chain/abis.ts'
import { morphoArtifacts, ownArtifacts } from '../chain/compile.ts'
import { calls, deployFeed, deployToken, deployVault, sendDeployment, type Token } from '../chain/deploy.ts'
import type { MarketParams } from '../chain/morpho.ts'
import { placeMulticall3 } from '../chain/multicall.ts'
import type { Node } from '../chain/node.ts'
import { seatAmm } from './amm-world.ts'
import { type FixedTermSeat, seatFixedTerm } from './fixed-term-world.ts'
import { MORPHO, MORPHO_PARAMS } from './lending-world.ts'
import { stand } from './stand.ts'
import * as w from './world.ts'

const hex = z.custom<Hex>()

/**
 * The made-up world's addresses with real contracts behind them: tokens, OpenZeppelin vaults and feeds, deployed and
 * then moved. `fixedTerm`: a market of Pendle and a vault of liquidity besides, on a node of Cancun. ALICE holds a million whole units of each asset, and has put one into the USD vault.
 */
export async function seatWorld(
  node: Node,
  options: { fixedTerm?: boolean } = {},
): Promise<FixedTermSeat | undefined> {
  await placeMulticall3(node)
  const move = async (from: Address, to: string) => {
    const code = hex.parse(await node.rpc('eth_getCode', [from, 'latest']))
    await node.rpc('anvil_setCode', [to, code])
  }
  const seat = (address: string, decimals: number): Token => ({
    address: address as Address,
    symbol: `A${decimals}`,
    name: 'asset',
    decimals,
  })
  const assets = [seat(w.USD_ASSET, 6), seat(w.ETH_ASSET, 18), seat(w.ODD_ASSET, 8)]
  for (const asset of assets) {
    await move((await deployToken(node, { decimals: asset.decimals })).address, asset.address)
  }
  const share = { decimals: 18, symbol: 'S', name: 'share' }
  const vaults: [string, Token, number][] = [
    [w.USD_VAULT, seat(w.USD_ASSET, 6), 12],
    [w.ETH_VAULT, seat(w.ETH_ASSET, 18), 0],
    [w.NESTED_VAULT, { ...share, address: w.USD_VAULT as Address }, 0],
    [w.ODD_VAULT, seat(w.ODD_ASSET, 8), 0],
  ]
  for (const [address, asset, offset] of vaults) {
    await move((await deployVault(node, { asset, offset })).address, address)
  }
  for (const [address, price] of [
    [w.USD_FEED, 1],
    [w.ETH_FEED, 3_000],
  ] as const) {
    const feed = await deployFeed(node, { description: 'x / USD', price })
    await move(feed.aggregator, address)
    const data = encodeFunctionData({
      abi: feedAbi,
      functionName: 'report',
      args: [BigInt(price) * 10n ** 8n],
    })
    await node.send({ from: node.accounts[0] ?? '0x', to: address as Address, data })
  }
  await seatMorpho(node, move)
  const alice = w.ALICE as Address
  await node.rpc('anvil_setBalance', [alice, '0x56bc75e2d63100000'])
  for (const { address, decimals } of assets) {
    const data = encodeFunctionData({
      abi: erc20,
      functionName: 'mint',
      args: [alice, 10n ** BigInt(decimals + 6)],
    })
    await node.send({ from: node.accounts[0] ?? '0x', to: address as Address, data })
  }
  await node.send(calls.approve(alice, w.USD_ASSET as Address, w.USD_VAULT as Address))
  await node.send(calls.deposit(alice, w.USD_VAULT as Address, 1_000_000n))
  await node.mine()
  if (!options.fixedTerm) return undefined
  const seated = await seatFixedTerm(node, w.USD_VAULT as Address, seat(w.USD_ASSET, 6))
  stand['{fixedTerm}'] = seated.market.market
  const amm = await seatAmm(node, seat(w.USD_ASSET, 6), seat(w.ETH_ASSET, 18), alice)
  stand['{ammVault}'] = amm.vault
  return { ...seated, events: [...seated.events, ...amm.events] }
}

/** Morpho Blue with the one market of the world. */
async function seatMorpho(node: Node, move: (from: Address, to: string) => Promise<void>): Promise<void> {
  const admin = node.accounts[0] ?? '0x'
  const { Morpho, IrmMock } = morphoArtifacts()
  const morpho = MORPHO as Address
  const params = MORPHO_PARAMS as MarketParams
  const scale = [w.ETH_FEED, w.USD_FEED, 18, 6]
  const deployed = [
    [await sendDeployment(node, Morpho, [admin]), MORPHO],
    [await sendDeployment(node, IrmMock), params.irm],
    [await sendDeployment(node, ownArtifacts().FeedOracle, scale), params.oracle],
  ] as const
  await node.mine()
  for (const [from, to] of deployed) await move(from, to)
  // The owner is the first word of storage, which code alone does not bring.
  await node.rpc('anvil_setStorageAt', [morpho, toHex(0, { size: 32 }), pad(admin)])
  const send = (data: Hex) => node.send({ from: admin, to: morpho, data })
  await send(encodeFunctionData({ abi: morphoAbi, functionName: 'enableIrm', args: [params.irm] }))
  await send(encodeFunctionData({ abi: morphoAbi, functionName: 'enableLltv', args: [params.lltv] }))
  await send(encodeFunctionData({ abi: morphoAbi, functionName: 'createMarket', args: [params] }))
  await node.mine()
}
