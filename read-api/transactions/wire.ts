import type { NetworkId } from '../../db/networks.ts'
import type { AssetWire } from '../catalogue/assets.ts'
import { assetWire } from '../catalogue/assets.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Vault } from '../catalogue/vault.ts'
import { identityOf, lpTokenOf } from '../catalogue/wire.ts'
import { checksum, decimalString, usdOf } from '../http/amounts.ts'
import type { RewardToken } from '../rewards/tokens.ts'
import type { ActionName, PendingRequest, Standing } from './family.ts'
import type { Bundle } from './finish.ts'

/** The Context of the wire. `rewardTokens`: what is known of the tokens that the standing names as rewards. */
export function contextOf(
  vault: Vault,
  user: string,
  standing: Standing,
  rewardAssets: readonly { amount: bigint; asset: AssetWire }[],
  options: { allowUnlisted?: boolean | undefined } = {},
) {
  const steps = <N extends ActionName>(plans: readonly Named<N>[]) =>
    plans.map(plan => stepOf(vault, user, plan, options))
  const usd = (amount: bigint | undefined) => {
    const worth = amount === undefined ? undefined : usdOf(amount, vault.asset.decimals, vault.asset.price)
    return worth === undefined ? undefined : decimalString(worth)
  }
  const { unclaimedAssets } = standing
  return {
    currentDepositStep: standing.deposit.current,
    depositSteps: steps(standing.deposit.steps),
    currentRedeemStep: standing.redeem.current,
    redeemSteps: steps(standing.redeem.steps),
    lpToken: {
      ...lpTokenOf(vault),
      balanceNative: String(standing.shares),
      ...optional({ balanceUsd: usd(standing.positionValue) }),
    },
    asset: {
      ...vault.asset.wire,
      balanceNative: String(standing.assets),
      ...optional({
        balanceUsd: usd(standing.assets),
        unclaimedNative: unclaimedAssets?.toString(),
        unclaimedUsd: usd(unclaimedAssets),
        positionValueInAsset: standing.positionValue?.toString(),
        depositLimit: standing.depositLimit?.toString(),
      }),
    },
    additionalAssets: [],
    childrenPositions: [],
    ...(standing.vaultSpecificData || standing.cancelSteps
      ? {
          vaultSpecificData: {
            ...standing.vaultSpecificData,
            ...(standing.cancelSteps ? { cancelSteps: steps(standing.cancelSteps) } : {}),
          },
        }
      : {}),
    ...(standing.pendingRequests
      ? {
          pendingRequests: {
            deposits: standing.pendingRequests.deposits.map(requestOf),
            redeems: standing.pendingRequests.redeems.map(requestOf),
          },
        }
      : {}),
    ...(rewardAssets.length > 0
      ? {
          rewards: {
            claimable: rewardAssets.map(({ amount, asset }) => ({
              amount: String(amount),
              asset: { ...asset, network: vault.network.name },
            })),
            currentStep: 'claim-rewards' as const,
            steps: steps([{ name: 'claim-rewards' as const, actions: ['claim-rewards'] }]),
          },
        }
      : {}),
  }
}

/** Steps whose amounts are in shares because what they will pay is not known before. */
const inShares = new Set<ActionName>(['request-redeem'])

interface Named<N extends ActionName> {
  name: N
  actions: string[]
}

function stepOf<N extends ActionName>(
  vault: Vault,
  user: string,
  { name, actions }: Named<N>,
  { allowUnlisted }: { allowUnlisted?: boolean | undefined },
) {
  const { address, asset } = vault.state
  const query = new URLSearchParams({ assetAddress: checksum(inShares.has(name) ? address : asset) })
  if (allowUnlisted) query.set('allowUnlisted', 'true')
  const path = [name, checksum(user), vault.network.name, identityOf(vault).vaultId]
    .map(encodeURIComponent)
    .join('/')
  return { name, actions, actionsUrl: `/v2/transactions/${path}?${query}` }
}

function requestOf(request: PendingRequest) {
  const { status, assetAmount, lpTokenAmount, ...times } = request
  return {
    status,
    ...optional({ assetAmount: assetAmount?.toString(), lpTokenAmount: lpTokenAmount?.toString() }),
    ...times,
  }
}

/** The Asset of a token that pays rewards: the catalogue's where a vault holds it, else what its contract says. */
export function rewardAssetOf(catalogue: Catalogue, network: NetworkId, token: RewardToken): AssetWire {
  return (
    catalogue.asset(network.chainId, token.address)?.wire ??
    assetWire(
      network,
      { chainId: network.chainId, ...token },
      catalogue.facts.asset(network.chainId, token.address),
      undefined,
    )
  )
}

export function bundleOf(bundle: Bundle) {
  return {
    ...(bundle.isSimulated ? {} : { isSimulated: false as const }),
    currentActionIndex: bundle.currentActionIndex,
    actions: bundle.actions.map(({ name, tx, simulation }) => ({
      name,
      tx: { ...tx, to: checksum(tx.to) },
      ...(simulation ? { simulation } : {}),
    })),
  }
}

/** Leaves out what is undefined: on the wire a key that has no value is not there. */
function optional<T extends Record<string, string | undefined>>(fields: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: string
  }
}
