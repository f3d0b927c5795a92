import { SOLANA } from '../../../../db/streams.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { svmAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { svmVaultsOf } from '../../../svm/book.ts'
import { readIdleAssets, readStrangeAsset } from '../../../svm/idle-assets.ts'
import { IdleSvm } from '../../../svm/schemas.ts'
import { assetWire } from '../../../svm/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/svm/portfolio/idle-assets/{userAddress}/{assetAddress}',
  summary: 'What a wallet on Solana holds of one token',
  description:
    'Read from a node now, over all token accounts of the wallet. Of a token that no vault takes name and symbol are empty.',
  params: z.object({ userAddress: svmAddress('The wallet.'), assetAddress: svmAddress('The mint.') }),
  response: z.strictObject({ asset: IdleSvm }),
  example: { params: { userAddress: '{svmUser}', assetAddress: '{svmAsset}' } },
  cost: 5,
  cache: 'none',
  face: 'svm',
  async handler({ params }, context) {
    const { solana } = context.deps
    const known = (await svmVaultsOf(context)).find(({ asset }) => asset.mint === params.assetAddress)?.asset
    const asset = known ?? (await readStrangeAsset(solana, params.assetAddress))
    const { slot, idle } = await readIdleAssets(solana, params.userAddress, [asset])
    context.readAt(SOLANA.id, slot)
    const balance = idle[0]?.balance ?? 0n
    return { asset: { ...assetWire(asset), balance: balance.toString() } }
  },
})
