import type { Address } from 'viem'
import { checksum } from '../../../../http/amounts.ts'
import { defineEndpoint } from '../../../../http/endpoint.ts'
import { RefusedError } from '../../../../http/errors.ts'
import { address, network, userAddress } from '../../../../http/parameters.ts'
import { z } from '../../../../http/zod.ts'
import { assertUsdc, readSource, routeOf } from '../../../../protocols/cctp-v2/route.ts'
import { BridgeContextShape } from '../../../../protocols/cctp-v2/schemas.ts'
import { transitOf } from '../../../../protocols/cctp-v2/transit.ts'

export default defineEndpoint({
  tier: 'alpha',
  method: 'get',
  path: '/transactions/cctp/context/{userAddress}/{srcNetwork}/{dstNetwork}/{assetAddress}',
  summary: 'How a wallet stands with bridging USDC from one chain to another',
  description:
    'Balance and allowance at the newest block of the source, fees of the way, the steps and which of them comes next, and what is between the two now. claim wants message and attestation added, which moneyInTransit has once a transfer is ready. 503 where the service that tells the fees is not configured or does not answer.',
  params: z.object({
    userAddress: userAddress(),
    srcNetwork: network(),
    dstNetwork: network(),
    assetAddress: address('USDC on the source.'),
  }),
  response: BridgeContextShape,
  example: {
    params: {
      userAddress: '{user}',
      srcNetwork: '{network}',
      dstNetwork: '{bridgeTo}',
      assetAddress: '{usdc}',
    },
  },
  cost: 5,
  cache: 'none',
  face: 'bridge',
  async handler({ params }, context) {
    const { srcNetwork, dstNetwork } = params
    const { reader, bridge } = context.deps.onChain
    const route = routeOf(srcNetwork, dstNetwork)
    assertUsdc(route, params.assetAddress)
    const { source, destination } = route
    const [fees, standing, transfers] = await Promise.all([
      bridge.iris.fees(source.domain, destination.domain, destination.takesForwarding),
      readSource(reader, route, params.userAddress as Address),
      bridge.moneyInTransit(params.userAddress, context),
    ])
    const { balance, allowance, symbol, name, decimals } = standing
    if (balance === undefined || decimals === undefined)
      throw new RefusedError(`USDC does not answer on ${source.network}.`)
    const inTransit = transfers
      .filter(({ burn }) => burn.source === source && burn.destinationDomain === destination.domain)
      .map(transitOf)
    const path = [checksum(params.userAddress), source.network, destination.network].join('/')
    const url = (action: string) => `/alpha/transactions/cctp/transactions/${action}/${path}`
    context.readAt(source.chainId, standing.block.number)
    return {
      srcNetwork,
      dstNetwork,
      asset: {
        address: checksum(source.usdc),
        symbol: symbol ?? 'USDC',
        name: name ?? 'USDC',
        decimals,
        balanceNative: String(balance),
        allowance: String(allowance ?? 0n),
      },
      fees: {
        ...(fees.standard ? { standardTransferFeeBps: Number(fees.standard.bps.text) } : {}),
        ...(fees.fast ? { fastTransferFeeBps: Number(fees.fast.bps.text) } : {}),
        forwardingFeeNative: String((fees.standard ?? fees.fast)?.forwarding ?? 0n),
      },
      currentBridgeStep: inTransit.some(({ status }) => status === 'ready')
        ? ('claim' as const)
        : ('bridge' as const),
      bridgeSteps: [
        {
          name: 'bridge' as const,
          actions: ['approve', 'bridge'],
          actionsUrl: `${url('bridge')}?assetAddress=${checksum(source.usdc)}`,
        },
        { name: 'claim' as const, actions: ['claim'], actionsUrl: url('claim') },
      ],
      moneyInTransit: inTransit,
    }
  },
})
