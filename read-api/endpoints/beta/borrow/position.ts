import { defineEndpoint } from '../../../http/endpoint.ts'
import { NotFoundError } from '../../../http/errors.ts'
import { userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { findMarket, marketPath } from '../../../lending/book.ts'
import { mainPosition, readWallet } from '../../../lending/positions.ts'
import { BorrowPosition } from '../../../lending/schemas.ts'
import { positionWire } from '../../../lending/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/portfolio/positions/{userAddress}/{network}/{marketId}',
  summary: 'What a wallet has supplied to and borrowed from one market',
  description:
    'Also without debt: then ltv is 0 and healthFactor null. Without any balance `assets` is empty. Where the wallet itself has nothing in an Euler market, that of its sub-account which is closest to liquidation; an address of a sub-account asks for that one.',
  params: z.object({ userAddress: userAddress(), ...marketPath }),
  response: BorrowPosition,
  example: { params: { userAddress: '{user}', network: '{network}', marketId: '{market}' } },
  cost: 1,
  cache: 'moment',
  face: 'lending',
  async handler({ params }, context) {
    const market = await findMarket(params, context)
    const shown = mainPosition(await readWallet([market], params.userAddress, context))
    if (!shown) throw new NotFoundError(`There is no lending market ${params.marketId}.`)
    return positionWire(shown.position, shown.position.assets, shown.others)
  },
})
