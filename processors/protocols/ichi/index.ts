import * as Vault from '../../../abi/ichi/Vault.ts'
import * as VaultFactory from '../../../abi/ichi/VaultFactory.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { MalformedLogError } from '../../../db/process/errors.ts'
import table from '../../../db/registry/contracts/ichi.json' with { type: 'json' }
import { on } from '../../handling/decoder.ts'
import { addressesByNetwork } from '../../knowledge/address-tables.ts'
import { defineProtocol, type Wanted } from '../../protocol.ts'
import { readDescription, readState } from './state.ts'

const MOST = 2n ** 255n - 1n

/** Shares are summed as signed numbers. */
function asShares(amount: bigint): bigint {
  if (amount > MOST) throw new MalformedLogError(`${amount} shares are more than can be summed`)
  return amount
}

function wants(event: DomainEvent): Wanted | undefined {
  switch (event.type) {
    case 'AmmVaultCreated':
      return { lessons: [readDescription(event.data.vault)] }
    case 'AmmVaultDescribed':
      return { subjects: [event.data.vault] }
    case 'AmmDeposited':
    case 'AmmWithdrawn':
    case 'AmmRebalanced':
    case 'AmmFeesCollected': {
      const vault = event.contract
      const lesson = { ...readDescription(vault), unless: `AmmVaultDescribed ${vault}` }
      return { subjects: [vault], lessons: [lesson] }
    }
    default:
      return undefined
  }
}

/**
 * Vaults of concentrated liquidity: found by their factories alone, whose code they are, and which make one for anybody, of any two tokens. Shares
 * move by Transfer; what lies in the vault's positions no log tells: it is read with the pool's price after what happens in
 * the vault, and hourly.
 * @see ICHIVaultFactory.sol, ICHIVault.sol and IUniswapV3PoolDerivedState.sol
 */
export default defineProtocol({
  name: 'ichi',
  sources: [
    {
      kind: 'ichi-vault-factory',
      at: addressesByNetwork(table),
      decoders: [
        on(VaultFactory.ICHIVaultCreated, 'AmmVaultCreated', a => ({
          vault: a.ichiVault,
          creator: a.sender,
        })),
      ],
    },
    {
      kind: 'ichi-vault',
      at: 'discovered',
      decoders: [
        on(Vault.Deposit, 'AmmDeposited', a => ({ ...a, shares: asShares(a.shares) })),
        on(Vault.Withdraw, 'AmmWithdrawn', a => ({ ...a, shares: asShares(a.shares) })),
        on(Vault.Rebalance, 'AmmRebalanced', a => ({
          tick: a.tick,
          total0: a.totalAmount0,
          total1: a.totalAmount1,
          fee0: a.feeAmount0,
          fee1: a.feeAmount1,
          supply: a.totalSupply,
        })),
        on(Vault.CollectFees, 'AmmFeesCollected', a => ({
          sender: a.sender,
          fee0: a.feeAmount0,
          fee1: a.feeAmount1,
        })),
        on(Vault.Transfer, 'AmmShareTransferred', a => ({
          from: a.from,
          to: a.to,
          shares: asShares(a.value),
        })),
      ],
    },
  ],
  assets: event => (event.type === 'AmmVaultDescribed' ? [event.data.token0, event.data.token1] : []),
  teaches: ['AmmVaultCreated', 'AmmVaultDescribed'],
  remembers: ['AmmVaultDescribed'],
  watches: event =>
    event.type === 'AmmVaultCreated' ? [{ kind: 'ichi-vault', contract: event.data.vault }] : [],
  samples: event => {
    if (event.type !== 'AmmVaultDescribed') return []
    const { vault, pool } = event.data
    return [{ subject: vault, read: readState(vault, pool), opened: vault }]
  },
  wants,
})
