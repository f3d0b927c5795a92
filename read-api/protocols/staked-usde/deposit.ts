import { encodeFunctionData } from 'viem'
import { view } from '../../chain/view.ts'
import { RefusedError } from '../../http/errors.ts'
import { type BuildRequest, defineFamily, type Plan } from '../../transactions/family.ts'
import { neededAmount, singlePlan, units, unsupported, walletViews } from '../../transactions/wallet.ts'
import {
  depositPlan,
  figuresOf4626,
  limitViews,
  redeemPlan,
  sharesToSpend,
  worthOf,
} from '../erc-4626/deposit.ts'
import { stakedUsdeAbi } from './abis.ts'

/** The claim on so many assets that is paid out when its time has come, `end`, unix seconds. */
const pendingOf = (assetAmount: bigint, end: bigint, isReady: boolean) => ({
  deposits: [],
  redeems: [
    {
      status: isReady ? ('ready' as const) : ('pending' as const),
      assetAmount,
      estimatedResolution: Number(end),
      withdrawalStart: Number(end),
    },
  ],
})

/**
 * Cooldown as in Ethena's StakedUSDeV2: starting one turns shares into a claim on a fixed amount of assets, which
 * `unstake` pays out when the time has come. Starting another puts the end off for all of it. With a duration of 0
 * the vault is an ordinary ERC-4626, and what cools down can be had at once.
 */
export const stakedUsde = defineFamily({
  name: 'staked-usde',
  probes: vault => ({
    duration: view(stakedUsdeAbi, vault.address, 'cooldownDuration', []),
    cooldown: view(stakedUsdeAbi, vault.address, 'cooldowns', [vault.address]),
  }),
  bind(vault, probed) {
    if (probed.duration === undefined || probed.cooldown === undefined) return undefined
    return {
      family: 'staked-usde',
      figures: figuresOf4626(vault),
      async look(user, read, { valued }) {
        const { block, values } = await read({
          ...walletViews(vault, user, vault.address),
          ...limitViews(vault, user),
          duration: view(stakedUsdeAbi, vault.address, 'cooldownDuration', []),
          cooldown: view(stakedUsdeAbi, vault.address, 'cooldowns', [user]),
        })
        const shares = values.shares ?? 0n
        const closed = values.paused ? 'The vault is paused.' : undefined
        const limits = { ...values, depositsClosed: closed, redeemsClosed: closed }
        const coolsDown = (values.duration ?? 0) > 0
        const [end, cooling] = values.cooldown ?? [0n, 0n]
        const isReady = cooling > 0n && (!coolsDown || BigInt(block.timestamp) >= end)
        const status = cooling === 0n ? 'none' : isReady ? 'ready' : 'pending'

        const build = (request: BuildRequest): Plan => {
          const { action } = request
          if (action === 'deposit') return depositPlan(vault, user, limits, request)
          if (action === 'redeem' && cooling === 0n && !coolsDown) {
            return redeemPlan(vault, user, limits, request)
          }
          if (action === 'redeem') {
            if (cooling === 0n)
              throw new RefusedError('No cooldown has been started: begin with start-redeem-cooldown.')
            if (!isReady) throw new RefusedError(`The cooldown ends at ${end} (unix seconds).`)
            return singlePlan(
              {
                name: 'unstake',
                to: vault.address,
                data: encodeFunctionData({ abi: stakedUsdeAbi, functionName: 'unstake', args: [user] }),
              },
              [vault.asset],
            )
          }
          if (action !== 'start-redeem-cooldown') {
            throw unsupported('staked-usde', action, ['deposit', 'start-redeem-cooldown', 'redeem'])
          }
          if (!coolsDown) throw new RefusedError('The vault has no cooldown at present: redeem at once.')
          if (closed) throw new RefusedError(closed)
          const amount = neededAmount(request)
          if (amount.kind === 'assets') {
            const most = values.maxWithdraw ?? 0n
            if (amount.value > most) {
              throw new RefusedError(
                `The shares are worth ${units(most, vault.asset)}, less than the ${amount.value} asked for.`,
              )
            }
            if (amount.value === 0n) throw new RefusedError('There is nothing to do: the amount is 0.')
          }
          const data =
            amount.kind === 'assets'
              ? encodeFunctionData({
                  abi: stakedUsdeAbi,
                  functionName: 'cooldownAssets',
                  args: [amount.value],
                })
              : encodeFunctionData({
                  abi: stakedUsdeAbi,
                  functionName: 'cooldownShares',
                  args: [sharesToSpend(vault, shares, amount)],
                })
          return singlePlan({ name: 'start-redeem-cooldown', to: vault.address, data })
        }

        return {
          block,
          shares,
          assets: values.assets ?? 0n,
          positionValue: await worthOf(vault, shares, read, valued),
          depositLimit: closed ? 0n : values.maxDeposit,
          ...(cooling > 0n ? { unclaimedAssets: cooling } : {}),
          deposit: { current: 'deposit', steps: [{ name: 'deposit', actions: ['approve', 'deposit'] }] },
          redeem: {
            current: cooling > 0n || !coolsDown ? 'redeem' : 'start-redeem-cooldown',
            steps: coolsDown
              ? [
                  { name: 'start-redeem-cooldown', actions: ['start-redeem-cooldown'] },
                  { name: 'redeem', actions: ['unstake'] },
                ]
              : [{ name: 'redeem', actions: [cooling > 0n ? 'unstake' : 'redeem'] }],
          },
          ...(cooling > 0n ? { pendingRequests: pendingOf(cooling, end, isReady) } : {}),
          vaultSpecificData: {
            claimData: { status, cooldownEnd: String(end), assetAmount: String(cooling) },
          },
          build,
        }
      },
    }
  },
})
