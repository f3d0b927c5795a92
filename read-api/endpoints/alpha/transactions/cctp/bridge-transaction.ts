import type { Address, Hex } from 'viem'
import { defineEndpoint } from '../../../../http/endpoint.ts'
import { address, baseUnits, bytes, choice, flag, network, userAddress } from '../../../../http/parameters.ts'
import { z } from '../../../../http/zod.ts'
import { assertGiven } from '../../../../protocols/cctp-v2/bundles.ts'
import { routeOf } from '../../../../protocols/cctp-v2/route.ts'
import { transferType } from '../../../../protocols/cctp-v2/schemas.ts'
import { attribution, suffixFor } from '../../../../transactions/attribution.ts'
import { BundleShape } from '../../../../transactions/schemas.ts'
import { bundleOf } from '../../../../transactions/wire.ts'

export default defineEndpoint({
  tier: 'alpha',
  method: 'get',
  path: '/transactions/cctp/transactions/{action}/{userAddress}/{srcNetwork}/{dstNetwork}',
  summary: 'Transactions that bridge USDC, or claim it, ready to be signed',
  description:
    'bridge: for the source, needs assetAddress and amount. claim: for the destination, needs message and attestation of a transfer that is ready; the money goes to whom the message names. They have been run on the newest state: what would revert is refused with 422 and the reason. Payloads end in the attribution suffix of the API key, unless attribution is none.',
  params: z.object({
    action: choice(['bridge', 'claim']).openapi({ description: 'What is to be done.' }),
    userAddress: userAddress(),
    srcNetwork: network(),
    dstNetwork: network(),
  }),
  query: z.object({
    assetAddress: address('USDC on the source.').optional(),
    amount: baseUnits('Base units of USDC.').optional(),
    recipientAddress: address(
      'For whom it is on the destination; the wallet itself unless given.',
    ).optional(),
    transferType: transferType.optional().openapi({
      default: 'standard',
      description: 'fast: attested before the block of the source is final, for a fee.',
    }),
    useForwarding: flag('Circle delivers on the destination, for a fee: nothing has to be claimed.'),
    message: bytes('The attested message of a transfer that is ready.').optional(),
    attestation: bytes('Its attestation.').optional(),
    attribution,
    simulate: flag('With what each transaction was seen to do when it was run.'),
  }),
  response: BundleShape,
  example: {
    params: {
      action: 'bridge',
      userAddress: '{user}',
      srcNetwork: '{network}',
      dstNetwork: '{bridgeTo}',
    },
    query: { assetAddress: '{usdc}', amount: '1000000' },
  },
  cost: 5,
  cache: 'none',
  face: 'bridge',
  async handler({ params, query }, context) {
    const { action, srcNetwork, dstNetwork } = params
    const { bundles } = context.deps.onChain.bridge
    const route = routeOf(srcNetwork, dstNetwork)
    const user = params.userAddress as Address
    const { amount, assetAddress, message, attestation, simulate } = query
    const suffix = suffixFor(context.key, query.attribution)
    const isBurn = action === 'bridge'
    assertGiven(
      action,
      query,
      isBurn
        ? { needs: ['assetAddress', 'amount'], refuses: ['message', 'attestation'] }
        : { needs: ['message', 'attestation'], refuses: ['amount', 'recipientAddress', 'transferType'] },
    )
    const bundle = isBurn
      ? await bundles.bridge({
          route,
          user,
          recipient: (query.recipientAddress ?? user) as Address,
          asset: assetAddress ?? '',
          amount: amount ?? 0n,
          isFast: query.transferType === 'fast',
          forwarding: query.useForwarding === true,
          simulate,
          suffix,
        })
      : await bundles.claim({
          route,
          user,
          message: message as Hex,
          attestation: attestation as Hex,
          simulate,
          suffix,
        })
    context.readAt(isBurn ? srcNetwork.chainId : dstNetwork.chainId, bundle.block)
    return bundleOf(bundle)
  },
})
