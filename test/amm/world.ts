import type { Address } from 'viem'
import { erc20 } from '../chain/abis.ts'
import { calls, deployToken, type Token } from '../chain/deploy.ts'
import {
  createPool,
  createVault,
  deployIchi,
  type Ichi,
  type IchiVault,
  ichiAbi,
  ichiCalls,
  poolAbi,
} from '../chain/ichi.ts'
import { placeMulticall3 } from '../chain/multicall.ts'
import type { Node } from '../chain/node.ts'
import { rootOf } from './uniswap.ts'

export interface AmmWorld {
  ichi: Ichi
  users: Address[]
  usdc: Token
  weth: Token
  /** Nobody has a price for it. */
  odd: Token
  /** Takes its token0, of 6 decimals; the other has 18. */
  first: IchiVault
  /** Takes its token1, of 6 decimals; its token0 has no price. */
  second: IchiVault
  /** Older: takes both, has no guard, and its pool's oracle does not reach back. */
  older: IchiVault
  /** By the same factory as the first two, but somebody else had it made. */
  strangers: IchiVault
}

export const HOUR = 3_600
const USERS = 4
const UNITS = { usdc: 10n ** 6n, weth: 10n ** 18n }

/** A token whose address comes before or after another one's. */
async function placed(
  node: Node,
  token: Omit<Token, 'address'>,
  isRight: (address: string) => boolean,
): Promise<Token> {
  for (;;) {
    const made = await deployToken(node, token)
    if (isRight(made.address)) return made
  }
}

/** Three pools of Uniswap's own contracts, four vaults on them, and users who hold all tokens and let everybody have them. */
export async function buildAmmWorld(node: Node): Promise<AmmWorld> {
  await placeMulticall3(node)
  await node.mine()
  const ichi = await deployIchi(node)
  const users = node.accounts.slice(1, 1 + USERS) as Address[]
  const weth = await deployToken(node, { symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 })
  const usdc = await placed(
    node,
    { symbol: 'USDC', name: 'USD Coin', decimals: 6 },
    address => address < weth.address,
  )
  const odd = await placed(
    node,
    { symbol: 'ODD', name: 'Odd token', decimals: 18 },
    address => address < usdc.address,
  )
  const { admin } = ichi
  for (const user of [admin, ...users])
    for (const token of [usdc, weth, odd])
      await node.send(calls.mintToken(admin, token.address, user, 10n ** BigInt(token.decimals + 9)))
  await node.mine()
  // 3,000 USDC for an ether; 2 USDC, and 1/1500 of an ether, for one of the odd.
  const pools = {
    first: await createPool(node, ichi, {
      tokens: [usdc, weth],
      fee: 3_000,
      sqrtPriceX96: rootOf(UNITS.weth, 3_000n * UNITS.usdc),
      observations: 60,
    }),
    second: await createPool(node, ichi, {
      tokens: [odd, usdc],
      fee: 3_000,
      sqrtPriceX96: rootOf(2n * UNITS.usdc, 10n ** 18n),
      observations: 60,
    }),
    older: await createPool(node, ichi, {
      tokens: [odd, weth],
      fee: 500,
      sqrtPriceX96: rootOf(1n, 1_500n),
    }),
  }
  const { factory, olderFactory } = ichi
  const first = await createVault(node, { factory, pool: pools.first, takes: [usdc], owner: admin })
  const second = await createVault(node, { factory, pool: pools.second, takes: [usdc], owner: admin })
  const older = await createVault(node, {
    factory: olderFactory,
    pool: pools.older,
    takes: [odd, weth],
    owner: admin,
  })
  const [stranger = '0x'] = users
  const strangers = await createVault(node, {
    factory,
    pool: pools.second,
    takes: [odd],
    owner: stranger,
  })
  const vaults = [first, second, older, strangers]
  for (const user of [admin, ...users]) {
    for (const token of [usdc, weth, odd])
      for (const spender of [ichi.trader, ...vaults.map(({ address }) => address)])
        await node.send(calls.approve(user, token.address, spender))
    await node.mine()
  }
  const acts = ichiCalls(ichi)
  // Liquidity of others: of some thousand ether, and of so many odd.
  for (const [pool, liquidity] of [
    [pools.first, 10n ** 17n],
    [pools.second, 10n ** 18n],
    [pools.older, 10n ** 23n],
  ] as const)
    await node.send(acts.provide(admin, pool, liquidity))
  await node.mine()
  // So long as the vaults look back.
  const { timestamp } = await node.head()
  await node.mine(timestamp + 2 * HOUR)
  return { ichi, users, usdc, weth, odd, first, second, older, strangers }
}

/** What the configuration of processors has to say of a world. */
export const contractsOf = ({ ichi }: AmmWorld) => ({
  'ichi-vault-factory': [ichi.factory, ichi.olderFactory],
})

/** Who vouches for what, and what is known of prices. */
export const factsOf = ({ ichi, usdc, weth }: AmmWorld, chainId = 1) => [
  {
    subject: `contract:${chainId}:${ichi.factory}`,
    kind: 'ammFactory',
    value: { deployer: ichi.admin, guard: ichi.guard },
  },
  { subject: `asset:${chainId}:${usdc.address}`, kind: 'peg', value: { usd: '1' } },
  { subject: `asset:${chainId}:${weth.address}`, kind: 'peg', value: { usd: '3000' } },
]

/** What a vault and its pool say of themselves at a block. */
export async function chainState(node: Node, { address, pool }: IchiVault, block?: number) {
  const at = block === undefined ? {} : { blockNumber: BigInt(block) }
  const ask = { address, abi: ichiAbi, ...at } as const
  const read = node.client.readContract
  const [total0, total1] = await read({ ...ask, functionName: 'getTotalAmounts' })
  const [baseLiquidity] = await read({ ...ask, functionName: 'getBasePosition' })
  const [limitLiquidity] = await read({ ...ask, functionName: 'getLimitPosition' })
  const [sqrtPriceX96, tick] = await read({
    address: pool.address,
    abi: poolAbi,
    ...at,
    functionName: 'slot0',
  })
  const ticks = await Promise.all(
    (['baseLower', 'baseUpper', 'limitLower', 'limitUpper'] as const).map(functionName =>
      read({ ...ask, functionName }),
    ),
  )
  const [baseLower = 0, baseUpper = 0, limitLower = 0, limitUpper = 0] = ticks
  const supply = await read({ ...ask, functionName: 'totalSupply' })
  const twapPeriod = await read({ ...ask, functionName: 'twapPeriod' })
  const sums = await read({
    address: pool.address,
    abi: poolAbi,
    ...at,
    functionName: 'observe',
    args: [[twapPeriod, 0]],
  }).catch(() => undefined)
  const [before = 0n, now = 0n] = sums?.[0] ?? []
  // Rounded towards minus infinity, as OracleLibrary does.
  const meanTick = sums && Math.floor(Number(now - before) / twapPeriod)
  return {
    total0,
    total1,
    supply,
    sqrtPriceX96,
    tick,
    twapPeriod,
    meanTick,
    base: { liquidity: baseLiquidity, lower: baseLower, upper: baseUpper },
    limit: { liquidity: limitLiquidity, lower: limitLower, upper: limitUpper },
  }
}

/** Around a pool's tick, in steps of its spacing: a base that holds it and a limit above or below. */
export function ticksAround(tick: number, spacing: number, width: number, isAbove: boolean) {
  const middle = Math.floor(tick / spacing) * spacing
  const wide = width * spacing
  return isAbove
    ? ([middle - wide, middle + wide, middle + spacing, middle + spacing + wide] as const)
    : ([middle - wide, middle + wide, middle - wide - spacing, middle - spacing] as const)
}

export const balanceOf = (node: Node, token: Address, of: Address, block?: number): Promise<bigint> =>
  node.client.readContract({
    address: token,
    abi: erc20,
    functionName: 'balanceOf',
    args: [of],
    ...(block === undefined ? {} : { blockNumber: BigInt(block) }),
  })

export type { IchiVault }
