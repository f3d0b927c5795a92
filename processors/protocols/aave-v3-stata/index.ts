import * as Stata from '../../../abi/aave-v3/StataTokenFactory.ts'
import { on } from '../../handling/decoder.ts'
import { defineProtocol } from '../../protocol.ts'
import { ofMarkets } from '../aave-v3/markets.ts'

/** Stata tokens: ERC-4626 vaults around aTokens. */
export default defineProtocol({
  name: 'aave-v3-stata',
  sources: [
    {
      kind: 'aave-stata-factory',
      at: ofMarkets(market => market.stataFactory ?? []),
      decoders: [
        // `underlying` is the vault's asset: a stata token takes it in and wraps the aToken itself.
        on(Stata.StataTokenCreated, 'VaultCreated', (a, log) => ({
          vault: a.stataToken,
          factory: log.address,
          protocol: 'aave-v3-stata',
          asset: a.underlying,
        })),
      ],
    },
  ],
})
