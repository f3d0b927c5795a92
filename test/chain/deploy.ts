import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  maxUint256,
  parseAbi,
} from 'viem'
import { erc20, erc4626, feedAbi } from './abis.ts'
import { type Artifact, ownArtifacts } from './compile.ts'
import { multicall3Address } from './multicall.ts'
import type { Call, Node } from './node.ts'

/** Addresses are lower case everywhere. */
export interface Token {
  address: Address
  symbol: string
  name: string
  decimals: number
}

export type VaultKind = 'openzeppelin' | 'self-ledger' | 'nested' | 'asynchronous' | 'metamorpho'

export interface Vault extends Token {
  kind: VaultKind
  asset: Token
}

export interface Feed {
  proxy: Address
  aggregator: Address
  description: string
  decimals: number
}

const deployer = (node: Node): Address => node.accounts[0] ?? '0x'

/** Sends a deployment without mining it; the address is known at once, from sender and nonce. */
export async function sendDeployment(
  node: Node,
  artifact: Artifact,
  args: readonly unknown[] = [],
  label = 'deployment',
): Promise<Address> {
  const from = deployer(node)
  const nonce = await node.nextNonce(from)
  const data = encodeDeployData({ abi: artifact.abi, bytecode: artifact.bytecode, args: [...args] })
  await node.send({ from, data, label })
  return lower(getContractAddress({ from, nonce: BigInt(nonce) }))
}

export interface Placing {
  /** false leaves the transactions in the pool, for the caller's next `node.mine()`. Default true. */
  mine?: boolean
}

const settle = async (node: Node, { mine = true }: Placing) => {
  if (mine) await node.mine()
}

export async function deployToken(
  node: Node,
  token: { name?: string; symbol?: string; decimals: number; returnsNothing?: boolean },
  placing: Placing = {},
): Promise<Token> {
  const { TestToken, NoReturnToken } = ownArtifacts()
  const symbol = token.symbol ?? `TT${token.decimals}`
  const name = token.name ?? `Test token of ${token.decimals} decimals`
  const artifact = token.returnsNothing ? NoReturnToken : TestToken
  const address = await sendDeployment(node, artifact, [name, symbol, token.decimals], `deploy ${symbol}`)
  await settle(node, placing)
  return { address, symbol, name, decimals: token.decimals }
}

/** An OpenZeppelin ERC-4626; without `asset` a token of `assetDecimals` is deployed for it. */
export async function deployVault(
  node: Node,
  vault: {
    asset?: Token
    assetDecimals?: number
    offset?: number
    name?: string
    symbol?: string
    nested?: boolean
  },
  placing: Placing = {},
): Promise<Vault> {
  const asset =
    vault.asset ?? (await deployToken(node, { decimals: vault.assetDecimals ?? 18 }, { mine: false }))
  const offset = vault.offset ?? 0
  const symbol = vault.symbol ?? `v${asset.symbol}`
  const name = vault.name ?? `Vault of ${asset.symbol}`
  const { TestVault } = ownArtifacts()
  const address = await sendDeployment(
    node,
    TestVault,
    [asset.address, name, symbol, offset],
    `deploy ${symbol}`,
  )
  await settle(node, placing)
  const kind = vault.nested ? 'nested' : 'openzeppelin'
  return { address, kind, name, symbol, decimals: asset.decimals + offset, asset }
}

/** Annual growth as a fraction, 0.05 = 5 %; the asset must be a TestToken of 18 decimals. */
export async function deploySelfLedgerVault(
  node: Node,
  vault: { asset: Token; name: string; symbol: string; annualRate: number },
  placing: Placing = {},
): Promise<Vault> {
  const ratePerSecond = (BigInt(Math.round(vault.annualRate * 1e9)) * 10n ** 18n) / (365n * 86_400n)
  const args = [vault.asset.address, vault.name, vault.symbol, ratePerSecond]
  const address = await sendDeployment(node, ownArtifacts().SelfLedgerVault, args, `deploy ${vault.symbol}`)
  await settle(node, placing)
  return {
    address,
    kind: 'self-ledger',
    name: vault.name,
    symbol: vault.symbol,
    decimals: 18,
    asset: vault.asset,
  }
}

/** Price per whole unit; 8 decimals as Chainlink's USD feeds have. */
export async function deployFeed(
  node: Node,
  feed: { description: string; price: number },
  placing: Placing = {},
): Promise<Feed> {
  const decimals = 8
  const { PriceAggregator, PriceProxy } = ownArtifacts()
  const answer = feedAnswer(feed.price)
  const aggregator = await sendDeployment(node, PriceAggregator, [decimals, feed.description, answer])
  const proxy = await sendDeployment(node, PriceProxy, [aggregator])
  await settle(node, placing)
  return { proxy, aggregator, description: feed.description, decimals }
}

/** A price as a feed of 8 decimals says it. */
export const feedAnswer = (price: number): bigint => BigInt(Math.round(price * 1e8))

/** Calls as values: sent with `node.send`, several to a block. */
export const calls = {
  mintToken: (from: Address, token: Address, to: Address, amount: bigint): Call => ({
    from,
    to: token,
    data: encodeFunctionData({ abi: erc20, functionName: 'mint', args: [to, amount] }),
    label: 'mint token',
  }),
  burnToken: (from: Address, token: Address, of: Address, amount: bigint): Call => ({
    from,
    to: token,
    data: encodeFunctionData({ abi: erc20, functionName: 'burn', args: [of, amount] }),
    label: 'burn token',
  }),
  approve: (from: Address, token: Address, spender: Address, amount = maxUint256): Call => ({
    from,
    to: token,
    data: encodeFunctionData({ abi: erc20, functionName: 'approve', args: [spender, amount] }),
    label: 'approve',
  }),
  transfer: (from: Address, token: Address, to: Address, amount: bigint): Call => ({
    from,
    to: token,
    data: encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [to, amount] }),
    label: 'transfer',
  }),
  deposit: (from: Address, vault: Address, assets: bigint, owner = from): Call => ({
    from,
    to: vault,
    data: encodeFunctionData({ abi: erc4626, functionName: 'deposit', args: [assets, owner] }),
    label: 'deposit',
  }),
  mint: (from: Address, vault: Address, shares: bigint, owner = from): Call => ({
    from,
    to: vault,
    data: encodeFunctionData({ abi: erc4626, functionName: 'mint', args: [shares, owner] }),
    label: 'mint shares',
  }),
  withdraw: (from: Address, vault: Address, assets: bigint, receiver = from, owner = from): Call => ({
    from,
    to: vault,
    data: encodeFunctionData({ abi: erc4626, functionName: 'withdraw', args: [assets, receiver, owner] }),
    label: 'withdraw',
  }),
  redeem: (from: Address, vault: Address, shares: bigint, receiver = from, owner = from): Call => ({
    from,
    to: vault,
    data: encodeFunctionData({ abi: erc4626, functionName: 'redeem', args: [shares, receiver, owner] }),
    label: 'redeem',
  }),
  reportPrice: (from: Address, feed: Feed, price: number): Call => ({
    from,
    to: feed.aggregator,
    data: encodeFunctionData({ abi: feedAbi, functionName: 'report', args: [feedAnswer(price)] }),
    label: `price of ${feed.description}`,
  }),
  /** All parts in one transaction; every part sees Multicall3 as its sender. */
  together: (from: Address, parts: readonly Call[]): Call => ({
    from,
    to: multicall3Address,
    data: encodeFunctionData({
      abi: parseAbi([
        'struct Call3 { address target; bool allowFailure; bytes callData; }',
        'struct Result { bool success; bytes returnData; }',
        'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
      ]),
      functionName: 'aggregate3',
      args: [
        parts.map(({ to = multicall3Address, data = '0x' }) => ({
          target: to,
          allowFailure: false,
          callData: data,
        })),
      ],
    }),
    gas: 20_000_000n,
    label: `multicall of ${parts.map(part => part.label).join(', ')}`,
  }),
} as const

export interface Step extends Placing {
  vault: Vault
}

/** Gives `user` the assets, approves and deposits them. Hash of the deposit. */
export async function deposit(
  node: Node,
  step: Step & { user: Address; assets: bigint; owner?: Address },
): Promise<Hex> {
  const { vault, user, assets } = step
  // The share of another vault cannot be minted: there the user must hold it.
  if (vault.kind !== 'nested') {
    await node.send(calls.mintToken(deployer(node), vault.asset.address, user, assets))
  }
  await node.send(calls.approve(user, vault.asset.address, vault.address, assets))
  const hash = await node.send(calls.deposit(user, vault.address, assets, step.owner ?? user))
  await settle(node, step)
  return hash
}

export async function redeem(
  node: Node,
  step: Step & { user: Address; shares: bigint; receiver?: Address },
): Promise<Hex> {
  const hash = await node.send(
    calls.redeem(step.user, step.vault.address, step.shares, step.receiver ?? step.user),
  )
  await settle(node, step)
  return hash
}

export async function transferShares(
  node: Node,
  step: Step & { from: Address; to: Address; shares: bigint },
): Promise<Hex> {
  const hash = await node.send(calls.transfer(step.from, step.vault.address, step.to, step.shares))
  await settle(node, step)
  return hash
}

/** The vault earns: assets come to it without new shares. Not for nested or self-ledger vaults. */
export async function donateYield(node: Node, step: Step & { assets: bigint }): Promise<Hex> {
  const { vault, assets } = step
  const hash = await node.send(calls.mintToken(deployer(node), vault.asset.address, vault.address, assets))
  await settle(node, step)
  return hash
}

/** The vault loses: assets go from it without shares. Not for nested or self-ledger vaults. */
export async function takeLoss(node: Node, step: Step & { assets: bigint }): Promise<Hex> {
  const { vault, assets } = step
  const hash = await node.send(calls.burnToken(deployer(node), vault.asset.address, vault.address, assets))
  await settle(node, step)
  return hash
}

function lower(address: Address): Address {
  return `0x${address.slice(2).toLowerCase()}`
}
