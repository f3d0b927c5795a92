import * as MetaMorpho from '../../../abi/metamorpho/MetaMorpho.ts'
import * as Factory from '../../../abi/metamorpho/MetaMorphoFactory.ts'
import { on } from '../../handling/decoder.ts'
import { defineProtocol } from '../../protocol.ts'
import { factory } from '../../vaults/factory.ts'
import { VAULT } from '../../vaults/kind.ts'

/** MetaMorpho: ERC-4626 vaults that lend in markets of Morpho Blue. What was forked from it (EulerEarn) logs alike. */
export default defineProtocol({
  name: 'metamorpho',
  sources: [
    factory(
      'metamorpho-factory',
      on(Factory.CreateMetaMorpho, 'VaultCreated', (a, log) => ({
        vault: a.metaMorpho,
        factory: log.address,
        protocol: 'metamorpho',
        asset: a.asset,
      })),
    ),
  ],
  adds: {
    [VAULT]: [
      on(MetaMorpho.SetFee, 'FeeChanged', a => ({ kind: 'performance' as const, feeWad: a.newFee })),
      on(MetaMorpho.SetCap, 'CapChanged', a => ({ kind: 'supply' as const, cap: a.cap, market: a.id })),
      on(MetaMorpho.SetCurator, 'OwnerChanged', a => ({ owner: a.newCurator, role: 'curator' })),
      on(MetaMorpho.SetGuardian, 'OwnerChanged', a => ({ owner: a.guardian, role: 'guardian' })),
      on(MetaMorpho.SetFeeRecipient, 'OwnerChanged', a => ({
        owner: a.newFeeRecipient,
        role: 'feeRecipient',
      })),
    ],
  },
})
