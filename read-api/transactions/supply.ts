import { type Address, type Hex, maxUint256 } from 'viem'
import type { BlockMark } from '../chain/multicall.ts'
import { RefusedError } from '../http/errors.ts'
import type { BuildRequest, Plan, Standing, VaultRef } from './family.ts'
import {
  assetsToSpend,
  neededAmount,
  singlePlan,
  spendingPlan,
  units,
  unsupported,
  type Wallet,
} from './wallet.ts'

/**
 * A lending position as a vault (Aave's aToken, Compound's Comet): a share is one unit of the asset, and the balance
 * grows. Amounts in base units of the asset.
 */
export interface Supply {
  family: string
  /** What it calls itself in reasons. */
  what: 'reserve' | 'market'
  /** Takes deposits and pays redemptions. */
  pool: Address
  /** Why nothing can be paid in, or out. */
  closed: string | undefined
  stopped: string | undefined
  /** What the cap leaves; undefined: there is none. */
  room: bigint | undefined
  /** What can be paid out now. */
  liquidity: bigint
  supply(assets: bigint): Hex
  withdraw(assets: bigint): Hex
  rewards: { token: Address; amount: bigint }[]
  claim(): { to: Address; data: Hex } | undefined
}

export function supplyStanding(vault: VaultRef, block: BlockMark, wallet: Wallet, of: Supply): Standing {
  const shares = wallet.shares ?? 0n
  return {
    block,
    shares,
    assets: wallet.assets ?? 0n,
    positionValue: shares,
    depositLimit: of.closed ? 0n : of.room,
    deposit: { current: 'deposit', steps: [{ name: 'deposit', actions: ['approve', 'deposit'] }] },
    redeem: { current: 'redeem', steps: [{ name: 'redeem', actions: ['redeem'] }] },
    ...(of.rewards.length > 0 ? { rewards: of.rewards } : {}),
    build(request) {
      if (request.action === 'deposit') return depositPlan(vault, wallet, of, request)
      if (request.action === 'redeem') return redeemPlan(vault, shares, of, request)
      if (request.action !== 'claim-rewards') {
        throw unsupported(of.family, request.action, ['deposit', 'redeem', 'claim-rewards'])
      }
      const claim = of.rewards.length > 0 ? of.claim() : undefined
      if (!claim) throw new RefusedError('There are no rewards to claim.')
      return singlePlan({ name: 'claim-rewards', ...claim })
    },
  }
}

function depositPlan(vault: VaultRef, wallet: Wallet, of: Supply, request: BuildRequest): Plan {
  const value = assetsToSpend(vault, wallet, request)
  if (of.closed) throw new RefusedError(of.closed)
  if (of.room !== undefined && value > of.room) {
    throw new RefusedError(
      `The supply cap leaves room for ${units(of.room, vault.asset)}, less than the ${value} asked for.`,
    )
  }
  return spendingPlan(vault, wallet, request, {
    spender: of.pool,
    value,
    last: { name: 'deposit', to: of.pool, data: of.supply(value) },
    gains: [vault.share],
  })
}

function redeemPlan(vault: VaultRef, shares: bigint, of: Supply, request: BuildRequest): Plan {
  const amount = neededAmount(request)
  if (of.stopped) throw new RefusedError(of.stopped)
  if (shares === 0n) throw new RefusedError(`The wallet holds no ${vault.share.symbol}.`)
  const wanted = amount.kind === 'all' ? shares : amount.value
  if (wanted === 0n) throw new RefusedError('There is nothing to do: the amount is 0.')
  if (wanted > shares) {
    throw new RefusedError(
      `The position is worth ${units(shares, vault.asset)}, less than the ${wanted} asked for.`,
    )
  }
  if (wanted > of.liquidity) {
    throw new RefusedError(
      `The ${of.what} can pay out ${units(of.liquidity, vault.asset)} now, less than the ${wanted} asked for.`,
    )
  }
  // The balance grows until the transaction lands: only the contract can name all of it.
  const data = of.withdraw(amount.kind === 'all' ? maxUint256 : wanted)
  return singlePlan({ name: 'redeem', to: of.pool, data }, [vault.asset])
}
