import { type Address, encodeFunctionData, maxUint256, zeroAddress } from 'viem'
import { view } from '../chain/view.ts'
import { RefusedError } from '../errors.ts'
import { aaveAbi, erc20Abi, rewardsControllerAbi } from './abis.ts'
import { type BuildRequest, defineFamily, defineFigures, type Plan } from './family.ts'
import {
  assetsToSpend,
  neededAmount,
  singlePlan,
  spendingPlan,
  units,
  unsupported,
  walletViews,
} from './wallet.ts'

/** @see ReserveConfiguration.sol of @aave/core-v3: bits of the configuration word; the cap is in whole tokens. */
const bit = (configuration: bigint, at: bigint) => ((configuration >> at) & 1n) === 1n
const isActive = (configuration: bigint) => bit(configuration, 56n)
const isFrozen = (configuration: bigint) => bit(configuration, 57n)
const isPaused = (configuration: bigint) => bit(configuration, 60n)
const supplyCap = (configuration: bigint) => (configuration >> 116n) & ((1n << 36n) - 1n)

const ray = 10n ** 27n
/** @see WadRayMath.sol: rounds half up. */
const rayMul = (a: bigint, b: bigint) => (a * b + ray / 2n) / ray

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
      figures: defineFigures({
        views: { totalSupply: view(erc20Abi, vault.address, 'totalSupply', []) },
        of: ({ totalSupply }) => ({
          totalSupply,
          totalAssets: totalSupply,
          assetsOfWholeShare: 10n ** BigInt(vault.asset.decimals),
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
        const { reserve, index = ray, scaledSupply = 0n, liquidity = 0n } = values
        const configuration = reserve?.configuration ?? 0n
        const shares = values.shares ?? 0n
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

        const build = (request: BuildRequest): Plan => {
          if (request.action === 'deposit') {
            const value = assetsToSpend(vault, values, request)
            if (closed) throw new RefusedError(closed)
            if (room !== undefined && value > room) {
              throw new RefusedError(
                `The supply cap leaves room for ${units(room, vault.asset)}, less than the ${value} asked for.`,
              )
            }
            return spendingPlan(vault, values, request, {
              spender: pool,
              value,
              last: {
                name: 'deposit',
                to: pool,
                data: encodeFunctionData({
                  abi: aaveAbi,
                  functionName: 'supply',
                  args: [asset, value, user, 0],
                }),
              },
              gains: [vault.share],
            })
          }
          if (request.action === 'claim-rewards') {
            if (owed.length === 0) throw new RefusedError('There are no rewards to claim.')
            return singlePlan({
              name: 'claim-rewards',
              to: rewards,
              data: encodeFunctionData({
                abi: rewardsControllerAbi,
                functionName: 'claimAllRewards',
                args: [[vault.address], user],
              }),
            })
          }
          if (request.action !== 'redeem') {
            throw unsupported('aave-v3', request.action, ['deposit', 'redeem', 'claim-rewards'])
          }
          const amount = neededAmount(request)
          if (stopped) throw new RefusedError(stopped)
          if (shares === 0n) throw new RefusedError(`The wallet holds no ${vault.share.symbol}.`)
          const wanted = amount.kind === 'all' ? shares : amount.value
          if (wanted === 0n) throw new RefusedError('There is nothing to do: the amount is 0.')
          if (wanted > shares) {
            throw new RefusedError(
              `The position is worth ${units(shares, vault.asset)}, less than the ${wanted} asked for.`,
            )
          }
          if (wanted > liquidity) {
            throw new RefusedError(
              `The reserve can pay out ${units(liquidity, vault.asset)} now, less than the ${wanted} asked for.`,
            )
          }
          // The balance grows until the transaction lands: only the pool can name all of it.
          const value = amount.kind === 'all' ? maxUint256 : wanted
          return singlePlan(
            {
              name: 'redeem',
              to: pool,
              data: encodeFunctionData({
                abi: aaveAbi,
                functionName: 'withdraw',
                args: [asset, value, user],
              }),
            },
            [vault.asset],
          )
        }

        return {
          block,
          shares,
          assets: values.assets ?? 0n,
          positionValue: shares,
          depositLimit: closed ? 0n : room,
          deposit: { current: 'deposit', steps: [{ name: 'deposit', actions: ['approve', 'deposit'] }] },
          redeem: { current: 'redeem', steps: [{ name: 'redeem', actions: ['redeem'] }] },
          ...(owed.length > 0 ? { rewards: owed } : {}),
          build,
        }
      },
    }
  },
})
