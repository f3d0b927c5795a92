import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Abi, type Address, encodeFunctionData, type Hex, parseAbi, parseEventLogs } from 'viem'
import { z } from 'zod'
import { type Artifact, ammArtifacts } from './compile.ts'
import { calls, sendDeployment, type Token } from './deploy.ts'
import { ScenarioError } from './errors.ts'
import type { Call, Node } from './node.ts'

const require = createRequire(import.meta.url)

/** Uniswap v3 as it is published, and doubles of ICHI's factory, guard and vaults on it (contracts/amm). */
export interface Ichi {
  /** Makes the vaults that are vouched for, and owns them. */
  admin: Address
  pools: Address
  factory: Address
  guard: Address
  /** Older: of vaults without a guard, on pools whose oracle need not reach back. */
  olderFactory: Address
  /** Trades for whoever approved it. */
  trader: Address
  feeReceiver: Address
}

export interface Pool {
  address: Address
  token0: Token
  token1: Token
  fee: number
}

export interface IchiVault {
  address: Address
  pool: Pool
  takes: readonly Token[]
  owner: Address
}

/** Written out from the published sources, as those of `abis.ts`. */
export const ichiAbi = parseAbi([
  'event ICHIVaultCreated(address indexed sender, address ichiVault, address tokenA, bool allowTokenA, address tokenB, bool allowTokenB, uint24 fee, uint256 count)',
  'event Deposit(address indexed sender, address indexed to, uint256 shares, uint256 amount0, uint256 amount1)',
  'event Withdraw(address indexed sender, address indexed to, uint256 shares, uint256 amount0, uint256 amount1)',
  'event CollectFees(address indexed sender, uint256 feeAmount0, uint256 feeAmount1)',
  'event Rebalance(int24 tick, uint256 totalAmount0, uint256 totalAmount1, uint256 feeAmount0, uint256 feeAmount1, uint256 totalSupply)',
  'function createICHIVault(address tokenA, bool allowTokenA, address tokenB, bool allowTokenB, uint24 fee) returns (address)',
  'function deposit(uint256 deposit0, uint256 deposit1, address to) returns (uint256)',
  'function withdraw(uint256 shares, address to) returns (uint256, uint256)',
  'function rebalance(int24 baseLower, int24 baseUpper, int24 limitLower, int24 limitUpper, int256 swapQuantity)',
  'function collectFees() returns (uint256, uint256)',
  'function setDepositMax(uint256 most0, uint256 most1)',
  'function setTwapPeriod(uint32 period)',
  'function getTotalAmounts() view returns (uint256 total0, uint256 total1)',
  'function getBasePosition() view returns (uint128 liquidity, uint256 amount0, uint256 amount1)',
  'function getLimitPosition() view returns (uint128 liquidity, uint256 amount0, uint256 amount1)',
  'function baseLower() view returns (int24)',
  'function baseUpper() view returns (int24)',
  'function limitLower() view returns (int24)',
  'function limitUpper() view returns (int24)',
  'function currentTick() view returns (int24)',
  'function twapPeriod() view returns (uint32)',
  'function totalSupply() view returns (uint256)',
  'function forwardDepositToICHIVault(address vault, address vaultDeployer, address token, uint256 amount, uint256 minimumProceeds, address to) returns (uint256)',
  'function forwardWithdrawFromICHIVault(address vault, address vaultDeployer, uint256 shares, address to, uint256 minAmount0, uint256 minAmount1) returns (uint256, uint256)',
])

export const poolAbi = parseAbi([
  'function createPool(address tokenA, address tokenB, uint24 fee) returns (address)',
  'function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)',
  'function initialize(uint160 sqrtPriceX96)',
  'function increaseObservationCardinalityNext(uint16 observationCardinalityNext)',
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality, uint16 observationCardinalityNext, uint8 feeProtocol, bool unlocked)',
  'function observe(uint32[] secondsAgos) view returns (int56[] tickCumulatives, uint160[] secondsPerLiquidityCumulativeX128s)',
])

const traderAbi = parseAbi([
  'function swap(address pool, bool isSale, int256 amount, uint160 bound)',
  'function mint(address pool, int24 lower, int24 upper, uint128 liquidity)',
])

/** The least and the greatest price of a pool. @see TickMath.sol */
const LEAST = 4_295_128_739n
const GREATEST = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n

/** Ticks that every spacing divides. */
export const WIDE = 887_220

const published = z.object({
  abi: z.custom<Abi>(value => Array.isArray(value)),
  bytecode: z.custom<Hex>(value => typeof value === 'string' && value.startsWith('0x')),
})
const poolFactoryArtifact = (): Artifact =>
  published.parse(
    JSON.parse(
      readFileSync(
        require.resolve('@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json'),
        'utf8',
      ),
    ),
  )

export async function deployIchi(node: Node): Promise<Ichi> {
  const admin = node.accounts[0] ?? '0x'
  const feeReceiver: Address = '0x000000000000000000000000000000000000fee5'
  const { IchiFactoryLike, IchiGuardLike, PoolTrader } = ammArtifacts()
  const pools = await sendDeployment(node, poolFactoryArtifact(), [], 'deploy Uniswap v3')
  const factory = await sendDeployment(node, IchiFactoryLike, [pools, feeReceiver, false])
  const olderFactory = await sendDeployment(node, IchiFactoryLike, [pools, feeReceiver, true])
  const guard = await sendDeployment(node, IchiGuardLike, [factory])
  const trader = await sendDeployment(node, PoolTrader)
  await node.mine()
  return { admin, pools, factory, guard, olderFactory, trader, feeReceiver }
}

const lower = (address: string) => address.toLowerCase() as Address
const write = (from: Address, to: Address, data: Hex, label: string): Call => ({
  from,
  to,
  data,
  label,
  gas: 12_000_000n,
})

/** A pool at a price, with an oracle of so many observations. Mines. */
export async function createPool(
  node: Node,
  { admin, pools }: Ichi,
  of: { tokens: readonly [Token, Token]; fee: number; sqrtPriceX96: bigint; observations?: number },
): Promise<Pool> {
  const [token0, token1] = [...of.tokens].sort((a, b) => (a.address < b.address ? -1 : 1)) as [Token, Token]
  const args = [token0.address, token1.address, of.fee] as const
  const create = encodeFunctionData({ abi: poolAbi, functionName: 'createPool', args })
  await node.send(write(admin, pools, create, 'createPool'))
  await node.mine()
  const address = lower(
    await node.client.readContract({ address: pools, abi: poolAbi, functionName: 'getPool', args }),
  )
  const initialize = encodeFunctionData({
    abi: poolAbi,
    functionName: 'initialize',
    args: [of.sqrtPriceX96],
  })
  await node.send(write(admin, address, initialize, 'initialize the pool'))
  if (of.observations)
    await node.send(
      write(
        admin,
        address,
        encodeFunctionData({
          abi: poolAbi,
          functionName: 'increaseObservationCardinalityNext',
          args: [of.observations],
        }),
        'grow observations',
      ),
    )
  await node.mine()
  return { address, token0, token1, fee: of.fee }
}

/** A vault of a pool, that takes some of its tokens. Mines. */
export async function createVault(
  node: Node,
  of: { factory: Address; pool: Pool; takes: readonly Token[]; owner: Address },
): Promise<IchiVault> {
  const { pool, takes, owner } = of
  const isTaken = (token: Token) => takes.some(({ address }) => address === token.address)
  const data = encodeFunctionData({
    abi: ichiAbi,
    functionName: 'createICHIVault',
    // In the order in which nobody sorts them.
    args: [pool.token1.address, isTaken(pool.token1), pool.token0.address, isTaken(pool.token0), pool.fee],
  })
  const hash = await node.send(write(owner, of.factory, data, 'createICHIVault'))
  await node.mine()
  const { logs } = await node.client.getTransactionReceipt({ hash })
  const [made] = parseEventLogs({ abi: ichiAbi, eventName: 'ICHIVaultCreated', logs })
  if (!made) throw new ScenarioError('no vault')
  return { address: lower(made.args.ichiVault), pool, takes, owner }
}

/** Single acts; amounts are base units of the token named. */
export function ichiCalls({ trader }: Pick<Ichi, 'trader'>) {
  const abi = ichiAbi
  const ofVault = (from: Address, { address }: IchiVault, data: Hex, label: string) =>
    write(from, address, data, `vault ${label}`)
  return {
    approve: (from: Address, token: Address, spender: Address) => calls.approve(from, token, spender),
    deposit: (from: Address, vault: IchiVault, amount0: bigint, amount1: bigint) =>
      ofVault(
        from,
        vault,
        encodeFunctionData({ abi, functionName: 'deposit', args: [amount0, amount1, from] }),
        'deposit',
      ),
    withdraw: (from: Address, vault: IchiVault, shares: bigint) =>
      ofVault(
        from,
        vault,
        encodeFunctionData({ abi, functionName: 'withdraw', args: [shares, from] }),
        'withdraw',
      ),
    rebalance: (vault: IchiVault, ticks: readonly [number, number, number, number], swap = 0n) =>
      ofVault(
        vault.owner,
        vault,
        encodeFunctionData({ abi, functionName: 'rebalance', args: [...ticks, swap] }),
        'rebalance',
      ),
    collect: (from: Address, vault: IchiVault) =>
      ofVault(from, vault, encodeFunctionData({ abi, functionName: 'collectFees' }), 'collectFees'),
    limit: (vault: IchiVault, most0: bigint, most1: bigint) =>
      ofVault(
        vault.owner,
        vault,
        encodeFunctionData({ abi, functionName: 'setDepositMax', args: [most0, most1] }),
        'setDepositMax',
      ),
    /** Gives `amount` of token0 (isSale) or token1 to the pool for the other. */
    trade: (from: Address, pool: Pool, isSale: boolean, amount: bigint) =>
      write(
        from,
        trader,
        encodeFunctionData({
          abi: traderAbi,
          functionName: 'swap',
          args: [pool.address, isSale, amount, isSale ? LEAST + 1n : GREATEST - 1n],
        }),
        'trade',
      ),
    /** Liquidity of the pool that is none of a vault's. */
    provide: (
      from: Address,
      pool: Pool,
      liquidity: bigint,
      ticks: readonly [number, number] = [-WIDE, WIDE],
    ) =>
      write(
        from,
        trader,
        encodeFunctionData({
          abi: traderAbi,
          functionName: 'mint',
          args: [pool.address, ...ticks, liquidity],
        }),
        'provide liquidity',
      ),
  }
}
