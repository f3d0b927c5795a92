import * as Frax from '../../../abi/frax/FraxlendPairDeployer.ts'
import { on } from '../../handling/decoder.ts'
import { defineProtocol } from '../../protocol.ts'
import { factory } from '../../vaults/factory.ts'

/** Fraxlend: pairs, whose lent side is an ERC-4626 vault. */
export default defineProtocol({
  name: 'fraxlend',
  sources: [
    factory(
      'fraxlend-deployer',
      on(Frax.LogDeploy, 'VaultCreated', (a, log) => ({
        vault: a.address_,
        factory: log.address,
        protocol: 'fraxlend',
        asset: a.asset,
      })),
    ),
  ],
})
