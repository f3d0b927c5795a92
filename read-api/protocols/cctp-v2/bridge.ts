import { decodeEventLog, type Hex, parseAbi } from 'viem'
import { z } from 'zod'
import {
  type Domain,
  domainOfChain,
  domains,
  MESSAGE_TRANSMITTER,
  TOKEN_MESSENGER,
} from '../../../abi/cctp-v2/domains.ts'
import {
  accountOf,
  asWord,
  emittedHash,
  parseMessage,
  type TransferMessage,
  transferKey,
} from '../../../abi/cctp-v2/message.ts'
import type { AnswerReading } from '../../catalogue/reading.ts'
import type { ChainReader } from '../../chain/reader.ts'
import { NotFoundError, RefusedError } from '../../http/errors.ts'
import { ask } from '../../moment/query.ts'
import type { createDryRunner } from '../../transactions/dry-run.ts'
import { createBridgeBundles } from './bundles.ts'
import { createIris } from './iris.ts'
import { burnsOfTransactionQuery, inTransitQuery, type SentRow } from './queries.ts'
import { type Burn, resolveTransfers, type Transfer, underWay } from './transit.ts'

/** Transfers of one wallet in an answer, at most: the newest. */
export const MOST_TRANSFERS = 500
const FACE = 'bridge'

export interface BridgeOptions {
  reader: ChainReader
  dryRun: ReturnType<typeof createDryRunner>
  /** Address of the service that attests; without it what is pending stays pending. */
  url?: string | undefined
  patienceMs: number
}

/** What the API knows of the bridge: the chains by the read models, and what attests by its service. */
export function createBridge({ reader, dryRun, url, patienceMs }: BridgeOptions) {
  const iris = createIris({ baseUrl: url })
  const parts = { reader, iris, patienceMs }

  return {
    iris,
    bundles: createBridgeBundles({ reader, dryRun, iris }),

    /** Burns of a wallet or for it that have not been received. */
    async moneyInTransit(wallet: string, context: AnswerReading): Promise<Transfer[]> {
      const asOf = positionsOf(context)
      context.touch(...asOf.keys())
      if (asOf.size === 0) return []
      const rows = await ask(
        context.deps.clickhouse,
        inTransitQuery,
        { wallet, as_of: asOf, limit: MOST_TRANSFERS },
        context.signal,
      )
      return underWay(await resolveTransfers(rows.flatMap(burnOf), parts))
    },

    /**
     * The first burn of a transaction.
     * @throws NotFoundError, RefusedError where the transaction failed
     */
    async status(transaction: Hex, source: Domain, context: AnswerReading): Promise<Transfer> {
      const burns =
        (await storedBurns(transaction, source, context)) ??
        (await burnsOfReceipt(reader, transaction, source)) ??
        (await burnsOfMessages(transaction, source))
      const [first] = burns ?? []
      if (!first)
        throw new NotFoundError(`No burn of the bridge is known in ${transaction} on ${source.network}.`)
      const [found] = await resolveTransfers([first], parts)
      const transfer = found ?? { burn: first }
      // All of its kind have arrived: which is which does not matter then.
      const isReceived = transfer.isReceived || first.place <= first.received
      return isReceived && !transfer.attested ? { ...transfer, isReceived } : transfer
    },
  }

  async function storedBurns(transaction: Hex, source: Domain, context: AnswerReading) {
    const asOf = positionsOf(context)
    const position = asOf.get(source.chainId)
    if (position === undefined) return undefined
    context.touch(source.chainId)
    const rows = await ask(
      context.deps.clickhouse,
      burnsOfTransactionQuery,
      { transaction, chain: source.chainId, p: position, as_of: asOf },
      context.signal,
    )
    return rows.length > 0 ? rows.flatMap(burnOf) : undefined
  }

  async function burnsOfMessages(transaction: Hex, source: Domain): Promise<Burn[]> {
    const messages = (await iris.messages(source.domain, transaction)) ?? []
    return messages.flatMap((of, n) => {
      const parsed = of && parseMessage(of.message)
      return parsed ? burnOfMessage(parsed, source, transaction, n) : []
    })
  }
}

/** Where the chains that the bridge reaches stand. */
function positionsOf({ catalogue }: AnswerReading): Map<number, number> {
  return new Map(
    domains.flatMap(({ chainId }) => {
      const moment = catalogue.chain(chainId, FACE)
      return moment ? [[chainId, moment.position] as const] : []
    }),
  )
}

function burnOf(row: SentRow): Burn[] {
  const source = domainOfChain(row.chain_id)
  if (!source) return []
  return [
    {
      source,
      destinationDomain: row.destination_domain,
      transaction: row.tx_hash,
      logIndex: row.log_index,
      token: row.token,
      depositor: row.depositor,
      recipient: row.recipient,
      amount: row.amount,
      messageHash: row.message_hash,
      group: `${row.source_domain} ${row.destination_domain} ${row.transfer_key}`,
      received: row.received,
      nonces: row.nonces,
      place: row.place,
    },
  ]
}

const MESSENGER = asWord(TOKEN_MESSENGER)

/** A burn that no read model has yet: whether it was received is not known. */
function burnOfMessage(message: TransferMessage, source: Domain, transaction: Hex, logIndex: number): Burn[] {
  if (message.sender !== MESSENGER || message.sourceDomain !== source.domain) return []
  const { body, destinationDomain } = message
  return [
    {
      source,
      destinationDomain,
      transaction,
      logIndex,
      token: accountOf(body.burnToken),
      depositor: accountOf(body.messageSender),
      recipient: accountOf(body.mintRecipient),
      amount: body.amount,
      messageHash: emittedHash(message),
      group: `${source.domain} ${destinationDomain} ${transferKey(body)}`,
      received: 0,
      nonces: [],
      place: 1,
    },
  ]
}

/** @see MessageTransmitterV2.sol */
const messageSent = parseAbi(['event MessageSent(bytes message)'])
const receiptShape = z
  .object({
    status: z.string(),
    logs: z.array(
      z.object({
        address: z.string(),
        data: z.custom<Hex>(),
        topics: z.custom<[Hex, ...Hex[]]>(topics => Array.isArray(topics)),
        logIndex: z.coerce.number(),
      }),
    ),
  })
  .nullable()

/** Undefined where the node cannot be asked, or does not know the transaction. */
async function burnsOfReceipt(
  reader: ChainReader,
  transaction: Hex,
  source: Domain,
): Promise<Burn[] | undefined> {
  if (!reader.rpc.serves(source.network)) return undefined
  const answer = await reader.rpc
    .request(source.network, 'eth_getTransactionReceipt', [transaction])
    .catch(() => null)
  const receipt = receiptShape.safeParse(answer).data
  if (!receipt) return undefined
  if (receipt.status === '0x0')
    throw new RefusedError(`The transaction ${transaction} failed on ${source.network}: it burnt nothing.`)
  return receipt.logs.flatMap(({ address, data, topics, logIndex }) => {
    if (address.toLowerCase() !== MESSAGE_TRANSMITTER) return []
    try {
      const { args } = decodeEventLog({ abi: messageSent, data, topics })
      const parsed = parseMessage(args.message)
      return parsed ? burnOfMessage(parsed, source, transaction, logIndex) : []
    } catch {
      return []
    }
  })
}
