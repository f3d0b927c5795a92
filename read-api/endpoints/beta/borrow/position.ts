import { defineEndpoint } from '../../../http/endpoint.ts'
import { NotFoundError } from '../../../http/errors.ts'
import { userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { findMarket, marketPath } from '../../../lending/book.ts'
import { readPositions } from '../../../lending/positions.ts'
import { BorrowPosition } from '../../../lending/schemas.ts'
import { positionWire } from '../../../lending/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/portfolio/positions/{userAddress}/{network}/{marketId}',
  summary: 'What a wallet has supplied to and borrowed from one market',
  description:
    'Also without debt: then ltv is 0 and healthFactor null. Without any balance `assets` is empty.',
  params: z.object({ userAddress: userAddress(), ...marketPath }),
  response: BorrowPosition,
  example: { params: { userAddress: '{user}', network: '{network}', marketId: '{market}' } },
  cost: 1,
  cache: 'moment',
  async handler({ params }, context) {
    const market = await findMarket(params, context)
    const [position] = await readPositions([market], params.userAddress, context)
    if (!position) throw new NotFoundError(`There is no lending market ${params.marketId}.`)
    return positionWire(position)
  },
})
