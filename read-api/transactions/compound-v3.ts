import { type Address, encodeFunctionData, maxUint256 } from 'viem'
import { view } from '../chain/view.ts'
import { RefusedError } from '../errors.ts'
import { cometRewardsOn } from '../rewards/comet-rewards.ts'
import { cometAbi, cometRewardsAbi, erc20Abi } from './abis.ts'
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

/**
 * Supply of the base token to a Compound v3 market. The vault is the Comet itself: its balances are in the base token
 * and grow. Withdrawing more than the balance would borrow, so it is refused here.
 */
export const compoundV3 = defineFamily({
  name: 'compound-v3',
  probes: vault => ({
    base: view(cometAbi, vault.address, 'baseToken', []),
    paused: view(cometAbi, vault.address, 'isSupplyPaused', []),
  }),
  bind(vault, { base, paused }) {
    if (base === undefined || paused === undefined) return undefined
    const asset = vault.asset.address
    const rewards = vault.rewards ?? cometRewardsOn(vault.network)
    return {
      family: 'compound-v3',
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
          ...walletViews(vault, user, vault.address),
          supplyPaused: view(cometAbi, vault.address, 'isSupplyPaused', []),
          withdrawPaused: view(cometAbi, vault.address, 'isWithdrawPaused', []),
          debt: view(cometAbi, vault.address, 'borrowBalanceOf', [user]),
          liquidity: view(erc20Abi, asset, 'balanceOf', [vault.address]),
          // Where there is no such contract the answer is none.
          owed: view(cometRewardsAbi, rewards ?? vault.address, 'getRewardOwed', [vault.address, user]),
        })
        const { debt = 0n, liquidity = 0n } = values
        const shares = values.shares ?? 0n

        const build = (request: BuildRequest): Plan => {
          if (request.action === 'deposit') {
            const value = assetsToSpend(vault, values, request)
            if (values.supplyPaused) throw new RefusedError('Supply is paused.')
            if (debt > 0n) {
              throw new RefusedError(
                `The wallet owes ${units(debt, vault.asset)} to this market: a deposit would repay the debt.`,
              )
            }
            return spendingPlan(vault, values, request, {
              spender: vault.address,
              value,
              last: {
                name: 'deposit',
                to: vault.address,
                data: encodeFunctionData({ abi: cometAbi, functionName: 'supply', args: [asset, value] }),
              },
              gains: [vault.share],
            })
          }
          if (request.action === 'claim-rewards') {
            if (!rewards || !values.owed?.owed) throw new RefusedError('There are no rewards to claim.')
            return singlePlan({
              name: 'claim-rewards',
              to: rewards,
              data: encodeFunctionData({
                abi: cometRewardsAbi,
                functionName: 'claim',
                args: [vault.address, user, true],
              }),
            })
          }
          if (request.action !== 'redeem') {
            throw unsupported('compound-v3', request.action, ['deposit', 'redeem', 'claim-rewards'])
          }
          const amount = neededAmount(request)
          if (values.withdrawPaused) throw new RefusedError('Withdrawals are paused.')
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
              `The market can pay out ${units(liquidity, vault.asset)} now, less than the ${wanted} asked for.`,
            )
          }
          // The balance grows until the transaction lands: only the market can name all of it.
          const value = amount.kind === 'all' ? maxUint256 : wanted
          return singlePlan(
            {
              name: 'redeem',
              to: vault.address,
              data: encodeFunctionData({ abi: cometAbi, functionName: 'withdraw', args: [asset, value] }),
            },
            [vault.asset],
          )
        }

        return {
          block,
          shares,
          assets: values.assets ?? 0n,
          positionValue: shares,
          depositLimit: values.supplyPaused ? 0n : undefined,
          deposit: { current: 'deposit', steps: [{ name: 'deposit', actions: ['approve', 'deposit'] }] },
          redeem: { current: 'redeem', steps: [{ name: 'redeem', actions: ['redeem'] }] },
          ...(values.owed?.owed
            ? {
                rewards: [{ token: values.owed.token.toLowerCase() as Address, amount: values.owed.owed }],
              }
            : {}),
          build,
        }
      },
    }
  },
})
