import { type Address, parseAbi } from 'viem'
import type { z } from 'zod'
import { log } from '../../../db/process/log.ts'
import type { ChainReader } from '../../chain/reader.ts'
import { view } from '../../chain/view.ts'
import { RefusedError } from '../../http/errors.ts'
import { approvalForm, entryForm, type Form } from '../entry-forms.ts'
import { Mismatch, ProviderFault, UntrustedQuoteError } from '../errors.ts'
import { createOutside } from '../outside.ts'
import type { IntentProvider, IntentStatus, Journey, Kept } from '../provider.ts'
import { type Grounds, readQuote, wordOf } from './check.ts'
import { type Argument, type ComposedCall, selectorOf } from './composable.ts'
import { accountsOf } from './nexus.ts'
import { executedShape, explorerShape, type QUOTE_TYPES, quoteShape } from './wire.ts'

const NAME = 'biconomy'

const permitAbi = parseAbi([
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function nonces(address owner) view returns (uint256)',
])

/** What of a price may be lost on the way; what arrives is held to the least besides. */
const SLIPPAGE = 0.01

/** A step that ends a journey; `amount`: the place of the argument that is all that has arrived. */
interface Step {
  to: Address
  form: Form
  amount: number
}

/** What a quote is held against: the token's permit, the user's accounts, and the calls that end the journey. */
async function groundsOf(
  reader: ChainReader,
  { user, from, to }: Journey,
  steps: readonly Step[],
  least: bigint,
) {
  const [{ values }, ofSource, ofDestination] = await Promise.all([
    reader.read(
      from.network,
      {
        separator: view(permitAbi, from.token.address, 'DOMAIN_SEPARATOR', []),
        nonce: view(permitAbi, from.token.address, 'nonces', [user]),
      },
      { age: 'fresh' },
    ),
    accountsOf(reader, from.network, user),
    accountsOf(reader, to.network, user),
  ])
  const { separator, nonce } = values
  if (separator === undefined || nonce === undefined)
    throw new RefusedError(
      `${from.token.symbol} has no permit (ERC-2612), by which ${NAME} is allowed to move it.`,
    )
  if (ofSource.length === 0 || ofDestination.length === 0)
    throw new RefusedError(
      `${NAME} makes no accounts on ${ofSource.length === 0 ? from.network : to.network}.`,
    )
  return {
    separator,
    nonce,
    accounts: { from: ofSource, to: ofDestination },
    lastCalls: (account: Address) => steps.map(step => composed(step, to.token.address, account, least)),
  }
}

/** Biconomy's supertransactions: a wallet permits its own smart account, which moves the position by signed user operations. */
export function biconomy(options: {
  baseUrl: string
  explorerUrl: string
  key: string
  reader: ChainReader
  timeoutMs?: number | undefined
  now?: () => number
}): IntentProvider {
  const { baseUrl, explorerUrl, key, reader, timeoutMs, now = Date.now } = options
  const common = {
    name: NAME,
    headers: { 'x-api-key': key },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  }
  const { ask } = createOutside({ ...common, baseUrl })
  const explorer = createOutside({ ...common, baseUrl: explorerUrl })

  const explore = (hash: string, signal?: AbortSignal) =>
    explorer.find({ path: `/v1/explorer/${hash}`, answer: explorerShape, signal })

  const quoteFor = (account: Address, journey: Journey, steps: readonly Step[], signal: AbortSignal) =>
    ask({
      path: '/v1/quote',
      body: requestOf(journey, steps, account),
      answer: quoteShape,
      signal,
    })

  return {
    name: NAME,
    ids: /^0x[0-9a-fA-F]{64}$/,

    async quote(journey, signal) {
      const steps = await stepsOf(journey)
      const grounds = await groundsOf(reader, journey, steps, journey.least)
      const ofUser = grounds.accounts.from
      let account = ofUser[0] as Address
      let answered = await quoteFor(account, journey, steps, signal)
      const { sender } = answered.value.quote.paymentInfo
      // The way out of a vault names the account that goes it: where it works with another one of the user's, it is told that one.
      if (journey.from.exit && sender !== account && ofUser.includes(sender)) {
        account = sender
        answered = await quoteFor(account, journey, steps, signal)
      }
      refuseType(answered.value.quoteType, journey)
      try {
        const terms: Grounds = {
          ...grounds,
          accounts: { ...grounds.accounts, from: journey.from.exit ? [account] : ofUser },
          now: Math.floor(now() / 1000),
        }
        return { ...readQuote(answered.value, journey, terms), answer: answered.raw }
      } catch (error) {
        if (!(error instanceof Mismatch)) throw error
        log.warn({ provider: NAME, why: error.message }, 'a quote was refused')
        throw new UntrustedQuoteError(NAME, error.message)
      }
    },

    async execute({ answer, reference }, signature) {
      // Its description takes all of the answer but what it told of the way.
      const { instructions, returnedData, ...quote } = answer as {
        payloadToSign: Record<string, unknown>[]
        instructions?: unknown
        returnedData?: unknown
      }
      const { value } = await ask({
        path: '/v1/execute',
        body: { ...quote, payloadToSign: quote.payloadToSign.map(payload => ({ ...payload, signature })) },
        answer: executedShape,
      })
      // Its reason is a text of its own.
      if (!value.success) throw new ProviderFault(NAME, 'fault', 'NOT_EXECUTED', { mayHaveActed: true })
      return value.supertxHash ?? reference
    },

    async find({ reference }: Kept) {
      return (await explore(reference)) && reference
    },

    async status(id, signal) {
      const known = await explore(id, signal)
      return known && statusOf(known.value)
    },
  }
}

function refuseType(type: (typeof QUOTE_TYPES)[number], { from }: Journey): void {
  if (type === 'onchain')
    throw new RefusedError(
      `${from.token.symbol} has no permit that ${NAME} takes: it would have to be moved by a transaction.`,
    )
}

/** What is done on the destination with all that has arrived: sent to the user, or deposited for the user. */
async function stepsOf({ user, to, least }: Journey): Promise<Step[]> {
  if (!to.entry) {
    const signature = 'function transfer(address to, uint256 amount)'
    return [{ to: to.token.address, form: { signature, args: [user, least] }, amount: 1 }]
  }
  const [approve, deposit] = await to.entry.calls(least)
  const allowed = approvalForm(approve.data)
  const entered = entryForm(deposit.data, user)
  if (!allowed || !entered)
    throw new RefusedError(
      'The vault credits who calls it, and not whom a deposit is for: no intent can enter it.',
    )
  return [
    { to: approve.to, ...allowed },
    { to: deposit.to, ...entered },
  ]
}

function composed({ to, form, amount }: Step, token: Address, holder: Address, least: bigint): ComposedCall {
  return {
    to,
    selector: selectorOf(form.signature),
    args: form.args.map((arg, n): Argument => (n === amount ? { token, holder, least } : wordOf(arg))),
  }
}

function requestOf({ user, from, to, least }: Journey, steps: readonly Step[], account: Address) {
  const { exit } = from
  const moved = exit ? exit.asset : from.token
  const arrived = {
    type: 'runtimeErc20Balance',
    tokenAddress: to.token.address,
    constraints: { gte: String(least) },
  }
  const cleanUp = (tokenAddress: Address, chainId: number) => ({
    tokenAddress,
    chainId,
    recipientAddress: user,
  })
  return {
    mode: 'eoa',
    ownerAddress: user,
    fundingTokens: [{ tokenAddress: from.token.address, chainId: from.chainId, amount: String(from.amount) }],
    // Without it the owner of our key would pay.
    feeToken: { address: from.token.address, chainId: from.chainId, gasRefundAddress: user },
    composeFlows: [
      ...(exit
        ? [
            {
              type: '/instructions/build-raw',
              data: { to: exit.vault, chainId: from.chainId, data: exit.call(account).data },
            },
          ]
        : []),
      {
        type: '/instructions/intent-simple',
        data: {
          srcChainId: from.chainId,
          dstChainId: to.chainId,
          srcToken: moved.address,
          dstToken: to.token.address,
          amount: String(exit ? exit.assets : from.amount),
          slippage: SLIPPAGE,
        },
      },
      ...steps.map(step => ({
        type: '/instructions/build',
        data: {
          to: step.to,
          chainId: to.chainId,
          functionSignature: step.form.signature,
          args: step.form.args.map((arg, n) =>
            n === step.amount ? arrived : typeof arg === 'bigint' ? String(arg) : arg,
          ),
        },
      })),
    ],
    // What is left over, or left behind by a step that failed, is the user's.
    cleanUps: [
      cleanUp(from.token.address, from.chainId),
      ...(exit ? [cleanUp(exit.asset.address, from.chainId)] : []),
      cleanUp(to.token.address, to.chainId),
    ],
  }
}

const DONE = ['SUCCESS', 'MINED_SUCCESS']
const FAILED = ['FAILED', 'MINED_FAIL']

function statusOf({ userOps }: z.output<typeof explorerShape>): IntentStatus {
  const ops = userOps.filter(({ isCleanUpUserOp }) => !isCleanUpUserOp)
  const isHash = (text: string | null | undefined) => /^0x[0-9a-fA-F]{64}$/.test(text ?? '')
  const source = ops[0]?.chainId
  const first = ops.find(({ chainId, executionData }) => chainId === source && isHash(executionData))
  const last = ops.findLast(({ chainId, executionData }) => chainId !== source && isHash(executionData))
  return {
    status: ops.some(({ executionStatus }) => FAILED.includes(executionStatus))
      ? 'failed'
      : ops.length > 0 && ops.every(({ executionStatus }) => DONE.includes(executionStatus))
        ? 'success'
        : 'pending',
    ...(first?.executionData ? { sourceTransactionHash: first.executionData } : {}),
    ...(last?.executionData ? { destinationTransactionHash: last.executionData } : {}),
  }
}
