import * as Yearn from '../../../abi/yearn/VaultFactory.ts'
import { on } from '../../handling/decoder.ts'
import { defineProtocol } from '../../protocol.ts'
import { factory } from '../../vaults/factory.ts'

/** Yearn v3: ERC-4626 vaults of its factories. */
export default defineProtocol({
  name: 'yearn-v3',
  sources: [
    factory(
      'yearn-v3-factory',
      on(Yearn.NewVault, 'VaultCreated', (a, log) => ({
        vault: a.vault_address,
        factory: log.address,
        protocol: 'yearn-v3',
        asset: a.asset,
      })),
    ),
  ],
})
