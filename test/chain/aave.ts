import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { type Abi, type Address, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { z } from 'zod'
import { aaveAbi } from './abis.ts'
import type { Artifact } from './compile.ts'
import { type Feed, sendDeployment, type Token } from './deploy.ts'
import type { Call, Node } from './node.ts'

const require = createRequire(import.meta.url)

export interface Reserve {
  asset: Token
  feed: Feed
  aToken: Address
  stableDebtToken: Address
  variableDebtToken: Address
}

export interface Aave {
  addressesProvider: Address
  pool: Address
  configurator: Address
  oracle: Address
  dataProvider: Address
  aclManager: Address
  treasury: Address
  reserves: Reserve[]
}

export interface ReserveConfig {
  asset: Token
  feed: Feed
  /** Fractions of one; bonus 0.05 means that the liquidator gets 105 %. */
  ltv: number
  liquidationThreshold: number
  liquidationBonus: number
}

const hardhatArtifact = z.object({
  abi: z.custom<Abi>(value => Array.isArray(value)),
  bytecode: z.string(),
  linkReferences: z.record(
    z.string(),
    z.record(z.string(), z.array(z.object({ start: z.number(), length: z.number() }))),
  ),
})

/** A contract of the package, e.g. `protocol/pool/Pool`; its libraries filled in. */
function artifact(path: string, libraries: Record<string, Address> = {}): Artifact {
  const file = `@aave/core-v3/artifacts/contracts/${path}.sol/${basename(path)}.json`
  const { abi, bytecode, linkReferences } = hardhatArtifact.parse(
    JSON.parse(readFileSync(require.resolve(file), 'utf8')),
  )
  let linked = bytecode
  for (const [name, places] of Object.values(linkReferences).flatMap(unit => Object.entries(unit))) {
    const address = libraries[name] ?? zeroAddress
    for (const { start } of places) {
      const at = 2 + start * 2
      linked = linked.slice(0, at) + address.slice(2) + linked.slice(at + 40)
    }
  }
  return { abi, bytecode: `0x${linked.slice(2)}` }
}

/**
 * A whole Aave v3 market, in the order of Aave's own deployment scripts: addresses provider, pool and configurator
 * behind their proxies, access control, oracle on the given feeds, and the reserves, all to be borrowed and to serve
 * as collateral. Mines three blocks from `timestamp` on, 12 s apart.
 */
export async function deployAave(node: Node, configs: ReserveConfig[], timestamp?: number): Promise<Aave> {
  const admin = node.accounts[0] ?? '0x'
  const treasury: Address = '0x00000000000000000000000000000000007ea5b1'
  const at = timestamp ?? (await node.head()).timestamp + 12
  const deploy = (path: string, args: readonly unknown[] = [], libraries: Record<string, Address> = {}) =>
    sendDeployment(node, artifact(path, libraries), args, `deploy ${basename(path)}`)
  const logic = (name: string, libraries: Record<string, Address> = {}) =>
    deploy(`protocol/libraries/logic/${name}`, [], libraries)
  const send = (to: Address, data: Hex, label: string) =>
    node.send({ from: admin, to, data, label: `Aave ${label}`, gas: 15_000_000n })

  const provider = await deploy('protocol/configuration/PoolAddressesProvider', ['Vaultlog demo', admin])
  const BorrowLogic = await logic('BorrowLogic')
  const libraries = {
    BorrowLogic,
    BridgeLogic: await logic('BridgeLogic'),
    EModeLogic: await logic('EModeLogic'),
    FlashLoanLogic: await logic('FlashLoanLogic', { BorrowLogic }),
    LiquidationLogic: await logic('LiquidationLogic'),
    PoolLogic: await logic('PoolLogic'),
    SupplyLogic: await logic('SupplyLogic'),
  }
  const ConfiguratorLogic = await logic('ConfiguratorLogic')
  const poolCode = await deploy('protocol/pool/Pool', [provider], libraries)
  const configuratorCode = await deploy('protocol/pool/PoolConfigurator', [], { ConfiguratorLogic })
  const one = (
    functionName:
      | 'setPoolImpl'
      | 'setPoolConfiguratorImpl'
      | 'setACLAdmin'
      | 'setACLManager'
      | 'setPriceOracle'
      | 'setPoolDataProvider',
    arg: Address,
  ) => send(provider, encodeFunctionData({ abi: aaveAbi, functionName, args: [arg] }), functionName)
  await one('setPoolImpl', poolCode)
  await one('setACLAdmin', admin)
  const aclManager = await deploy('protocol/configuration/ACLManager', [provider])
  await one('setACLManager', aclManager)
  for (const functionName of ['addPoolAdmin', 'addEmergencyAdmin'] as const) {
    await send(aclManager, encodeFunctionData({ abi: aaveAbi, functionName, args: [admin] }), functionName)
  }
  await one('setPoolConfiguratorImpl', configuratorCode)
  const sources = [configs.map(({ asset }) => asset.address), configs.map(({ feed }) => feed.proxy)]
  const oracle = await deploy('misc/AaveOracle', [provider, ...sources, zeroAddress, zeroAddress, 10n ** 8n])
  await one('setPriceOracle', oracle)
  const dataProvider = await deploy('misc/AaveProtocolDataProvider', [provider])
  await one('setPoolDataProvider', dataProvider)
  await node.mine(at)

  const read = { address: provider, abi: aaveAbi } as const
  const pool = lower(await node.client.readContract({ ...read, functionName: 'getPool' }))
  const configurator = lower(await node.client.readContract({ ...read, functionName: 'getPoolConfigurator' }))
  const tokens = {
    aTokenImpl: await deploy('protocol/tokenization/AToken', [pool]),
    stableDebtTokenImpl: await deploy('protocol/tokenization/StableDebtToken', [pool]),
    variableDebtTokenImpl: await deploy('protocol/tokenization/VariableDebtToken', [pool]),
  }
  const ray = (fraction: number) => BigInt(Math.round(fraction * 1e9)) * 10n ** 18n
  // Optimal usage 80 %, base 0, slopes 4 % and 60 % (variable), 0.5 % and 60 % (stable), then the stable offsets.
  const curve = [0.8, 0, 0.04, 0.6, 0.005, 0.6, 0.01, 0.08, 0.2].map(ray)
  const strategy = await deploy('protocol/pool/DefaultReserveInterestRateStrategy', [provider, ...curve])
  const inputs = configs.map(({ asset: { address, symbol, decimals } }) => ({
    ...tokens,
    underlyingAssetDecimals: decimals,
    interestRateStrategyAddress: strategy,
    underlyingAsset: address,
    treasury,
    incentivesController: zeroAddress,
    aTokenName: `Aave Demo ${symbol}`,
    aTokenSymbol: `aDemo${symbol}`,
    variableDebtTokenName: `Aave Demo Variable Debt ${symbol}`,
    variableDebtTokenSymbol: `variableDebtDemo${symbol}`,
    stableDebtTokenName: `Aave Demo Stable Debt ${symbol}`,
    stableDebtTokenSymbol: `stableDebtDemo${symbol}`,
    params: '0x10' as const,
  }))
  const data = encodeFunctionData({ abi: aaveAbi, functionName: 'initReserves', args: [inputs] })
  await node.send({ from: admin, to: configurator, data, label: 'Aave initReserves', gas: 60_000_000n })
  await node.mine(at + 12)

  const bps = (fraction: number) => BigInt(Math.round(fraction * 10_000))
  for (const { asset, ltv, liquidationThreshold, liquidationBonus } of configs) {
    const limits = [asset.address, bps(ltv), bps(liquidationThreshold), bps(1 + liquidationBonus)] as const
    await send(
      configurator,
      encodeFunctionData({ abi: aaveAbi, functionName: 'configureReserveAsCollateral', args: limits }),
      'configureReserveAsCollateral',
    )
    await send(
      configurator,
      encodeFunctionData({ abi: aaveAbi, functionName: 'setReserveBorrowing', args: [asset.address, true] }),
      'setReserveBorrowing',
    )
    await send(
      configurator,
      encodeFunctionData({ abi: aaveAbi, functionName: 'setReserveFactor', args: [asset.address, 1000n] }),
      'setReserveFactor',
    )
  }
  await node.mine(at + 24)

  const reserves: Reserve[] = []
  for (const { asset, feed } of configs) {
    const [aToken, stableDebtToken, variableDebtToken] = await node.client.readContract({
      address: dataProvider,
      abi: aaveAbi,
      functionName: 'getReserveTokensAddresses',
      args: [asset.address],
    })
    reserves.push({
      asset,
      feed,
      aToken: lower(aToken),
      stableDebtToken: lower(stableDebtToken),
      variableDebtToken: lower(variableDebtToken),
    })
  }
  return {
    addressesProvider: provider,
    pool,
    configurator,
    oracle,
    dataProvider,
    aclManager,
    treasury,
    reserves,
  }
}

const variableRate = 2n

/** Amounts are in base units of the asset; maxUint256 means everything where Aave takes it so. */
export function aaveCalls(pool: Address) {
  const call = (from: Address, data: Hex, label: string): Call => ({
    from,
    to: pool,
    data,
    label: `Aave ${label}`,
  })
  return {
    supply: (from: Address, asset: Address, amount: bigint, onBehalf = from) =>
      call(
        from,
        encodeFunctionData({ abi: aaveAbi, functionName: 'supply', args: [asset, amount, onBehalf, 0] }),
        'supply',
      ),
    withdraw: (from: Address, asset: Address, amount: bigint, to = from) =>
      call(
        from,
        encodeFunctionData({ abi: aaveAbi, functionName: 'withdraw', args: [asset, amount, to] }),
        'withdraw',
      ),
    borrow: (from: Address, asset: Address, amount: bigint) =>
      call(
        from,
        encodeFunctionData({
          abi: aaveAbi,
          functionName: 'borrow',
          args: [asset, amount, variableRate, 0, from],
        }),
        'borrow',
      ),
    repay: (from: Address, asset: Address, amount: bigint) =>
      call(
        from,
        encodeFunctionData({
          abi: aaveAbi,
          functionName: 'repay',
          args: [asset, amount, variableRate, from],
        }),
        'repay',
      ),
    liquidate: (from: Address, collateral: Address, debt: Address, user: Address, amount: bigint) =>
      call(
        from,
        encodeFunctionData({
          abi: aaveAbi,
          functionName: 'liquidationCall',
          args: [collateral, debt, user, amount, false],
        }),
        'liquidationCall',
      ),
  } as const
}

/** Configuration by the admin. Caps are in whole units of the asset, 0 = none. */
export function aaveConfigCalls(configurator: Address) {
  const call = (from: Address, data: Hex, label: string): Call => ({
    from,
    to: configurator,
    data,
    label: `Aave ${label}`,
  })
  return {
    setSupplyCap: (from: Address, asset: Address, cap: bigint) =>
      call(
        from,
        encodeFunctionData({ abi: aaveAbi, functionName: 'setSupplyCap', args: [asset, cap] }),
        'setSupplyCap',
      ),
    setBorrowCap: (from: Address, asset: Address, cap: bigint) =>
      call(
        from,
        encodeFunctionData({ abi: aaveAbi, functionName: 'setBorrowCap', args: [asset, cap] }),
        'setBorrowCap',
      ),
    setPaused: (from: Address, asset: Address, paused: boolean) =>
      call(
        from,
        encodeFunctionData({ abi: aaveAbi, functionName: 'setReservePause', args: [asset, paused] }),
        'setReservePause',
      ),
  } as const
}

function lower(address: Address): Address {
  return `0x${address.slice(2).toLowerCase()}`
}
