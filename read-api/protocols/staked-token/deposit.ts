import { type Address, encodeFunctionData } from 'viem'
import { view } from '../../chain/view.ts'
import { RefusedError } from '../../http/errors.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import { type BuildRequest, defineFamily, defineFigures, type Plan } from '../../transactions/family.ts'
import {
  assetsToSpend,
  neededAmount,
  singlePlan,
  spendingPlan,
  units,
  unsupported,
  walletViews,
} from '../../transactions/wallet.ts'
import { sharesToSpend } from '../erc-4626/deposit.ts'
import { stakedTokenAbi } from './abis.ts'

/** Time that is left for signing and mining before a window closes. */
const secondsToLand = 60

/**
 * Cooldown as in Aave's StakedTokenV3 (stkAAVE): `cooldown` starts the clock for all shares held and moves nothing;
 * then there is a window in which up to that many can be redeemed.
 */
export const stakedToken = defineFamily({
  name: 'staked-token',
  probes: vault => ({
    staked: view(stakedTokenAbi, vault.address, 'STAKED_TOKEN', []),
    cooldown: view(stakedTokenAbi, vault.address, 'getCooldownSeconds', []),
    window: view(stakedTokenAbi, vault.address, 'UNSTAKE_WINDOW', []),
    reward: view(stakedTokenAbi, vault.address, 'REWARD_TOKEN', []),
  }),
  bind(vault, { staked, cooldown: seconds, window, reward }) {
    if (staked === undefined || seconds === undefined || window === undefined) return undefined
    const whole = 10n ** BigInt(vault.share.decimals)
    return {
      family: 'staked-token',
      worthBy: 'previewRedeem',
      figures: defineFigures({
        views: {
          totalSupply: view(erc20Abi, vault.address, 'totalSupply', []),
          // No totalAssets: every share is worth the same.
          price: view(stakedTokenAbi, vault.address, 'previewRedeem', [whole]),
        },
        of: ({ totalSupply, price }) => ({
          totalSupply,
          totalAssets:
            totalSupply === undefined || price === undefined ? undefined : (totalSupply * price) / whole,
          assetsOfWholeShare: price,
        }),
      }),
      async look(user, read) {
        const { block, values } = await read({
          ...walletViews(vault, user, vault.address),
          cooldown: view(stakedTokenAbi, vault.address, 'stakersCooldowns', [user]),
          seconds: view(stakedTokenAbi, vault.address, 'getCooldownSeconds', []),
          slashing: view(stakedTokenAbi, vault.address, 'inPostSlashingPeriod', []),
          rewards: view(stakedTokenAbi, vault.address, 'getTotalRewardsBalance', [user]),
          price: view(stakedTokenAbi, vault.address, 'previewRedeem', [whole]),
        })
        const shares = values.shares ?? 0n
        const [startedAt, cooling] = values.cooldown ?? [0, 0n]
        const start = startedAt + Number(values.seconds ?? seconds)
        const end = start + Number(window)
        const status =
          cooling === 0n
            ? 'none'
            : block.timestamp < start
              ? 'active'
              : block.timestamp <= end
                ? 'ready'
                : 'expired'
        const slashing = values.slashing === true
        const isClosing = status === 'ready' && block.timestamp + secondsToLand > end
        const mayRedeem = slashing || (status === 'ready' && !isClosing)
        const redeemable = slashing ? shares : cooling < shares ? cooling : shares
        const rewards = values.rewards ?? 0n

        const build = (request: BuildRequest): Plan => {
          switch (request.action) {
            case 'deposit': {
              const value = assetsToSpend(vault, values, request)
              if (slashing)
                throw new RefusedError('The vault takes no deposits while a slashing is being settled.')
              return spendingPlan(vault, values, request, {
                spender: vault.address,
                value,
                last: {
                  name: 'deposit',
                  to: vault.address,
                  data: encodeFunctionData({
                    abi: stakedTokenAbi,
                    functionName: 'stake',
                    args: [user, value],
                  }),
                },
                gains: [vault.share],
              })
            }
            case 'start-redeem-cooldown':
              if (shares === 0n) throw new RefusedError(`The wallet holds no ${vault.share.symbol}.`)
              return singlePlan({
                name: 'start-redeem-cooldown',
                to: vault.address,
                data: encodeFunctionData({ abi: stakedTokenAbi, functionName: 'cooldown' }),
              })
            case 'redeem': {
              const amount = neededAmount(request)
              if (!mayRedeem) {
                throw new RefusedError(
                  status === 'active'
                    ? `The cooldown ends at ${start} (unix seconds).`
                    : isClosing
                      ? `The window to redeem closes at ${end} (unix seconds), too soon for a transaction to land.`
                      : status === 'expired'
                        ? `The window to redeem closed at ${end} (unix seconds): begin again with start-redeem-cooldown.`
                        : 'No cooldown has been started: begin with start-redeem-cooldown.',
                )
              }
              const wanted =
                amount.kind === 'assets'
                  ? { kind: 'shares' as const, value: sharesFor(amount.value, values.price, whole) }
                  : amount
              const spent = sharesToSpend(vault, shares, wanted)
              if (spent > redeemable) {
                throw new RefusedError(
                  `The cooldown covers ${units(redeemable, vault.share)}, less than the ${spent} asked for.`,
                )
              }
              return singlePlan(
                {
                  name: 'redeem',
                  to: vault.address,
                  data: encodeFunctionData({
                    abi: stakedTokenAbi,
                    functionName: 'redeem',
                    args: [user, spent],
                  }),
                },
                [vault.asset],
              )
            }
            case 'claim-rewards':
              if (rewards === 0n) throw new RefusedError('There are no rewards to claim.')
              return singlePlan({
                name: 'claim-rewards',
                to: vault.address,
                data: encodeFunctionData({
                  abi: stakedTokenAbi,
                  functionName: 'claimRewards',
                  args: [user, rewards],
                }),
              })
            default:
              throw unsupported('staked-token', request.action, [
                'deposit',
                'start-redeem-cooldown',
                'redeem',
                'claim-rewards',
              ])
          }
        }

        return {
          block,
          shares,
          assets: values.assets ?? 0n,
          positionValue: values.price === undefined ? undefined : (shares * values.price) / whole,
          depositLimit: slashing ? 0n : undefined,
          deposit: { current: 'deposit', steps: [{ name: 'deposit', actions: ['approve', 'deposit'] }] },
          redeem: {
            current: mayRedeem || status === 'active' ? 'redeem' : 'start-redeem-cooldown',
            steps: [
              { name: 'start-redeem-cooldown', actions: ['start-redeem-cooldown'] },
              { name: 'redeem', actions: ['redeem'] },
            ],
          },
          ...(status === 'active' || status === 'ready'
            ? {
                pendingRequests: {
                  deposits: [],
                  redeems: [
                    {
                      status: status === 'ready' ? ('ready' as const) : ('pending' as const),
                      lpTokenAmount: cooling,
                      requestTimestamp: startedAt,
                      withdrawalStart: start,
                      withdrawalEnd: end,
                    },
                  ],
                },
              }
            : {}),
          ...(status === 'none'
            ? {}
            : {
                vaultSpecificData: {
                  cooldownData: {
                    amount: String(cooling),
                    endOfCooldown: String(start),
                    withdrawalWindow: String(window),
                    status,
                  },
                },
              }),
          ...(reward !== undefined && rewards > 0n
            ? { rewards: [{ token: reward.toLowerCase() as Address, amount: rewards }] }
            : {}),
          build,
        }
      },
    }
  },
})

/** Shares that pay at least `assets`: rounded up. */
function sharesFor(assets: bigint, price: bigint | undefined, whole: bigint): bigint {
  if (!price) throw new RefusedError('The vault does not say its price: give the amount in shares.')
  return (assets * whole + price - 1n) / price
}
