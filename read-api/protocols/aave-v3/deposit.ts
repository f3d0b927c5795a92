import { type Address, encodeFunctionData, zeroAddress } from 'viem'
import { RAY } from '../../../db/units.ts'
import { view } from '../../chain/view.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import { defineFamily, defineFigures } from '../../transactions/family.ts'
import { supplyStanding } from '../../transactions/supply.ts'
import { walletViews } from '../../transactions/wallet.ts'
import { aaveAbi, rewardsControllerAbi } from './abis.ts'

/** @see ReserveConfiguration.sol of @aave/core-v3: bits of the configuration word; the cap is in whole tokens. */
const bit = (configuration: bigint, at: bigint) => ((configuration >> at) & 1n) === 1n
const isActive = (configuration: bigint) => bit(configuration, 56n)
const isFrozen = (configuration: bigint) => bit(configuration, 57n)
const isPaused = (configuration: bigint) => bit(configuration, 60n)
const supplyCap = (configuration: bigint) => (configuration >> 116n) & ((1n << 36n) - 1n)

/** @see WadRayMath.sol: rounds half up. */
const rayMul = (a: bigint, b: bigint) => (a * b + RAY / 2n) / RAY

/** Supply to an Aave v3 reserve. The vault is the aToken: one share is one asset, and the balance grows. */
export const aaveV3 = defineFamily({
  name: 'aave-v3',
  probes: vault => ({
    pool: view(aaveAbi, vault.address, 'POOL', []),
    underlying: view(aaveAbi, vault.address, 'UNDERLYING_ASSET_ADDRESS', []),
    scaled: view(aaveAbi, vault.address, 'scaledTotalSupply', []),
    controller: view(aaveAbi, vault.address, 'getIncentivesController', []),
  }),
  bind(vault, { pool: found, underlying, scaled, controller: rewards = zeroAddress }) {
    if (found === undefined || underlying === undefined || scaled === undefined) return undefined
    const pool = found.toLowerCase() as Address
    const asset = vault.asset.address
    return {
      family: 'aave-v3',
      // Shares are scaled units, as the indexer counts them: the token's own units are always worth one.
      figures: defineFigures({
        views: {
          totalAssets: view(erc20Abi, vault.address, 'totalSupply', []),
          totalSupply: view(aaveAbi, vault.address, 'scaledTotalSupply', []),
          index: view(aaveAbi, pool, 'getReserveNormalizedIncome', [asset]),
        },
        of: ({ totalAssets, totalSupply, index }) => ({
          totalSupply,
          totalAssets,
          assetsOfWholeShare:
            index === undefined ? undefined : (10n ** BigInt(vault.share.decimals) * index) / RAY,
        }),
      }),
      async look(user, read) {
        const { block, values } = await read({
          ...walletViews(vault, user, pool),
          reserve: view(aaveAbi, pool, 'getReserveData', [asset]),
          index: view(aaveAbi, pool, 'getReserveNormalizedIncome', [asset]),
          scaledSupply: view(aaveAbi, vault.address, 'scaledTotalSupply', []),
          liquidity: view(erc20Abi, asset, 'balanceOf', [vault.address]),
          owed: view(rewardsControllerAbi, rewards, 'getAllUserRewards', [[vault.address], user]),
        })
        const { reserve, index = RAY, scaledSupply = 0n, liquidity = 0n } = values
        const configuration = reserve?.configuration ?? 0n
        const cap = supplyCap(configuration) * 10n ** BigInt(vault.asset.decimals)
        // As ValidationLogic.validateSupply reckons it.
        const supplied = rayMul(scaledSupply + (reserve?.accruedToTreasury ?? 0n), index)
        const room = cap === 0n ? undefined : cap > supplied ? cap - supplied : 0n
        const [rewardTokens, rewardAmounts] = values.owed ?? [[], []]
        const owed = rewardTokens.flatMap((token, n) => {
          const amount = rewardAmounts[n] ?? 0n
          return amount > 0n ? [{ token: token.toLowerCase() as Address, amount }] : []
        })
        const stopped = !isActive(configuration)
          ? 'The reserve is not active.'
          : isPaused(configuration)
            ? 'The reserve is paused.'
            : undefined
        const closed =
          stopped ?? (isFrozen(configuration) ? 'The reserve is frozen: it takes no deposits.' : undefined)

        return supplyStanding(vault, block, values, {
          family: 'aave-v3',
          what: 'reserve',
          pool,
          closed,
          stopped,
          room,
          liquidity,
          supply: value =>
            encodeFunctionData({ abi: aaveAbi, functionName: 'supply', args: [asset, value, user, 0] }),
          withdraw: value =>
            encodeFunctionData({ abi: aaveAbi, functionName: 'withdraw', args: [asset, value, user] }),
          rewards: owed,
          claim: () => ({
            to: rewards,
            data: encodeFunctionData({
              abi: rewardsControllerAbi,
              functionName: 'claimAllRewards',
              args: [[vault.address], user],
            }),
          }),
        })
      },
    }
  },
})
