import * as book from '@aave-dao/aave-address-book'
import { addressesRegistry } from '@morpho-org/blue-sdk'
import { expect, test } from 'vitest'
import { networkIds } from '../../../db/networks.ts'
import { wrappedNatives } from '../../../read-api/chain/wrapped-native.ts'

const published: Record<number, { wNative?: string }> = addressesRegistry
/** Aave's reserve of the wrapped coin where Morpho's registry has no such chain or no such entry. */
const fromAave: Record<string, string> = {
  gnosis: book.AaveV3Gnosis.ASSETS.WXDAI.UNDERLYING,
  plasma: book.AaveV3Plasma.ASSETS.WXPL.UNDERLYING,
  avalanche: book.AaveV3Avalanche.ASSETS.WAVAX.UNDERLYING,
}

test.each(networkIds)('$name: the wrapped coin is the published one', ({ name, chainId }) => {
  const address = published[chainId]?.wNative ?? fromAave[name]
  if (address) expect(wrappedNatives[name as keyof typeof wrappedNatives]).toBe(address.toLowerCase())
  // In neither: Berachain, Swellchain (a predeploy), and Celo, which needs none.
  else expect(['berachain', 'swellchain', 'celo']).toContain(name)
})

test('every network but Celo has one', () => {
  expect(networkIds.map(({ name }) => name).filter(name => !(name in wrappedNatives))).toEqual(['celo'])
})
