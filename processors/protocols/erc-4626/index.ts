import * as Ownable from '../../../abi/erc4626/Ownable.ts'
import * as Pausable from '../../../abi/erc4626/Pausable.ts'
import * as Vault from '../../../abi/erc4626/Vault.ts'
import * as Async from '../../../abi/erc7540/AsyncVault.ts'
import * as Lagoon from '../../../abi/lagoon/Vault.ts'
import * as StakingRewards from '../../../abi/staking/StakingRewards.ts'
import { on, some } from '../../handling/decoder.ts'
import { defineProtocol } from '../../protocol.ts'
import { inspectVault } from '../../vaults/inspect.ts'
import { VAULT } from '../../vaults/kind.ts'
import { settleLedgers } from '../../vaults/ledger.ts'

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
      ],
    },
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
