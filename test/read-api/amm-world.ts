import { type Address, encodeFunctionData } from 'viem'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { calls, type Token } from '../chain/deploy.ts'
import { createPool, createVault, deployIchi, ichiAbi, ichiCalls, poolAbi } from '../chain/ichi.ts'
import type { Node } from '../chain/node.ts'

/** A vault of liquidity on Uniswap's own pool in the made-up world, and what the index has to know of it. */
export interface AmmSeat {
  vault: Address
  events: DomainEvent[]
}

/** Root of 1e18 base units of one token for 3,000 of 1e6 of the other, times 2^96. */
const PRICE = { usdFirst: 1446501726624926496477173928747177n, usdSecond: 4339505179874779489431521n }
/** Seconds that the vault looks back: as many as pass here. */
const PERIOD = 36

/** Takes USD; the holder has a thousand in it. */
export async function seatAmm(node: Node, usd: Token, eth: Token, holder: Address): Promise<AmmSeat> {
  const ichi = await deployIchi(node)
  const { admin, factory } = ichi
  const isFirst = usd.address < eth.address
  const pool = await createPool(node, ichi, {
    tokens: [usd, eth],
    fee: 3_000,
    sqrtPriceX96: isFirst ? PRICE.usdFirst : PRICE.usdSecond,
    observations: 60,
  })
  const vault = await createVault(node, { factory, pool, takes: [usd], owner: admin })
  const period = encodeFunctionData({ abi: ichiAbi, functionName: 'setTwapPeriod', args: [PERIOD] })
  await node.send({ from: admin, to: vault.address, data: period })
  await node.mine()
  await node.mineEmpty(5)
  const thousand = 1_000n * 10n ** BigInt(usd.decimals)
  await node.send(calls.approve(holder, usd.address, vault.address))
  await node.send(ichiCalls(ichi).deposit(holder, vault, isFirst ? thousand : 0n, isFirst ? 0n : thousand))
  await node.mine()
  const read = { address: vault.address, abi: ichiAbi } as const
  const supply = await node.client.readContract({ ...read, functionName: 'totalSupply' })
  const [total0, total1] = await node.client.readContract({ ...read, functionName: 'getTotalAmounts' })
  const [sqrtPriceX96, tick] = await node.client.readContract({
    address: pool.address,
    abi: poolAbi,
    functionName: 'slot0',
  })
  const told = { protocol: 'ichi', contract: vault.address } as const
  const none = { baseLiquidity: 0n, baseLower: 0, baseUpper: 0 }
  return {
    vault: vault.address,
    events: [
      { type: 'AmmVaultCreated', ...told, contract: factory, data: { vault: vault.address, creator: admin } },
      {
        type: 'AmmVaultDescribed',
        ...told,
        data: {
          vault: vault.address,
          name: 'ICHI Vault Liquidity',
          symbol: 'ICHI_Vault_LP',
          decimals: 18,
          pool: pool.address,
          token0: pool.token0.address,
          token1: pool.token1.address,
          takesToken0: isFirst,
          takesToken1: !isFirst,
        },
      },
      {
        type: 'AmmShareTransferred',
        ...told,
        data: { from: `0x${'0'.repeat(40)}`, to: holder, shares: supply },
      },
      {
        type: 'AmmVaultSampled',
        ...told,
        data: {
          total0,
          total1,
          supply,
          sqrtPriceX96,
          twapPeriod: PERIOD,
          meanTick: tick,
          ...none,
          limitLiquidity: 0n,
          limitLower: 0,
          limitUpper: 0,
        },
      },
    ],
  }
}
