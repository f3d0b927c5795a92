import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Address,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseSignature,
  recoverAddress,
  serializeSignature,
  size,
} from 'viem'
import { log } from '../../db/process/log.ts'
import { steadyNow } from '../../db/process/steady.ts'
import { CallRejectedError } from '../chain/errors.ts'
import type { ChainReader } from '../chain/reader.ts'
import { NotFoundError, RefusedError } from '../http/errors.ts'
import { ConflictError, ProviderFault, toldOf } from './errors.ts'
import type { IntentProvider } from './provider.ts'
import { type KeptQuote, MOST_CANDIDATES, type QuoteBook } from './quote-book.ts'

export interface ExecuteRequest {
  keyId: number
  provider: IntentProvider
  signature: Hex
  /** Identifier of the quote. Absent: the one that the signature is of. */
  quoteId?: string | undefined
}

const erc1271Abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])
const ERC1271_MAGIC = '0x1626ba7e'

/** Milliseconds for which a caller waits for somebody else who executes the same quote. */
const PATIENCE_MS = 12_000

/**
 * Executes quotes, each once: the provider is called by who has taken the quote, and a call of which nothing was heard is asked
 * about before there is another. Those in the meantime wait for the same answer.
 */
export function createExecutor(book: QuoteBook, reader: ChainReader, options: { patienceMs?: number } = {}) {
  const { patienceMs = PATIENCE_MS } = options
  /** Of this process. */
  const running = new Map<string, Promise<string>>()

  return async function execute(request: ExecuteRequest): Promise<string> {
    const { keyId, provider } = request
    const signature = plain(request.signature)
    const quote = await quoteOf(book, { ...request, signature })
    if (!(await isSignedBy(reader, quote, signature)))
      throw new RefusedError('The signature is not that of the quote’s user over its payloadToSign.')
    if (quote.state === 'executed' && quote.executedAs) return quote.executedAs
    if (quote.state === 'quoted' && quote.isExpired) throw expired()
    const known = running.get(quote.id)
    if (known) return known
    const run = executeOnce(book, provider, keyId, quote.id, signature, patienceMs).finally(() =>
      running.delete(quote.id),
    )
    running.set(quote.id, run)
    return run
  }
}

export type Executor = ReturnType<typeof createExecutor>

const expired = () => new RefusedError('The quote has expired: ask for another.')

async function quoteOf(
  book: QuoteBook,
  { keyId, provider, signature, quoteId }: ExecuteRequest,
): Promise<KeptQuote> {
  const id = quoteId ?? (await signedQuote(book, keyId, provider.name, signature))
  const quote = await book.find(keyId, id)
  if (quote?.provider !== provider.name)
    throw new NotFoundError(
      `There is no quote ${id} of ${provider.name} that this key was given, or it is long over.`,
    )
  return quote
}

/** The one quote of the key whose user the signature recovers to. */
async function signedQuote(book: QuoteBook, keyId: number, provider: string, signature: Hex) {
  const candidates = await book.candidates(keyId, provider)
  if (candidates.length > MOST_CANDIDATES)
    throw new RefusedError('There are too many quotes of this key to look through: name it in originalQuote.')
  const fitting: string[] = []
  for (const { id, digest, user } of candidates) {
    if ((await signerOf(digest as Hex, signature)) === user) fitting.push(id)
  }
  const [only, ...more] = fitting
  if (only === undefined)
    throw new RefusedError(
      'The signature is of no quote of this key that can be executed. That of a contract needs originalQuote.',
    )
  if (more.length > 0)
    throw new RefusedError('The signature is of several quotes: name one in originalQuote.')
  return only
}

/** A wallet's 65 bytes, as contracts take them: the last byte 27 or 28. */
function plain(signature: Hex): Hex {
  if (size(signature) !== 65) return signature
  try {
    return serializeSignature(parseSignature(signature))
  } catch {
    return signature
  }
}

async function signerOf(digest: Hex, signature: Hex): Promise<string | undefined> {
  if (size(signature) !== 65 && size(signature) !== 64) return undefined
  try {
    return (await recoverAddress({ hash: digest, signature })).toLowerCase()
  } catch {
    return undefined
  }
}

async function isSignedBy(reader: ChainReader, quote: KeptQuote, signature: Hex): Promise<boolean> {
  const digest = quote.digest as Hex
  if ((await signerOf(digest, signature)) === quote.user) return true
  const data = encodeFunctionData({
    abi: erc1271Abi,
    functionName: 'isValidSignature',
    args: [digest, signature],
  })
  try {
    const answer = await reader.rpc.request(quote.network, 'eth_call', [
      { to: quote.user as Address, data },
      'latest',
    ])
    return typeof answer === 'string' && answer.length >= 66 && answer.startsWith(ERC1271_MAGIC)
  } catch (error) {
    if (error instanceof CallRejectedError) return false
    throw error
  }
}

async function executeOnce(
  book: QuoteBook,
  provider: IntentProvider,
  keyId: number,
  id: string,
  signature: Hex,
  patienceMs: number,
): Promise<string> {
  const until = steadyNow() + patienceMs
  for (;;) {
    const taken = await book.take(id)
    if (taken) return executeTaken(book, provider, taken, signature)
    const quote = await book.find(keyId, id)
    if (quote?.executedAs) return quote.executedAs
    // Another caller gave it back without executing it, or there is no such quote.
    if (quote?.state !== 'executing') {
      if (!quote || quote.isExpired) throw expired()
      throw new ConflictError('The quote was being executed, and was not: try again.')
    }
    if (steadyNow() > until)
      throw new ConflictError('The quote is being executed: ask again for its identifier.')
    await sleep(200)
  }
}

async function executeTaken(
  book: QuoteBook,
  provider: IntentProvider,
  quote: KeptQuote,
  signature: Hex,
): Promise<string> {
  const { id } = quote
  if (quote.state === 'executing') {
    const known = await whatBecameOf(book, provider, quote)
    if (known) return known
    // It has not been given, and is not worth giving any more.
    if (quote.isExpired) {
      await book.giveBack(id)
      throw expired()
    }
  }
  let executedAs: string
  try {
    executedAs = await provider.execute(quote, signature)
  } catch (error) {
    const isOpen = !(error instanceof ProviderFault) || error.mayHaveActed
    log.warn({ provider: provider.name, quote: id, err: error, isOpen }, 'a quote was not executed')
    if (!isOpen) {
      await book.giveBack(id)
      throw toldOf(error)
    }
    await book.leaveOpen(id)
    throw new ConflictError(
      `${provider.name} gave no answer${error instanceof ProviderFault ? ` (${error.fault})` : ''}, and may have executed the quote all the same: execute it again, and it is asked first.`,
    )
  }
  await book.settle(id, executedAs)
  return executedAs
}

async function whatBecameOf(book: QuoteBook, provider: IntentProvider, quote: KeptQuote) {
  try {
    const known = await provider.find(quote)
    if (known) await book.settle(quote.id, known)
    return known
  } catch (error) {
    log.warn({ provider: provider.name, quote: quote.id, err: error }, 'what became of a quote is not known')
    await book.leaveOpen(quote.id)
    throw new ConflictError(
      `The quote may have been executed, and ${provider.name} cannot be asked now whether it was: try again later.`,
    )
  }
}
