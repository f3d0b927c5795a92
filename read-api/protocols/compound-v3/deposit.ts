import { type Address, encodeFunctionData } from 'viem'
import { accruedIndex, presentValue } from '../../../abi/compound-v3/math.ts'
import { multicall3Abi, multicall3Address } from '../../chain/multicall.ts'
import { view } from '../../chain/view.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import { defineFamily, defineFigures, type VaultRef } from '../../transactions/family.ts'
import { supplyStanding } from '../../transactions/supply.ts'
import { units, walletViews } from '../../transactions/wallet.ts'
import { cometAbi, cometMarketAbi, cometRewardsAbi } from './abis.ts'
import { cometRewardsOn } from './comet-rewards.ts'

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
      figures: figuresOf(vault),
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
        const { debt = 0n, liquidity = 0n, owed } = values
        return supplyStanding(vault, block, values, {
          family: 'compound-v3',
          what: 'market',
          pool: vault.address,
          closed: values.supplyPaused
            ? 'Supply is paused.'
            : debt > 0n
              ? `The wallet owes ${units(debt, vault.asset)} to this market: a deposit would repay the debt.`
              : undefined,
          stopped: values.withdrawPaused ? 'Withdrawals are paused.' : undefined,
          room: undefined,
          liquidity,
          supply: value =>
            encodeFunctionData({ abi: cometAbi, functionName: 'supply', args: [asset, value] }),
          withdraw: value =>
            encodeFunctionData({ abi: cometAbi, functionName: 'withdraw', args: [asset, value] }),
          rewards: owed?.owed ? [{ token: owed.token.toLowerCase() as Address, amount: owed.owed }] : [],
          claim: () =>
            rewards && {
              to: rewards,
              data: encodeFunctionData({
                abi: cometRewardsAbi,
                functionName: 'claim',
                args: [vault.address, user, true],
              }),
            },
        })
      },
    }
  },
})

/** Shares are principal, as the indexer counts them: the token's own units are always worth one. */
function figuresOf({ address, share }: VaultRef) {
  return defineFigures({
    views: {
      totalAssets: view(erc20Abi, address, 'totalSupply', []),
      totals: view(cometMarketAbi, address, 'totalsBasic', []),
      kink: view(cometMarketAbi, address, 'supplyKink', []),
      base: view(cometMarketAbi, address, 'supplyPerSecondInterestRateBase', []),
      slopeLow: view(cometMarketAbi, address, 'supplyPerSecondInterestRateSlopeLow', []),
      slopeHigh: view(cometMarketAbi, address, 'supplyPerSecondInterestRateSlopeHigh', []),
      now: view(multicall3Abi, multicall3Address, 'getCurrentBlockTimestamp', []),
    },
    of: ({ totalAssets, totals, kink, base, slopeLow, slopeHigh, now }) => ({
      totalSupply: totals?.totalSupplyBase,
      totalAssets,
      assetsOfWholeShare:
        totals === undefined ||
        kink === undefined ||
        base === undefined ||
        slopeLow === undefined ||
        slopeHigh === undefined ||
        now === undefined
          ? undefined
          : presentValue(
              accruedIndex(
                totals.baseSupplyIndex,
                {
                  supplyIndex: totals.baseSupplyIndex,
                  borrowIndex: totals.baseBorrowIndex,
                  supplyPrincipal: totals.totalSupplyBase,
                  borrowPrincipal: totals.totalBorrowBase,
                  updatedAt: totals.lastAccrualTime,
                },
                { kink, base, slopeLow, slopeHigh },
                Number(now),
              ),
              10n ** BigInt(share.decimals),
            ),
    }),
  })
}
