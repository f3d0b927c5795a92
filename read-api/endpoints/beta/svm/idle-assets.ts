import { SOLANA } from '../../../../db/streams.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { svmAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { svmVaultsOf } from '../../../svm/book.ts'
import { readIdleAssets } from '../../../svm/idle-assets.ts'
import { IdleSvm } from '../../../svm/schemas.ts'
import { assetWire } from '../../../svm/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/svm/portfolio/idle-assets/{userAddress}',
  summary: 'What a wallet on Solana holds, uninvested, of assets that vaults take',
  description:
    'Read from a node now, over all token accounts of the wallet. SOL, wrapped or not, stands under the mint of wrapped SOL. Assets of vaults for which nobody vouches are not asked for.',
  params: z.object({ userAddress: svmAddress('The wallet.') }),
  response: z.strictObject({ data: z.array(IdleSvm) }),
  example: { params: { userAddress: '{svmUser}' } },
  cost: 5,
  cache: 'none',
  face: 'svm',
  async handler({ params }, context) {
    const vouchedFor = (await svmVaultsOf(context)).filter(({ standing }) => standing !== 'found')
    const assets = new Map(vouchedFor.map(({ asset }) => [asset.mint, asset]))
    const { slot, idle } = await readIdleAssets(context.deps.solana, params.userAddress, [...assets.values()])
    context.readAt(SOLANA.id, slot)
    return {
      data: idle
        .filter(({ balance }) => balance > 0n)
        .map(({ asset, balance }) => ({ ...assetWire(asset), balance: balance.toString() })),
    }
  },
})
