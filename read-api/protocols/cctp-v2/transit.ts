import type { Hex } from 'viem'
import { messageTransmitterAbi } from '../../../abi/cctp-v2/calls.ts'
import { type Domain, domainByNumber, MESSAGE_TRANSMITTER } from '../../../abi/cctp-v2/domains.ts'
import { emittedHash, parseMessage, type TransferMessage } from '../../../abi/cctp-v2/message.ts'
import { groupBy } from '../../../db/group-by.ts'
import { within } from '../../../db/process/within.ts'
import { multicall3Abi, multicall3Address } from '../../chain/multicall.ts'
import type { ChainReader } from '../../chain/reader.ts'
import { view } from '../../chain/view.ts'
import { checksum } from '../../http/amounts.ts'
import type { Attested, Iris } from './iris.ts'

/** A burn, wherever it was found. */
export interface Burn {
  source: Domain
  destinationDomain: number
  transaction: Hex
  logIndex: number
  token: Hex
  depositor: Hex
  recipient: Hex
  amount: bigint
  messageHash: Hex
  /** Burns with the same one are interchangeable. */
  group: string
  /** Of the group: receipts seen, and their nonces. */
  received: number
  nonces: readonly Hex[]
  /** Its place in the group: 1 is the oldest. */
  place: number
}

/** A burn and what is known of its message. */
export interface Transfer {
  burn: Burn
  /** Undefined as long as it is not attested, or nobody can be asked. */
  attested?: Attested & { parsed: TransferMessage }
  /** By its own nonce; undefined where that is not known. */
  isReceived?: boolean
  /** Its message is not taken any more until it has been attested again. */
  isExpired?: boolean
}

/** Transactions of one request that the service is asked for. */
const MOST_ASKED = 100

export interface TransitOptions {
  reader: ChainReader
  iris: Iris
  /** Milliseconds that an answer waits for what the service and the destinations say. */
  patienceMs: number
}

/**
 * Adds to burns what the service says of their messages, and whether each was received by its own nonce. What is not known in
 * time stays unknown: no fault of the service fails anything.
 */
export async function resolveTransfers(burns: readonly Burn[], options: TransitOptions): Promise<Transfer[]> {
  const byTransaction = groupBy(burns, ({ source, transaction }) => `${source.domain} ${transaction}`)
  const asked = [...byTransaction.values()].slice(0, MOST_ASKED)
  const found = new Map<Burn, Transfer>()
  const resolve = async (some: readonly Burn[]) => {
    const [first] = some
    const all = first && (await options.iris.messages(first.source.domain, first.transaction))
    if (!all) return
    const transfers = pair(some, all)
    for (const transfer of transfers) found.set(transfer.burn, transfer)
    await Promise.all(transfers.map(transfer => look(transfer, options)))
  }
  // What is under way goes on, and what it finds is kept for the next.
  await within(
    { ms: options.patienceMs },
    async () => void (await Promise.all(asked.map(resolve))),
    () => {},
  )
  return burns.map(burn => found.get(burn) ?? { burn })
}

/** Each burn with the message that is the emitted one in all that the service does not fill in; what is another is left out. */
function pair(burns: readonly Burn[], messages: readonly (Attested | undefined)[]): Transfer[] {
  const left = messages.flatMap(of => {
    const parsed = of && parseMessage(of.message)
    return parsed ? [{ ...of, parsed, hash: emittedHash(parsed) }] : []
  })
  return [...burns]
    .sort((a, b) => a.logIndex - b.logIndex)
    .map(burn => {
      const place = left.findIndex(({ hash }) => hash === burn.messageHash)
      const [attested] = place < 0 ? [] : left.splice(place, 1)
      return attested ? { burn, attested } : { burn }
    })
}

/** Asks the destination whether it has taken the message, and whether it still would. */
async function look(transfer: Transfer, { reader, iris }: TransitOptions): Promise<void> {
  const { burn, attested } = transfer
  if (!attested) return
  const { nonce, body } = attested.parsed
  transfer.isReceived = burn.nonces.includes(nonce)
  if (transfer.isReceived) return
  const destination = domainByNumber(burn.destinationDomain)
  if (!destination || !reader.rpc.serves(destination.network)) return
  const { values } = await reader
    .read(
      destination.network,
      {
        used: view(messageTransmitterAbi, MESSAGE_TRANSMITTER, 'usedNonces', [nonce]),
        // As contracts see it: of chains that have another one beneath, that one's.
        block: view(multicall3Abi, multicall3Address, 'getBlockNumber', []),
      },
      { age: 'cached' },
    )
    .catch(() => ({ values: { used: undefined, block: undefined } }))
  if (values.used === undefined) return
  transfer.isReceived = values.used !== 0n
  transfer.isExpired =
    !transfer.isReceived &&
    body.expirationBlock !== 0n &&
    values.block !== undefined &&
    values.block >= body.expirationBlock
  if (transfer.isExpired) await iris.reattest(burn.source.domain, burn.transaction, nonce)
}

/**
 * The transfers that are still under way: as many as there are burns without a receipt, those that were received left out by
 * their nonces, and where these are not known the oldest.
 */
export function underWay(transfers: readonly Transfer[]): Transfer[] {
  const groups = groupBy(transfers, ({ burn }) => burn.group)
  const gone = new Set<Transfer>()
  for (const group of groups.values()) {
    const received = group.filter(({ isReceived }) => isReceived)
    for (const transfer of received) gone.add(transfer)
    const nonces = new Set(group[0]?.burn.nonces)
    const seen = received.filter(({ attested }) => attested && nonces.has(attested.parsed.nonce)).length
    // Receipts whose burn is not known: the oldest that may be it.
    const unknown = group
      .filter(({ isReceived }) => isReceived === undefined)
      .sort((a, b) => a.burn.place - b.burn.place)
    // The oldest of very many are not in the list: they count as received before those that are.
    const older = Math.min(...group.map(({ burn }) => burn.place)) - 1
    const more = Math.max(0, (group[0]?.burn.received ?? 0) - seen - older)
    for (const transfer of unknown.slice(0, more)) gone.add(transfer)
  }
  return transfers.filter(transfer => !gone.has(transfer))
}

/** The Transit of the wire. */
export function transitOf({ burn, attested, isExpired, isReceived }: Transfer) {
  const isReady = attested !== undefined && !isExpired
  return {
    burnToken: checksum(burn.token),
    amountNative: String(burn.amount),
    mintRecipient: isEvm(burn.recipient) ? checksum(burn.recipient) : burn.recipient,
    destinationDomain: burn.destinationDomain,
    status: isReady || isReceived ? ('ready' as const) : ('pending' as const),
    depositor: checksum(burn.depositor),
    ...(isReady ? { message: attested.message, attestation: attested.attestation } : {}),
    burnTxHash: burn.transaction,
  }
}

const isEvm = (account: string) => account.length === 42
