import { choice } from '../../http/parameters.ts'
import { Address, Amount, NetworkShape } from '../../http/shapes.ts'
import { z } from '../../http/zod.ts'

const Bytes = z.string().regex(/^0x[0-9a-f]*$/)

export const TransitShape = z
  .strictObject({
    burnToken: Address,
    amountNative: Amount.openapi({ description: 'Base units that were burnt, with the fee.' }),
    mintRecipient: z.string().openapi({
      description: 'For whom it is: an address, or the 32 bytes in hex on a chain that is no EVM chain.',
    }),
    destinationDomain: z.int().openapi({ description: "The bridge's number of the destination." }),
    status: z.enum(['pending', 'ready']).openapi({
      description: 'ready: it is attested, and can be claimed (or has been). A transfer never times out.',
    }),
    depositor: Address.optional(),
    message: Bytes.optional().openapi({ description: 'What claim wants, once it is ready.' }),
    attestation: Bytes.optional(),
    burnTxHash: z.string(),
  })
  .openapi('Transit')

export const transferType = choice(['standard', 'fast'])

const BridgeStep = z.enum(['bridge', 'claim'])

export const BridgeContextShape = z
  .strictObject({
    srcNetwork: NetworkShape,
    dstNetwork: NetworkShape,
    asset: z.strictObject({
      address: Address,
      symbol: z.string(),
      decimals: z.int(),
      name: z.string(),
      balanceNative: Amount,
      allowance: Amount.openapi({ description: 'What the bridge may take of it now, base units.' }),
    }),
    fees: z.strictObject({
      standardTransferFeeBps: z.number().optional(),
      fastTransferFeeBps: z.number().optional().openapi({
        description:
          'Hundredths of a percent, may have a fraction. Absent where fast transfers are not offered.',
      }),
      forwardingFeeNative: Amount.openapi({
        description: 'Base units, kept of the amount besides. "0" where forwarding is not offered.',
      }),
    }),
    currentBridgeStep: BridgeStep,
    bridgeSteps: z.array(
      z.strictObject({ name: BridgeStep, actions: z.array(z.string()), actionsUrl: z.string() }),
    ),
    moneyInTransit: z.array(TransitShape),
  })
  .openapi('BridgeContext')
