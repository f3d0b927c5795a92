import * as EulerEarn from '../../../abi/euler/EulerEarnFactory.ts'
import { on } from '../../handling/decoder.ts'
import { defineProtocol } from '../../protocol.ts'
import { factory } from '../../vaults/factory.ts'

/** EulerEarn, a fork of MetaMorpho: ERC-4626 vaults that allocate to others. */
export default defineProtocol({
  name: 'euler-earn',
  sources: [
    factory(
      'euler-earn-factory',
      on(EulerEarn.CreateEulerEarn, 'VaultCreated', (a, log) => ({
        vault: a.eulerEarn,
        factory: log.address,
        protocol: 'euler-earn',
        asset: a.asset,
      })),
    ),
  ],
})
