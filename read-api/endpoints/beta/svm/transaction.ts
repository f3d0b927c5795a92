import { SOLANA } from '../../../../db/streams.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { InvalidRequestError, RefusedError } from '../../../http/errors.ts'
import { baseUnits, choice, flag, svmAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { findSvmVault, svmFamilyOf } from '../../../svm/book.ts'
import { svmActions } from '../../../svm/family.ts'
import { prepareSvm } from '../../../svm/prepare.ts'
import { SvmBundle } from '../../../svm/schemas.ts'
import { NOBODY_VOUCHES_ON_SOLANA } from '../../../svm/vault.ts'
import { bundleWire } from '../../../svm/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/svm/transactions/{action}/{userAddress}/{vaultAddress}',
  summary: 'A transaction of a vault on Solana that is ready to be signed',
  description:
    'It has been run on the newest state: what would fail or pay nothing is refused with 422 and the reason; what fails for some minutes, while a pool has not been brought up to date in a new epoch, with 503 and Retry-After. Sign and send it within a minute. Missing token accounts are made in it. Where the asset is SOL it is wrapped or unwrapped as the vault wants it, and a redemption is paid in SOL. Where the program of a vault takes a bound, what would give half a percent less by then than was seen does not land. Shares of a deposit are staked where the registry lists the vault, it has a farm that gives them back at any moment to their owner alone, and the wallet holds no others loose; they are taken out of it for a redemption. Whoever runs a farm may change its terms. What a farm pays is not claimed here. What is too long for a transaction names accounts by the look-up table of the vault, or is two actions: setup, then the act, which cannot be tried before setup has landed.',
  params: z.object({
    action: choice(svmActions).openapi({ description: 'What is to be done.' }),
    userAddress: svmAddress('The wallet that signs and pays the fee.'),
    vaultAddress: svmAddress('The vault.'),
  }),
  query: z.object({
    assetAddress: svmAddress(
      "What amount is an amount of: the vault's asset, or for a redemption also its share. The system program (11111111111111111111111111111111) stands for SOL.",
    ),
    amount: baseUnits('Base units of assetAddress.').optional(),
    simulate: flag('With what the transaction was seen to do when it was run.'),
    allowUnlisted: flag('Needed to deposit into a vault of standing found, for which nobody vouches.'),
  }),
  response: SvmBundle,
  example: {
    params: { action: 'deposit', userAddress: '{svmUser}', vaultAddress: '{svmVault}' },
    query: { assetAddress: '{svmAsset}', amount: '1000000000' },
  },
  cost: 5,
  cache: 'none',
  face: 'svm',
  async handler({ params: { action, userAddress, vaultAddress }, query }, context) {
    const { assetAddress, amount } = query
    if (amount === undefined)
      throw new InvalidRequestError('"amount" must be given: base units of assetAddress.')
    const vault = await findSvmVault(vaultAddress, context)
    if (action === 'deposit' && vault.standing === 'found' && !query.allowUnlisted)
      throw new RefusedError(
        `${NOBODY_VOUCHES_ON_SOLANA} With allowUnlisted=true a deposit is prepared all the same.`,
      )
    const wish = { vault, user: userAddress, action, assetAddress, amount }
    const prepared = await prepareSvm(context.deps.solana, svmFamilyOf(vault), wish)
    context.readAt(SOLANA.id, prepared.slot)
    return bundleWire(vault, prepared, query.simulate === true)
  },
})
