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

/** @see IEVault.sol of euler-vault-kit and IEthereumVaultConnector.sol; of the connector only what ConnectorLike has. */
export const evkAbi = parseAbi([
  'function deposit(uint256 assets, address receiver)',
  'function withdraw(uint256 assets, address receiver)',
  'function borrow(uint256 assets, address receiver)',
  'function repay(uint256 assets, address receiver)',
  'function pullDebt(uint256 assets, address from)',
  'function liquidate(address violator, address collateral, uint256 repayAssets, uint256 yieldBalance)',
  'function touch()',
  'function setLTV(address collateral, uint16 borrowLTV, uint16 liquidationLTV, uint32 ramp)',
  'function debtOf(address account) view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function totalBorrows() view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function accumulatedFees() view returns (uint256)',
  'function interestAccumulator() view returns (uint256)',
  'function interestRate() view returns (uint256)',
  'function cash() view returns (uint256)',
  'function LTVBorrow(address collateral) view returns (uint16)',
  'function LTVLiquidation(address collateral) view returns (uint16)',
  'function accountLiquidity(address account, bool liquidation) view returns (uint256 worth, uint256 liability)',
  'function enableCollateral(address account, address vault)',
  'function enableController(address account, address vault)',
  'function controllerOf(address account) view returns (address)',
  'function collateralsOf(address account) view returns (address[])',
])

export interface EvkMarket {
  connector: Address
  /** Tells of the vaults as Euler's GenericFactory does. */
  factory: Address
  lender: { address: Address; token: Token }
  collateral: { address: Address; token: Token }
}

const PROXY_CREATED = toEventSelector('ProxyCreated(address,bool,address,bytes)')
const USD = '0x0000000000000000000000000000000000000348' as const

/** Two EvkLike vaults: one lends against the shares of the other. */
export async function deployEvk(
  node: Node,
  anyLog: Address,
  lent: { token: Token; feed: Feed },
  secures: { token: Token; feed: Feed },
): Promise<EvkMarket> {
  const { ConnectorLike, EvkLike } = ownArtifacts()
  const connector = await sendDeployment(node, ConnectorLike)
  const admin = node.accounts[0] as Address
  const vault = async ({ token, feed }: { token: Token; feed: Feed }) => {
    const args = [connector, token.address, feed.proxy, 10n ** BigInt(token.decimals)]
    const address = await sendDeployment(node, EvkLike, args)
    const trailing = concat([token.address, feed.proxy, USD])
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
    return { address, token }
  }
  const market = { connector, factory: anyLog, lender: await vault(lent), collateral: await vault(secures) }
  await node.send(evkCalls(market).setLtv(admin, 8_000, 8_500, 0))
  await node.mine()
  return market
}

/** Amounts are base units of the vault's asset. */
export function evkCalls({ connector, lender, collateral }: EvkMarket) {
  const call = (from: Address, to: Address, data: NonNullable<Call['data']>, label: string): Call => ({
    from,
    to,
    data,
    label: `EVK ${label}`,
  })
  const encode = encodeFunctionData
  const abi = evkAbi
  return {
    deposit: (from: Address, to: Address, assets: bigint) =>
      call(from, to, encode({ abi, functionName: 'deposit', args: [assets, from] }), 'deposit'),
    withdraw: (from: Address, to: Address, assets: bigint) =>
      call(from, to, encode({ abi, functionName: 'withdraw', args: [assets, from] }), 'withdraw'),
    borrow: (from: Address, assets: bigint) =>
      call(from, lender.address, encode({ abi, functionName: 'borrow', args: [assets, from] }), 'borrow'),
    repay: (from: Address, assets: bigint) =>
      call(from, lender.address, encode({ abi, functionName: 'repay', args: [assets, from] }), 'repay'),
    pullDebt: (from: Address, of: Address, assets: bigint) =>
      call(from, lender.address, encode({ abi, functionName: 'pullDebt', args: [assets, of] }), 'pullDebt'),
    liquidate: (from: Address, violator: Address, repay: bigint, shares: bigint) =>
      call(
        from,
        lender.address,
        encode({ abi, functionName: 'liquidate', args: [violator, collateral.address, repay, shares] }),
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
    enable: (account: Address, role: 'Collateral' | 'Controller') =>
      call(
        account,
        connector,
        encode({
          abi,
          functionName: `enable${role}`,
          args: [account, role === 'Controller' ? lender.address : collateral.address],
        }),
        `enable ${role}`,
      ),
  }
}
