import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import {
  type Abi,
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseAbi,
  parseEventLogs,
  toFunctionSelector,
  toHex,
  zeroAddress,
} from 'viem'
import { z } from 'zod'
import type { Artifact } from './compile.ts'
import { calls, deployToken, sendDeployment, type Token } from './deploy.ts'
import { ScenarioError } from './errors.ts'
import type { Call, Node } from './node.ts'

const require = createRequire(import.meta.url)

/** Where the router and the oracle stand on every network. */
export const ROUTER: Address = '0x888888888889758f76e7103c6cbf23abbf58f946'
export const ORACLE: Address = '0x5542be50420e88dd7d5b4a3d488fa6ed82f6dac2'

export interface Pendle {
  admin: Address
  marketFactory: Address
  yieldContractFactory: Address
  treasury: Address
}

export interface PendleMarket {
  market: Address
  pt: Token
  yt: Address
  sy: Address
  asset: Token
  expiry: number
}

/** Written out from the published sources, as are those of `abis.ts`. */
export const pendleAbi = parseAbi([
  'event CreateNewMarket(address indexed market, address indexed PT, int256 scalarRoot, int256 initialAnchor, uint256 lnFeeRateRoot)',
  'event CreateYieldContract(address indexed SY, uint256 indexed expiry, address PT, address YT)',
  'function createYieldContract(address SY, uint32 expiry, bool doCacheIndexSameBlock) returns (address PT, address YT)',
  'function createNewMarket(address PT, int256 scalarRoot, int256 initialAnchor, uint80 lnFeeRateRoot) returns (address)',
  'struct MarketState { int256 totalPt; int256 totalSy; int256 totalLp; address treasury; int256 scalarRoot; uint256 expiry; uint256 lnFeeRateRoot; uint256 reserveFeePercent; uint256 lastLnImpliedRate; }',
  'function readState(address router) view returns (MarketState market)',
  'function readTokens() view returns (address SY, address PT, address YT)',
  'function mint(address receiver, uint256 netSyDesired, uint256 netPtDesired) returns (uint256, uint256, uint256)',
  'function burn(address receiverSy, address receiverPt, uint256 netLpToBurn) returns (uint256, uint256)',
  'function deposit(address receiver, address tokenIn, uint256 amountTokenToDeposit, uint256 minSharesOut) payable returns (uint256)',
  'function exchangeRate() view returns (uint256)',
  'function pyIndexStored() view returns (uint256)',
  'function mintPY(address receiverPT, address receiverYT) returns (uint256)',
  'function redeemPY(address receiver) returns (uint256)',
  'function getPtToAssetRate(address market, uint32 duration) view returns (uint256)',
  'function initialize(uint96 expiryDivisor, uint128 interestFeeRate, uint128 rewardFeeRate, address treasury, address owner)',
  'struct SelectorsToFacet { address facet; bytes4[] selectors; }',
  'function setSelectorToFacets(SelectorsToFacet[] arr)',
])

const initializers = {
  owner: parseAbi(['function initialize(address owner)']),
  market: parseAbi(['function initialize(address owner, address treasury, uint8 reserveFeePercent)']),
  oracle: parseAbi(['function initialize(uint16 blockCycleNumerator, address owner)']),
}

const split = parseAbi([
  'event Deployed(string indexed name, address creationCodeContractA, uint256 creationCodeSizeA, address creationCodeContractB, uint256 creationCodeSizeB)',
  'function deploy(string name, bytes creationCode)',
])

const artifactShape = z.object({
  abi: z.custom<Abi>(value => Array.isArray(value)),
  bytecode: z.string(),
  deployedBytecode: z.string().optional(),
  linkReferences: z
    .record(z.string(), z.record(z.string(), z.array(z.object({ start: z.number(), length: z.number() }))))
    .optional(),
})

const published = (file: string) =>
  artifactShape.parse(JSON.parse(readFileSync(require.resolve(file), 'utf8')))

/** A contract of the package; its libraries filled in. */
function artifact(path: string, library: Address = zeroAddress, of = '@pendle/core-v2'): Artifact {
  const {
    abi,
    bytecode,
    linkReferences = {},
  } = published(`${of}/build/artifacts/contracts/${path}.sol/${basename(path)}.json`)
  let linked = bytecode
  for (const { start } of Object.values(linkReferences).flatMap(unit => Object.values(unit).flat())) {
    const at = 2 + start * 2
    linked = linked.slice(0, at) + library.slice(2) + linked.slice(at + 40)
  }
  return { abi, bytecode: linked as Hex }
}

const proxyArtifact = (): Artifact => {
  const { abi, bytecode } = published('@openzeppelin/contracts-4.9/build/contracts/ERC1967Proxy.json')
  return { abi, bytecode: bytecode as Hex }
}

const lower = (address: string) => address.toLowerCase() as Address

/** Of the router's owner; the table of facets follows two words later. @see RouterStorage.sol */
const ROUTER_STORAGE = 0xf168c5b0cb4aca9a68f931815c18a144c61ad01d6dd7ca15bd6741672a0ab800n

const FACETS = ['ActionSwapPTV3', 'ActionMiscV3', 'ActionSimple', 'ActionCallbackV3'] as const

/** The published contracts of Pendle, the router and the oracle where they stand on every network. Mines a few blocks. */
export async function deployPendle(node: Node): Promise<Pendle> {
  const admin = node.accounts[0] ?? '0x'
  const treasury: Address = '0x000000000000000000000000000000000000feed'
  const deploy = (path: string, args: readonly unknown[] = []) =>
    sendDeployment(node, artifact(path), args, `deploy ${basename(path)}`)
  const behindProxy = async (implementation: Address, data: Hex) =>
    sendDeployment(node, proxyArtifact(), [implementation, data], 'deploy proxy')

  const library = await sendDeployment(node, artifact('core/Market/OracleLib'))
  const reward = await deployToken(node, { symbol: 'PENDLE', name: 'Pendle', decimals: 18 }, { mine: false })
  const splitter = await deploy('offchain-helpers/BaseSplitCodeFactoryContract')
  await node.mine()
  const codeOf = async (name: string, code: Hex) => {
    const data = encodeFunctionData({ abi: split, functionName: 'deploy', args: [name, code] })
    const hash = await node.send({
      from: admin,
      to: splitter,
      data,
      gas: 20_000_000n,
      label: `split ${name}`,
    })
    await node.mine()
    const { logs } = await node.client.getTransactionReceipt({ hash })
    const [event] = parseEventLogs({ abi: split, logs })
    if (!event) throw new ScenarioError(`no code of ${name}`)
    const { creationCodeContractA, creationCodeSizeA, creationCodeContractB, creationCodeSizeB } = event.args
    return [creationCodeContractA, creationCodeSizeA, creationCodeContractB, creationCodeSizeB]
  }
  const ytCode = await codeOf('PendleYieldToken', artifact('core/YieldContracts/PendleYieldToken').bytecode)
  const marketCode = await codeOf('PendleMarketV7', artifact('core/Market/PendleMarketV7', library).bytecode)
  const yieldCode = await deploy('core/YieldContracts/PendleYieldContractFactoryUpg', ytCode)
  const yieldContractFactory = await behindProxy(
    yieldCode,
    encodeFunctionData({
      abi: pendleAbi,
      functionName: 'initialize',
      args: [86_400n, 5n * 10n ** 16n, 3n * 10n ** 16n, treasury, admin],
    }),
  )
  const gaugeCode = await deploy('LiquidityMining/GaugeController/PendleGaugeControllerUpg', [reward.address])
  const gauge = await behindProxy(
    gaugeCode,
    encodeFunctionData({ abi: initializers.owner, functionName: 'initialize', args: [admin] }),
  )
  const factoryCode = await deploy('core/Market/PendleMarketFactoryV7Upg', [
    yieldContractFactory,
    ...marketCode,
    gauge,
  ])
  const marketFactory = await behindProxy(
    factoryCode,
    encodeFunctionData({ abi: initializers.market, functionName: 'initialize', args: [admin, treasury, 80] }),
  )
  await node.mine()
  await placeOracle(node, admin)
  await placeRouter(node, admin)
  return { admin, marketFactory, yieldContractFactory, treasury }
}

async function placeOracle(node: Node, admin: Address): Promise<void> {
  const code = await sendDeployment(node, artifact('oracles/PtYtLpOracle/PendlePYLpOracle'))
  const data = encodeFunctionData({
    abi: initializers.oracle,
    functionName: 'initialize',
    args: [1000, admin],
  })
  const proxy = await sendDeployment(node, proxyArtifact(), [code, data])
  await node.mine()
  await node.rpc('anvil_setCode', [ORACLE, await node.client.getCode({ address: proxy })])
  await node.rpc('anvil_setStorageAt', [ORACLE, slotOf(IMPLEMENTATION_SLOT), word(code)])
  await node.send({ from: admin, to: ORACLE, data, label: 'initialize the oracle' })
  await node.mine()
}

/** The slot of a proxy's implementation. @see EIP-1967 */
const IMPLEMENTATION_SLOT = BigInt(keccak256(toHex('eip1967.proxy.implementation'))) - 1n
const slotOf = (slot: bigint) => toHex(slot, { size: 32 })
const word = (address: Address) => encodeAbiParameters([{ type: 'address' }], [address])

async function placeRouter(node: Node, admin: Address): Promise<void> {
  const storage = await sendDeployment(node, artifact('router/ActionStorageV4'))
  const router = await sendDeployment(node, artifact('router/PendleRouterV4'), [admin, storage])
  const facets = await Promise.all(FACETS.map(name => artifact(`router/${name}`))).then(async list => {
    const placed: { facet: Address; selectors: Hex[] }[] = []
    for (const of of list) {
      const selectors = of.abi.flatMap(entry =>
        entry.type === 'function' ? [toFunctionSelector(entry)] : [],
      )
      placed.push({ facet: await sendDeployment(node, of), selectors })
    }
    return placed
  })
  await node.mine()
  await node.rpc('anvil_setCode', [ROUTER, await node.client.getCode({ address: router })])
  await node.rpc('anvil_setStorageAt', [ROUTER, slotOf(ROUTER_STORAGE), word(admin)])
  const selector = toFunctionSelector('setSelectorToFacets((address,bytes4[])[])')
  const place = keccak256(
    encodeAbiParameters([{ type: 'bytes4' }, { type: 'uint256' }], [selector, ROUTER_STORAGE + 2n]),
  )
  await node.rpc('anvil_setStorageAt', [ROUTER, place, word(storage)])
  const data = encodeFunctionData({ abi: pendleAbi, functionName: 'setSelectorToFacets', args: [facets] })
  await node.send({ from: admin, to: ROUTER, data, label: 'facets of the router', gas: 20_000_000n })
  await node.mine()
}

/** An SY around an ERC-4626 vault. */
export async function deploySy(node: Node, vault: Address, name: string): Promise<Address> {
  const path = 'core/StandardizedYield/implementations/PendleERC4626SY'
  const args = [`SY ${name}`, `SY-${name}`, vault]
  const sy = await sendDeployment(node, artifact(path, zeroAddress, 'pendle-sy'), args, `deploy SY ${name}`)
  await node.mine()
  return sy
}

export interface MarketTerms {
  sy: Address
  asset: Token
  /** Unix seconds, a multiple of a day. */
  expiry: number
  scalarRoot?: bigint
  initialAnchor?: bigint
}

/** PT, YT and a market of them, without liquidity. */
export async function createMarket(node: Node, pendle: Pendle, terms: MarketTerms): Promise<PendleMarket> {
  const { sy, asset, expiry, scalarRoot = 20n * 10n ** 18n, initialAnchor = 102n * 10n ** 16n } = terms
  const made = async (to: Address, data: Hex, label: string) => {
    const hash = await node.send({ from: pendle.admin, to, data, gas: 20_000_000n, label })
    await node.mine()
    return parseEventLogs({ abi: pendleAbi, logs: (await node.client.getTransactionReceipt({ hash })).logs })
  }
  const yields = await made(
    pendle.yieldContractFactory,
    encodeFunctionData({ abi: pendleAbi, functionName: 'createYieldContract', args: [sy, expiry, true] }),
    'createYieldContract',
  )
  const contract = yields.find(log => log.eventName === 'CreateYieldContract')
  if (contract?.eventName !== 'CreateYieldContract') throw new ScenarioError('no yield contract')
  const { PT, YT } = contract.args
  const markets = await made(
    pendle.marketFactory,
    encodeFunctionData({
      abi: pendleAbi,
      functionName: 'createNewMarket',
      args: [PT, scalarRoot, initialAnchor, 998_003_992_015_960n],
    }),
    'createNewMarket',
  )
  const created = markets.find(log => log.eventName === 'CreateNewMarket')
  if (created?.eventName !== 'CreateNewMarket') throw new ScenarioError('no market')
  const text = parseAbi([
    'function name() view returns (string)',
    'function symbol() view returns (string)',
    'function decimals() view returns (uint8)',
  ])
  const read = { address: PT, abi: text } as const
  const pt = {
    address: lower(PT),
    name: await node.client.readContract({ ...read, functionName: 'name' }),
    symbol: await node.client.readContract({ ...read, functionName: 'symbol' }),
    decimals: await node.client.readContract({ ...read, functionName: 'decimals' }),
  }
  return { market: lower(created.args.market), pt, yt: lower(YT), sy, asset, expiry }
}

/** Single acts on a market's own contracts; amounts are base units of the token named. */
export function pendleCalls({ market, pt, yt, sy, asset }: PendleMarket) {
  const call = (from: Address, to: Address, data: Hex, label: string): Call => ({
    from,
    to,
    data,
    label: `Pendle ${label}`,
    gas: 5_000_000n,
  })
  const encode = encodeFunctionData
  const abi = pendleAbi
  return {
    /** Of the asset, into SY. */
    wrap: (from: Address, amount: bigint) => [
      calls.approve(from, asset.address, sy),
      call(
        from,
        sy,
        encode({ abi, functionName: 'deposit', args: [from, asset.address, amount, 0n] }),
        'deposit',
      ),
    ],
    /** Of SY, into PT and YT. */
    split: (from: Address, amount: bigint) => [
      calls.transfer(from, sy, yt, amount),
      call(from, yt, encode({ abi, functionName: 'mintPY', args: [from, from] }), 'mintPY'),
    ],
    /** PT and as many YT (before the expiry) back into SY. */
    unite: (from: Address, amount: bigint, isExpired: boolean) => [
      calls.transfer(from, pt.address, yt, amount),
      ...(isExpired ? [] : [calls.transfer(from, yt, yt, amount)]),
      call(from, yt, encode({ abi, functionName: 'redeemPY', args: [from] }), 'redeemPY'),
    ],
    addLiquidity: (from: Address, sySent: bigint, ptSent: bigint) => [
      calls.transfer(from, sy, market, sySent),
      calls.transfer(from, pt.address, market, ptSent),
      call(from, market, encode({ abi, functionName: 'mint', args: [from, sySent, ptSent] }), 'mint'),
    ],
    removeLiquidity: (from: Address, lp: bigint) => [
      calls.transfer(from, market, market, lp),
      call(from, market, encode({ abi, functionName: 'burn', args: [from, from, lp] }), 'burn'),
    ],
  }
}

/** Liquidity from nothing: the holder needs 2 × `amount` of the asset. Mines. */
export async function seedMarket(node: Node, of: PendleMarket, from: Address, amount: bigint): Promise<void> {
  const acts = pendleCalls(of)
  const balance = (token: Address) =>
    node.client.readContract({
      address: token,
      abi: parseAbi(['function balanceOf(address) view returns (uint256)']),
      functionName: 'balanceOf',
      args: [from],
    })
  for (const call of acts.wrap(from, 2n * amount)) await node.send(call)
  await node.mine()
  const half = (await balance(of.sy)) / 2n
  for (const call of acts.split(from, half)) await node.send(call)
  await node.mine()
  const [sy, pt] = [await balance(of.sy), await balance(of.pt.address)]
  for (const call of acts.addLiquidity(from, sy, pt / 2n)) await node.send(call)
  await node.mine()
}

export const approveRouter = (from: Address, token: Address): Call => ({
  ...calls.approve(from, token, ROUTER),
  label: 'approve the router',
})
