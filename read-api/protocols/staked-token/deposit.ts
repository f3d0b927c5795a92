import { type Address, encodeFunctionData, type Hex } from 'viem'
import { view } from '../../chain/view.ts'
import { RefusedError } from '../../http/errors.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import {
  type BuildRequest,
  defineFamily,
  defineFigures,
  type PendingRequest,
  type Plan,
  type PlannedAction,
  type Standing,
  type VaultRef,
} from '../../transactions/family.ts'
import {
  assetsToSpend,
  neededAmount,
  singlePlan,
  spendingPlan,
  units,
  unsupported,
  type Wallet,
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
        const cooldown = cooldownAt(block.timestamp, {
          of: values.cooldown ?? [0, 0n],
          seconds: Number(values.seconds ?? seconds),
          window: Number(window),
          isSlashing: values.slashing === true,
        })
        const { status, isSlashing, mayRedeem } = cooldown
        const rewards = values.rewards ?? 0n

        const staker: Staker = { vault, user, wallet: values, cooldown, rewards, price: values.price }
        return {
          block,
          shares,
          assets: values.assets ?? 0n,
          positionValue: values.price === undefined ? undefined : (shares * values.price) / whole,
          depositLimit: isSlashing ? 0n : undefined,
          deposit: { current: 'deposit', steps: [{ name: 'deposit', actions: ['approve', 'deposit'] }] },
          redeem: {
            current: mayRedeem || status === 'active' ? 'redeem' : 'start-redeem-cooldown',
            steps: [
              { name: 'start-redeem-cooldown', actions: ['start-redeem-cooldown'] },
              { name: 'redeem', actions: ['redeem'] },
            ],
          },
          ...shownOf(cooldown, window),
          ...(reward !== undefined && rewards > 0n
            ? { rewards: [{ token: reward.toLowerCase() as Address, amount: rewards }] }
            : {}),
          build: request => planOf(staker, request),
        }
      },
    }
  },
})

interface Cooldown {
  status: 'none' | 'active' | 'ready' | 'expired'
  startedAt: number
  /** Shares that it was started for. */
  cooling: bigint
  /** When the window opens and when it closes. */
  start: number
  end: number
  /** The window closes before a transaction can land. */
  isClosing: boolean
  isSlashing: boolean
  mayRedeem: boolean
}

function cooldownAt(
  now: number,
  said: { of: readonly [number, bigint]; seconds: number; window: number; isSlashing: boolean },
): Cooldown {
  const { isSlashing } = said
  const [startedAt, cooling] = said.of
  const start = startedAt + said.seconds
  const end = start + said.window
  const status = cooling === 0n ? 'none' : now < start ? 'active' : now <= end ? 'ready' : 'expired'
  const isClosing = status === 'ready' && now + secondsToLand > end
  // While a slashing is being settled everybody may leave at once.
  const mayRedeem = isSlashing || (status === 'ready' && !isClosing)
  return { status, startedAt, cooling, start, end, isClosing, isSlashing, mayRedeem }
}

/** What an answer says of a cooldown. */
function shownOf(
  { status, startedAt, cooling, start, end }: Cooldown,
  window: bigint,
): Pick<Standing, 'pendingRequests' | 'vaultSpecificData'> {
  if (status === 'none') return {}
  const request: PendingRequest = {
    status: status === 'ready' ? 'ready' : 'pending',
    lpTokenAmount: cooling,
    requestTimestamp: startedAt,
    withdrawalStart: start,
    withdrawalEnd: end,
  }
  return {
    ...(status !== 'expired' && { pendingRequests: { deposits: [], redeems: [request] } }),
    vaultSpecificData: {
      cooldownData: {
        amount: String(cooling),
        endOfCooldown: String(start),
        withdrawalWindow: String(window),
        status,
      },
    },
  }
}

/** Somebody at a vault, as both stood at one block. */
interface Staker {
  vault: VaultRef
  user: Address
  wallet: Wallet
  cooldown: Cooldown
  rewards: bigint
  /** Of a whole share. */
  price: bigint | undefined
}

function planOf(staker: Staker, request: BuildRequest): Plan {
  const { vault, user, wallet, cooldown, rewards } = staker
  const call = (name: PlannedAction['name'], data: Hex): PlannedAction => ({ name, to: vault.address, data })
  switch (request.action) {
    case 'deposit': {
      const value = assetsToSpend(vault, wallet, request)
      if (cooldown.isSlashing)
        throw new RefusedError('The vault takes no deposits while a slashing is being settled.')
      const args = [user, value] as const
      const data = encodeFunctionData({ abi: stakedTokenAbi, functionName: 'stake', args })
      const last = call('deposit', data)
      return spendingPlan(vault, wallet, request, {
        spender: vault.address,
        value,
        last,
        gains: [vault.share],
      })
    }
    case 'start-redeem-cooldown': {
      if ((wallet.shares ?? 0n) === 0n) throw new RefusedError(`The wallet holds no ${vault.share.symbol}.`)
      const data = encodeFunctionData({ abi: stakedTokenAbi, functionName: 'cooldown' })
      return singlePlan(call('start-redeem-cooldown', data))
    }
    case 'redeem': {
      const args = [user, sharesRedeemed(staker, request)] as const
      const data = encodeFunctionData({ abi: stakedTokenAbi, functionName: 'redeem', args })
      return singlePlan(call('redeem', data), [vault.asset])
    }
    case 'claim-rewards': {
      if (rewards === 0n) throw new RefusedError('There are no rewards to claim.')
      const args = [user, rewards] as const
      const data = encodeFunctionData({ abi: stakedTokenAbi, functionName: 'claimRewards', args })
      return singlePlan(call('claim-rewards', data))
    }
    default:
      throw unsupported('staked-token', request.action, [
        'deposit',
        'start-redeem-cooldown',
        'redeem',
        'claim-rewards',
      ])
  }
}

/** @throws RefusedError where it cannot be redeemed now, or not so many */
function sharesRedeemed({ vault, wallet, cooldown, price }: Staker, request: BuildRequest): bigint {
  const { isSlashing, mayRedeem, cooling } = cooldown
  const shares = wallet.shares ?? 0n
  const amount = neededAmount(request)
  if (!mayRedeem) throw new RefusedError(notNow(cooldown))
  const wanted =
    amount.kind === 'assets'
      ? {
          kind: 'shares' as const,
          value: sharesFor(amount.value, price, 10n ** BigInt(vault.share.decimals)),
        }
      : amount
  const spent = sharesToSpend(vault, shares, wanted)
  const redeemable = isSlashing || shares < cooling ? shares : cooling
  if (spent > redeemable)
    throw new RefusedError(
      `The cooldown covers ${units(redeemable, vault.share)}, less than the ${spent} asked for.`,
    )
  return spent
}

function notNow({ status, isClosing, start, end }: Cooldown): string {
  if (status === 'active') return `The cooldown ends at ${start} (unix seconds).`
  if (isClosing)
    return `The window to redeem closes at ${end} (unix seconds), too soon for a transaction to land.`
  if (status === 'expired')
    return `The window to redeem closed at ${end} (unix seconds): begin again with start-redeem-cooldown.`
  return 'No cooldown has been started: begin with start-redeem-cooldown.'
}

/** Shares that pay at least `assets`: rounded up. */
function sharesFor(assets: bigint, price: bigint | undefined, whole: bigint): bigint {
  if (!price) throw new RefusedError('The vault does not say its price: give the amount in shares.')
  return (assets * whole + price - 1n) / price
}
