import { Address, Amount, NetworkShape, Tvl } from '../http/shapes.ts'
import { widened, z } from '../http/zod.ts'

const PooledAsset = z
  .strictObject({
    address: Address,
    symbol: z.string(),
    decimals: z.int(),
    balanceInVault: Amount.openapi({
      description:
        'What the vault has of it at the price of the pool when it was last read, base units; fees since its positions were touched last are not in it. Empty: not read yet.',
    }),
  })
  .openapi('PooledAsset')

const RATE =
  'Growth of the value of a share as simple interest per year, a fraction; it moves with the price of the pair and may be below zero.'

export const Deep = z
  .strictObject({
    address: Address.openapi({ description: 'The vault, which is the token of its shares too.' }),
    network: NetworkShape,
    name: z.string().openapi({ description: 'As the shares say their symbol.' }),
    decimals: z.int().openapi({
      description: 'Of shares. They say nothing of their size: what they are worth is tvl over totalSupply.',
    }),
    asset0: PooledAsset,
    asset1: PooledAsset,
    apr: z.strictObject({ '7day': z.number(), '30day': z.number() }).openapi({
      description: `${RATE} A window without a figure has that of the other; 0, with a warning, where neither has one.`,
    }),
    takes: z.array(Address).openapi({ description: 'Which of the two can be deposited.' }),
    totalSupply: Amount.openapi({ description: 'Shares, base units. Empty: not read yet.' }),
    tvl: Tvl.openapi({
      description:
        'What the vault is worth: native in base units of valueToken, at price; usd by the prices of both assets, empty where one is not known.',
    }),
    valueToken: Address.openapi({
      description: 'The asset in which the vault is valued: the one that it takes, asset1 if both.',
    }),
    price: z.enum(['time-weighted', 'spot']).optional().openapi({
      description:
        "The pool's price by which tvl and apr are reckoned. time-weighted: the mean over the time that the vault itself looks back, with the positions as they would be at it: a single trade does not move it. spot: that of the moment, where the pool's oracle does not reach so far back. Absent: not read yet.",
    }),
    standing: z.enum(['listed', 'made', 'found']).openapi({
      description:
        "Who vouches for the vault. listed: the registry; made: a factory of the registry made it for the protocol's own account; found: nobody, and what it is worth is the word of its own pool.",
    }),
    warnings: z
      .array(z.string())
      .optional()
      .openapi({ description: 'What to know of the figures; absent: nothing.' }),
  })
  .openapi('Deep')

export const DeepPosition = widened(Deep, {
  userBalance: Amount.openapi({ description: 'Shares of the wallet, base units.' }),
  userValue: Tvl.openapi({
    description: 'What they are of tvl, rounded down. Empty where that is not known.',
  }),
}).openapi('DeepPosition')
