import * as Ownable from '../../../abi/erc4626/Ownable.ts'
import * as Pausable from '../../../abi/erc4626/Pausable.ts'
import * as Vault from '../../../abi/erc4626/Vault.ts'
import * as Async from '../../../abi/erc7540/AsyncVault.ts'
import * as EVault from '../../../abi/euler/EVault.ts'
import * as Lagoon from '../../../abi/lagoon/Vault.ts'
import * as MetaMorpho from '../../../abi/metamorpho/MetaMorpho.ts'
import * as VaultV2 from '../../../abi/metamorpho/VaultV2.ts'
import * as StakingRewards from '../../../abi/staking/StakingRewards.ts'
import { bpsToWad, eventOf, on, onMany, some } from '../../handling/decoder.ts'
import { defineProtocol } from '../../protocol.ts'
import { vaultFactories } from '../../vaults/factories.ts'
import { inspectVault } from '../../vaults/inspect.ts'
import { settleLedgers } from '../../vaults/ledger.ts'

const VAULT = 'erc-4626-vault'
/** Vault V2 states its management fee per second; a year is 365 days in its own limit (ConstantsLib). */
const SECONDS_PER_YEAR = 31_536_000n

/**
 * Euler's AmountCap: two bytes, mantissa in the upper 10 bits, exponent in the lower 6, in hundredths; 0 is the
 * largest uint256, no cap (euler-vault-kit, EVault/shared/types/AmountCap.sol).
 */
function eulerAmount(cap: number): bigint {
  return cap === 0 ? 2n ** 256n - 1n : (10n ** BigInt(cap & 63) * BigInt(cap >> 6)) / 100n
}

/** What is claimed has moved, or will, by a transfer: with the request, at its settlement, or now. */
const ledgerOf = (isClaimed: true | undefined) => (isClaimed ? ('transfer' as const) : ('self' as const))

/**
 * Any ERC-4626 vault. Deposit and Withdraw are taken wherever they appear in that shape; the contract is then looked
 * at once, and if it is a vault the rest of its logs is watched. What a known factory makes is looked at from birth.
 */
export default defineProtocol({
  name: 'erc-4626',
  sources: [
    {
      kind: 'erc-4626',
      at: 'anywhere',
      transactions: true,
      decoders: [
        // Else the ledger is settled by reconcile, which sees the whole transaction.
        on(Vault.Deposit, 'Deposited', (a, _, vault) => ({ ...a, ledger: ledgerOf(vault?.asyncDeposits) })),
        // By nobody and for no shares: what an Euler vault writes off (Liquidation.sol of euler-vault-kit), which nobody got.
        on(Vault.Withdraw, 'Redeemed', (a, _, vault) =>
          some(a.owner) === undefined && a.shares === 0n
            ? undefined
            : { ...a, ledger: ledgerOf(vault?.asyncRedemptions) },
        ),
        on(Lagoon.DepositSync, 'Deposited', a => ({ ...a, ledger: 'self' as const })),
      ],
    },
    {
      kind: VAULT,
      at: 'discovered',
      decoders: [
        on(Vault.Transfer, 'ShareTransferred', a => ({ from: a.from, to: a.to, shares: a.value })),
        on(Pausable.Paused, 'Paused', a => ({ account: a.account })),
        on(Pausable.Unpaused, 'Unpaused', a => ({ account: a.account })),
        on(Ownable.OwnershipTransferred, 'OwnerChanged', a => ({
          owner: a.newOwner,
          previous: some(a.previousOwner),
        })),
        on(StakingRewards.RewardAdded, 'RewardAdded', a => ({ amount: a.reward })),
        on(Async.DepositRequest, 'DepositRequested', a => ({ ...a })),
        on(Async.RedeemRequest, 'RedeemRequested', a => ({ ...a })),
        // MetaMorpho and what was forked from it (EulerEarn)
        on(MetaMorpho.SetFee, 'FeeChanged', a => ({ kind: 'performance' as const, feeWad: a.newFee })),
        on(MetaMorpho.SetCap, 'CapChanged', a => ({ kind: 'supply' as const, cap: a.cap, market: a.id })),
        on(MetaMorpho.SetCurator, 'OwnerChanged', a => ({ owner: a.newCurator, role: 'curator' })),
        on(MetaMorpho.SetGuardian, 'OwnerChanged', a => ({ owner: a.guardian, role: 'guardian' })),
        on(MetaMorpho.SetFeeRecipient, 'OwnerChanged', a => ({
          owner: a.newFeeRecipient,
          role: 'feeRecipient',
        })),
        // Morpho Vault V2
        on(VaultV2.SetPerformanceFee, 'FeeChanged', a => ({
          kind: 'performance' as const,
          feeWad: a.newPerformanceFee,
        })),
        on(VaultV2.SetManagementFee, 'FeeChanged', a => ({
          kind: 'management' as const,
          feeWad: a.newManagementFee * SECONDS_PER_YEAR,
        })),
        on(VaultV2.SetOwner, 'OwnerChanged', a => ({ owner: a.newOwner })),
        on(VaultV2.IncreaseAbsoluteCap, 'CapChanged', a => ({
          kind: 'allocation' as const,
          cap: a.newAbsoluteCap,
          market: a.id,
        })),
        on(VaultV2.DecreaseAbsoluteCap, 'CapChanged', a => ({
          kind: 'allocation' as const,
          cap: a.newAbsoluteCap,
          market: a.id,
        })),
        // Euler Vault Kit
        on(EVault.GovSetInterestFee, 'FeeChanged', a => ({
          kind: 'reserve' as const,
          feeWad: bpsToWad(a.newFee),
        })),
        on(EVault.GovSetMaxLiquidationDiscount, 'FeeChanged', a => ({
          kind: 'liquidationDiscount' as const,
          feeWad: bpsToWad(a.newDiscount),
        })),
        onMany(EVault.GovSetCaps, ['CapChanged'], (a, log) => [
          eventOf(log, 'CapChanged', { kind: 'deposit', cap: eulerAmount(a.newSupplyCap) }),
          eventOf(log, 'CapChanged', { kind: 'borrow', cap: eulerAmount(a.newBorrowCap) }),
        ]),
      ],
    },
    ...vaultFactories,
  ],
  teaches: ['VaultDiscovered'],
  proposes: ['VaultCreated', 'Deposited', 'Redeemed'],
  // A factory's word is not enough: what does not answer as a vault is left alone, whoever made it.
  watches: event =>
    event.type === 'VaultDiscovered' && !event.data.pool ? [{ kind: VAULT, contract: event.data.vault }] : [],
  candidates: event => {
    if (event.type === 'VaultCreated') return [event.data.vault]
    return event.type === 'Deposited' || event.type === 'Redeemed' ? [event.contract] : []
  },
  inspect: inspectVault,
  reconcile: settleLedgers,
})
