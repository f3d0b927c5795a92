import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  pad,
  parseAbi,
  toEventSelector,
} from 'viem'
import { emitterAbi } from './abis.ts'
import { ownArtifacts } from './compile.ts'
import { type Feed, sendDeployment, type Token } from './deploy.ts'
import type { Call, Node } from './node.ts'

/** @see IEVault.sol of euler-vault-kit, EulerRouter.sol of euler-price-oracle; what is set is set as EvkLike.sol has it. */
export const evkAbi = parseAbi([
  'function deposit(uint256 assets, address receiver) returns (uint256)',
  'function withdraw(uint256 assets, address receiver, address owner) returns (uint256)',
  'function transfer(address to, uint256 shares) returns (bool)',
  'function borrow(uint256 assets, address receiver) returns (uint256)',
  'function repay(uint256 assets, address receiver) returns (uint256)',
  'function pullDebt(uint256 assets, address from)',
  'function liquidate(address violator, address collateral, uint256 repayAssets, uint256 minYieldBalance)',
  'function disableController()',
  'function touch()',
  'function setLTV(address collateral, uint16 borrowLTV, uint16 liquidationLTV, uint32 ramp)',
  'function setMaxLiquidationDiscount(uint16 discount)',
  'function setRates(uint256 baseRate, uint256 slope)',
  'function setCaps(uint16 supplyCap, uint16 borrowCap)',
  'function setHookedOps(uint32 hookedOps)',
  'function redeem(uint256 shares, address receiver, address owner) returns (uint256)',
  'function debtOf(address account) view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function convertToAssets(uint256 shares) view returns (uint256)',
  'function totalAssets() view returns (uint256)',
  'function totalBorrows() view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function accumulatedFees() view returns (uint256)',
  'function interestAccumulator() view returns (uint256)',
  'function interestRate() view returns (uint256)',
  'function cash() view returns (uint256)',
  'function LTVBorrow(address collateral) view returns (uint16)',
  'function LTVLiquidation(address collateral) view returns (uint16)',
  'function accountLiquidity(address account, bool liquidation) view returns (uint256 covered, uint256 owes)',
])

/** @see IEthereumVaultConnector.sol */
export const evcAbi = parseAbi([
  'function enableCollateral(address account, address vault) payable',
  'function enableController(address account, address vault) payable',
  'function getControllers(address account) view returns (address[])',
  'function getCollaterals(address account) view returns (address[])',
  'function getAccountOwner(address account) view returns (address)',
  'struct BatchItem { address targetContract; address onBehalfOfAccount; uint256 value; bytes data; }',
  'function batch(BatchItem[] items) payable',
])

export const eulerRouterAbi = parseAbi([
  'function govSetConfig(address base, address quote, address feed, uint8 decimals)',
  'function govSetResolvedVault(address vault, bool set)',
  'function setSpread(uint256 spread)',
  'function setMaxStaleness(uint256 seconds_)',
  'function getQuote(uint256 amount, address base, address quote) view returns (uint256)',
])

interface EvkVault {
  address: Address
  token: Token
}

export interface EvkMarket {
  connector: Address
  router: Address
  /** Tells of the vaults as Euler's GenericFactory does. */
  factory: Address
  lender: EvkVault
  collateral: EvkVault
}

const PROXY_CREATED = toEventSelector('ProxyCreated(address,bool,address,bytes)')
/** The unit of account of Euler's own markets. */
export const USD = '0x0000000000000000000000000000000000000348' as const

const call = (from: Address, to: Address, data: NonNullable<Call['data']>, label: string): Call => ({
  from,
  to,
  data,
  label: `EVK ${label}`,
})

/** A connector and a router, and a way to make vaults of them, each told by `anyLog` as the factory would. */
export async function deployEulerCore(node: Node, anyLog: Address) {
  const { EvcLike, EulerRouterLike, EvkLike } = ownArtifacts()
  const connector = await sendDeployment(node, EvcLike)
  const router = await sendDeployment(node, EulerRouterLike)
  const admin = node.accounts[0] as Address
  const route = (
    functionName: 'govSetConfig' | 'govSetResolvedVault' | 'setSpread' | 'setMaxStaleness',
    args: unknown[],
  ) =>
    call(
      admin,
      router,
      encodeFunctionData({ abi: eulerRouterAbi, functionName, args } as Parameters<
        typeof encodeFunctionData
      >[0]),
      functionName,
    )
  /** A vault is born closed; its governor opens it unless it is to stay so. */
  const vault = async ({
    token,
    feed,
    isClosed = false,
  }: {
    token: Token
    feed: Feed
    isClosed?: boolean
  }): Promise<EvkVault> => {
    const args = [connector, token.address, token.decimals, router, USD]
    const address = await sendDeployment(node, EvkLike, args)
    const trailing = concat([token.address, router, USD])
    const data = encodeAbiParameters(
      [{ type: 'bool' }, { type: 'address' }, { type: 'bytes' }],
      [true, address, trailing],
    )
    const topics = [PROXY_CREATED, pad(address)] as const
    await node.send({
      from: admin,
      to: anyLog,
      data: encodeFunctionData({ abi: emitterAbi, functionName: 'emitLog', args: [topics, data] }),
      label: 'ProxyCreated',
    })
    await node.send(route('govSetConfig', [token.address, USD, feed.proxy, token.decimals]))
    await node.send(route('govSetResolvedVault', [address, true]))
    const open = encodeFunctionData({ abi: evkAbi, functionName: 'setHookedOps', args: [0] })
    if (!isClosed) await node.send(call(admin, address, open, 'setHookedOps'))
    return { address, token }
  }
  return { connector, router, vault, route }
}

/** Two EvkLike vaults: one lends against the shares of the other. */
export async function deployEvk(
  node: Node,
  anyLog: Address,
  lent: { token: Token; feed: Feed },
  secures: { token: Token; feed: Feed },
): Promise<EvkMarket> {
  const { connector, router, vault } = await deployEulerCore(node, anyLog)
  const market = {
    connector,
    router,
    factory: anyLog,
    lender: await vault(lent),
    collateral: await vault(secures),
  }
  const admin = node.accounts[0] as Address
  await node.send(evkCalls(market).setLtv(admin, 8_000, 8_500, 0))
  await node.send(evkCalls(market).setMaxDiscount(admin, 1_500))
  await node.mine()
  return market
}

/** Amounts are base units of the vault's asset. */
export function evkCalls({ connector, lender, collateral }: EvkMarket) {
  const encode = encodeFunctionData
  const abi = evkAbi
  return {
    deposit: (from: Address, to: Address, assets: bigint) =>
      call(from, to, encode({ abi, functionName: 'deposit', args: [assets, from] }), 'deposit'),
    withdraw: (from: Address, to: Address, assets: bigint) =>
      call(from, to, encode({ abi, functionName: 'withdraw', args: [assets, from, from] }), 'withdraw'),
    transfer: (from: Address, of: Address, to: Address, shares: bigint) =>
      call(from, of, encode({ abi, functionName: 'transfer', args: [to, shares] }), 'transfer'),
    borrow: (from: Address, assets: bigint) =>
      call(from, lender.address, encode({ abi, functionName: 'borrow', args: [assets, from] }), 'borrow'),
    repay: (from: Address, assets: bigint) =>
      call(from, lender.address, encode({ abi, functionName: 'repay', args: [assets, from] }), 'repay'),
    pullDebt: (from: Address, of: Address, assets: bigint) =>
      call(from, lender.address, encode({ abi, functionName: 'pullDebt', args: [assets, of] }), 'pullDebt'),
    liquidate: (from: Address, violator: Address, repay: bigint) =>
      call(
        from,
        lender.address,
        encode({ abi, functionName: 'liquidate', args: [violator, collateral.address, repay, 0n] }),
        'liquidate',
      ),
    touch: (from: Address) => call(from, lender.address, encode({ abi, functionName: 'touch' }), 'touch'),
    setLtv: (from: Address, borrowBps: number, liquidationBps: number, ramp: number) =>
      call(
        from,
        lender.address,
        encode({ abi, functionName: 'setLTV', args: [collateral.address, borrowBps, liquidationBps, ramp] }),
        'setLTV',
      ),
    setMaxDiscount: (from: Address, bps: number) =>
      call(
        from,
        lender.address,
        encode({ abi, functionName: 'setMaxLiquidationDiscount', args: [bps] }),
        'setMaxLiquidationDiscount',
      ),
    enable: (account: Address, role: 'Collateral' | 'Controller') =>
      call(
        account,
        connector,
        encode({
          abi: evcAbi,
          functionName: `enable${role}`,
          args: [account, role === 'Controller' ? lender.address : collateral.address],
        }),
        `enable ${role}`,
      ),
    leave: (account: Address) =>
      call(account, lender.address, encode({ abi, functionName: 'disableController' }), 'disableController'),
  }
}
