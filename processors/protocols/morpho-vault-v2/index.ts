import * as VaultV2 from '../../../abi/metamorpho/VaultV2.ts'
import * as Factory from '../../../abi/metamorpho/VaultV2Factory.ts'
import { on } from '../../handling/decoder.ts'
import { defineProtocol } from '../../protocol.ts'
import { factory } from '../../vaults/factory.ts'
import { VAULT } from '../../vaults/kind.ts'

/** A management fee is stated per second; a year is 365 days in its own limit (ConstantsLib). */
const SECONDS_PER_YEAR = 31_536_000n

/** Morpho Vault V2: ERC-4626 vaults that allocate through adapters. */
export default defineProtocol({
  name: 'morpho-vault-v2',
  sources: [
    factory(
      'morpho-vault-v2-factory',
      on(Factory.CreateVaultV2, 'VaultCreated', (a, log) => ({
        vault: a.newVaultV2,
        factory: log.address,
        protocol: 'morpho-vault-v2',
        asset: a.asset,
      })),
    ),
  ],
  adds: {
    [VAULT]: [
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
    ],
  },
})
