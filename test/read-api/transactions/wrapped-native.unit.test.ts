import * as book from '@aave-dao/aave-address-book'
import { addressesRegistry } from '@morpho-org/blue-sdk'
import { expect, test } from 'vitest'
import { networks } from '../../../db/networks.ts'

const published: Record<number, { wNative?: string }> = addressesRegistry
/** Aave's reserve of the wrapped coin where Morpho's registry has no such chain or no such entry. */
const fromAave: Record<string, string> = {
  gnosis: book.AaveV3Gnosis.ASSETS.WXDAI.UNDERLYING,
  plasma: book.AaveV3Plasma.ASSETS.WXPL.UNDERLYING,
  avalanche: book.AaveV3Avalanche.ASSETS.WAVAX.UNDERLYING,
}

test.each(Object.values(networks))(
  '$name: the wrapped coin is the published one',
  ({ name, chainId, wrappedNative }) => {
    const address = published[chainId]?.wNative ?? fromAave[name]
    if (address) expect(wrappedNative).toBe(address.toLowerCase())
    // In neither: Berachain, Swellchain (a predeploy), and Celo, which needs none.
    else expect(['berachain', 'swellchain', 'celo']).toContain(name)
  },
)

test('every network but Celo has one', () => {
  const without = Object.values(networks).filter(({ wrappedNative }) => !wrappedNative)
  expect(without.map(({ name }) => name)).toEqual(['celo'])
})
