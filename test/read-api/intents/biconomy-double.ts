import { SimpleMerkleTree } from '@openzeppelin/merkle-tree'
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hashDomain,
  keccak256,
  parseAbi,
  recoverTypedDataAddress,
  toFunctionSelector,
} from 'viem'
import { entryPoint07Address, getUserOperationHash } from 'viem/account-abstraction'
import { z } from 'zod'
import { type Answer, type Call, startLoopback } from './loopback.ts'

/**
 * Biconomy's supertransaction API and its explorer on loopback. Requests are held to its description, version 0.4.0, with the flows
 * that are asked for; user operations are encoded and hashed as @biconomy/abstractjs and its contracts do.
 */
const chainId = z.number()
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
const amount = z.string().regex(/^\d+$/)
const runtime = z.strictObject({
  type: z.literal('runtimeErc20Balance'),
  targetAddress: address.optional(),
  tokenAddress: address,
  constraints: z
    .strictObject({ gte: amount.optional(), lte: amount.optional(), eq: amount.optional() })
    .optional(),
})
const flow = z.union([
  z.strictObject({
    type: z.literal('/instructions/build'),
    data: z.strictObject({
      to: address,
      chainId,
      value: z.string().optional(),
      gasLimit: z.string().optional(),
      functionSignature: z.string(),
      args: z.array(z.union([runtime, z.string(), z.number()])),
    }),
    batch: z.boolean().optional(),
  }),
  z.strictObject({
    type: z.literal('/instructions/build-raw'),
    data: z.strictObject({ to: address, chainId, value: z.string().optional(), data: z.string() }),
  }),
  z.strictObject({
    type: z.literal('/instructions/intent-simple'),
    data: z.strictObject({
      srcToken: address,
      dstToken: address,
      srcChainId: chainId,
      dstChainId: chainId,
      amount,
      slippage: z.number().min(0).max(1),
    }),
  }),
])
const quoteRequest = z.strictObject({
  mode: z.literal('eoa'),
  ownerAddress: address,
  fundingTokens: z.array(z.strictObject({ tokenAddress: address, chainId, amount })).min(1),
  feeToken: z.strictObject({ address, chainId, gasRefundAddress: address.optional() }),
  cleanUps: z.array(
    z.strictObject({ tokenAddress: address, chainId, recipientAddress: address, amount: amount.optional() }),
  ),
  composeFlows: z.array(flow).min(1).max(10),
})
export type QuoteRequest = z.output<typeof quoteRequest>

const abiOf10 = parseAbi([
  'struct Constraint { uint8 constraintType; bytes referenceData; }',
  'struct InputParam { uint8 fetcherType; bytes paramData; Constraint[] constraints; }',
  'struct OutputParam { uint8 fetcherType; bytes paramData; }',
  'struct ComposableExecution { address to; uint256 value; bytes4 functionSig; InputParam[] inputParams; OutputParam[] outputParams; }',
  'function executeComposable(ComposableExecution[] executions)',
])
const abiOf11 = parseAbi([
  'struct Constraint { uint8 constraintType; bytes referenceData; }',
  'struct InputParam { uint8 paramType; uint8 fetcherType; bytes paramData; Constraint[] constraints; }',
  'struct OutputParam { uint8 fetcherType; bytes paramData; }',
  'struct ComposableExecution { bytes4 functionSig; InputParam[] inputParams; OutputParam[] outputParams; }',
  'function executeComposable(ComposableExecution[] executions)',
])
const balanceAbi = parseAbi(['function balanceOf(address) view returns (uint256)'])
const word = (value: string): Hex => `0x${BigInt(value).toString(16).padStart(64, '0')}`

interface Composed {
  to: Address
  selector: Hex
  params: { raw?: Hex; balance?: { token: Address; least: bigint } }[]
}

/** `1.0`: who is called stands beside the parameters, balances are static calls; `1.1`: it is one of them, balances have a kind of their own. */
function encodeComposed(calls: readonly Composed[], account: Address, version: '1.0' | '1.1'): Hex {
  const constraints = (least: bigint) => [{ constraintType: 1, referenceData: word(String(least)) }]
  if (version === '1.0') {
    const executions = calls.map(({ to, selector, params }) => ({
      to,
      value: 0n,
      functionSig: selector,
      inputParams: params.map(({ raw, balance }) =>
        balance
          ? {
              fetcherType: 1,
              paramData: encodeAbiParameters(
                [{ type: 'address' }, { type: 'bytes' }],
                [
                  balance.token,
                  encodeFunctionData({ abi: balanceAbi, functionName: 'balanceOf', args: [account] }),
                ],
              ),
              constraints: constraints(balance.least),
            }
          : { fetcherType: 0, paramData: raw ?? '0x', constraints: [] },
      ),
      outputParams: [],
    }))
    return encodeFunctionData({ abi: abiOf10, functionName: 'executeComposable', args: [executions] })
  }
  const executions = calls.map(({ to, selector, params }) => ({
    functionSig: selector,
    inputParams: [
      ...params.map(({ raw, balance }) =>
        balance
          ? {
              paramType: 2,
              fetcherType: 2,
              paramData: `${balance.token}${account.slice(2)}`.toLowerCase() as Hex,
              constraints: constraints(balance.least),
            }
          : { paramType: 2, fetcherType: 0, paramData: raw ?? ('0x' as Hex), constraints: [] },
      ),
      { paramType: 0, fetcherType: 0, paramData: word(to), constraints: [] },
    ],
    outputParams: [],
  }))
  return encodeFunctionData({ abi: abiOf11, functionName: 'executeComposable', args: [executions] })
}

const composedOf = (request: QuoteRequest, chain: number): Composed[] =>
  request.composeFlows.flatMap(({ type, data }): Composed[] => {
    if (type !== '/instructions/build' || data.chainId !== chain) return []
    return [
      {
        to: data.to as Address,
        selector: toFunctionSelector(data.functionSignature),
        params: data.args.map(arg =>
          typeof arg === 'object'
            ? { balance: { token: arg.tokenAddress as Address, least: BigInt(arg.constraints?.gte ?? '0') } }
            : { raw: word(String(arg)) },
        ),
      },
    ]
  })

/** Of the chains, as its nodes read them. */
export interface Ground {
  /** The account that factories make for an owner. */
  account(owner: Address, chainId: number): Address
  /** The domain of a token's permit, and the next nonce. */
  permit(token: Address, owner: Address): Promise<{ name: string; version: string; nonce: bigint }>
  /** Base units of the funding token. */
  fee: bigint
  version: '1.0' | '1.1'
  /** Unix seconds. */
  now(): number
}

function userOpOf(sender: Address, chain: number, callData: Hex, nonce: bigint, now: number) {
  const userOp = {
    sender,
    nonce: String(nonce),
    initCode: '0x' as Hex,
    callData,
    callGasLimit: '300000',
    verificationGasLimit: '200000',
    preVerificationGas: '50000',
    maxFeePerGas: '1000000000',
    maxPriorityFeePerGas: '1000000',
    paymasterAndData: '0x' as Hex,
  }
  const userOpHash = getUserOperationHash({
    chainId: chain,
    entryPointAddress: entryPoint07Address,
    entryPointVersion: '0.7',
    userOperation: {
      sender,
      nonce,
      callData,
      callGasLimit: 300_000n,
      verificationGasLimit: 200_000n,
      preVerificationGas: 50_000n,
      maxFeePerGas: 1_000_000_000n,
      maxPriorityFeePerGas: 1_000_000n,
      signature: '0x',
    },
  })
  const [lower, upper] = [now, now + 180]
  const meeUserOpHash = keccak256(
    keccak256(
      encodeAbiParameters(
        [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint256' }],
        [userOpHash, BigInt(lower), BigInt(upper)],
      ),
    ),
  )
  return {
    userOp,
    userOpHash,
    meeUserOpHash,
    lowerBoundTimestamp: lower,
    upperBoundTimestamp: upper,
    maxGasLimit: '700000',
    maxFeePerGas: '1000000000',
    chainId: chain,
    isCleanUpUserOp: false,
    shortEncoding: false,
  }
}

/** What is signed is the root over the user operations, as the deadline of the permit. */
export function bind<Q extends ReturnType<typeof quoteWithout>>(quote: Q): Q {
  const hash = SimpleMerkleTree.of(
    quote.quote.userOps.map(({ meeUserOpHash }) => meeUserOpHash),
    { sortLeaves: true },
  ).root
  quote.quote.hash = hash as Hex
  const [payload] = quote.payloadToSign
  if (payload) payload.signablePayload.message.deadline = String(BigInt(hash))
  return quote
}

function quoteWithout(
  request: QuoteRequest,
  ground: Ground,
  domain: { name: string; version: string; nonce: bigint },
) {
  const owner = request.ownerAddress as Address
  const [funding] = request.fundingTokens
  const move = request.composeFlows.map(({ data }) => data).find(data => 'srcChainId' in data)
  if (!funding || !move || !('dstChainId' in move)) throw new Error('nothing to move')
  const now = ground.now()
  const [source, target] = [funding.chainId, move.dstChainId]
  const [account, other] = [ground.account(owner, source), ground.account(owner, target)]
  const value = String(BigInt(funding.amount) + ground.fee)
  const token = funding.tokenAddress as Address
  const typed = {
    domain: { name: domain.name, version: domain.version, chainId: source, verifyingContract: token },
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    message: { owner, spender: account, value, nonce: String(domain.nonce), deadline: '0' },
    primaryType: 'Permit',
  }
  const separator = hashDomain({
    domain: { ...typed.domain, chainId: BigInt(source) },
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
        { name: 'chainId', type: 'uint256' },
        { name: 'verifyingContract', type: 'address' },
      ],
    },
  })
  const swap: Composed = { to: other, selector: '0x12345678', params: [{ raw: word('1') }] }
  const last = [swap, ...composedOf(request, target)]
  return {
    ownerAddress: owner,
    fee: { amount: String(ground.fee), token, chainId: source },
    quoteType: 'permit',
    quote: {
      hash: `0x${'00'.repeat(32)}` as Hex,
      node: `0x${'de'.repeat(20)}`,
      commitment: `0x${'c0'.repeat(32)}`,
      paymentInfo: {
        sender: account,
        initCode: '0x',
        nonce: '1',
        token,
        chainId: source,
        eoa: owner,
        shortEncoding: false,
        tokenValue: '0.02',
        tokenWeiAmount: String(ground.fee),
      },
      userOps: [
        userOpOf(account, source, '0x', 1n, now),
        userOpOf(account, source, encodeComposed([swap], account, ground.version), 2n, now),
        userOpOf(other, target, encodeComposed(last, other, ground.version), 3n, now),
        { ...userOpOf(other, target, '0x', 4n, now), isCleanUpUserOp: true },
      ],
    },
    payloadToSign: [
      {
        signablePayload: typed,
        metadata: {
          nonce: String(domain.nonce),
          name: domain.name,
          version: domain.version,
          domainSeparator: separator,
          owner,
          spender: account,
          amount: value,
        },
      },
    ],
    instructions: [],
    returnedData: [],
  }
}

export const quoteOf = (
  request: QuoteRequest,
  ground: Ground,
  domain: { name: string; version: string; nonce: bigint },
) => bind(quoteWithout(request, ground, domain))
export type GivenQuote = ReturnType<typeof quoteOf>

const executeRequest = z.strictObject({
  ownerAddress: address,
  fee: z.unknown(),
  quoteType: z.string(),
  quote: z.looseObject({ hash: z.string() }),
  payloadToSign: z.array(z.looseObject({ signature: z.string().regex(/^0x[0-9a-fA-F]+$/) })).min(1),
})

export async function startBiconomy(ground: Ground) {
  const executed = new Map<string, string>()
  const quoted: { request: QuoteRequest; quote: GivenQuote }[] = []
  let bend: (quote: GivenQuote) => unknown = quote => quote

  const respond = async ({ method, path, headers, body }: Call): Promise<Answer> => {
    if (headers['x-api-key'] !== 'biconomy-key')
      return { status: 401, body: { code: 'UNAUTHORIZED', message: '', errors: [] } }
    if (method === 'POST' && path === '/v1/quote') {
      const request = quoteRequest.parse(body)
      const [funding] = request.fundingTokens
      const domain = await ground.permit(funding?.tokenAddress as Address, request.ownerAddress as Address)
      const quote = bend(quoteOf(request, ground, domain)) as GivenQuote
      quoted.push({ request, quote })
      return { status: 200, body: quote }
    }
    if (method === 'POST' && path === '/v1/execute') {
      const given = executeRequest.parse(body)
      const known = quoted.find(({ quote }) => quote.quote.hash === given.quote.hash)
      if (!known) return { status: 400, body: { code: 'VALIDATION_ERROR', message: '', errors: [] } }
      const signature = given.payloadToSign[0]?.signature
      // All of the answer that may come back does, as it was, and the signature of it.
      const { instructions: _, returnedData: __, ...whole } = known.quote
      const expected = {
        ...whole,
        payloadToSign: known.quote.payloadToSign.map(payload => ({ ...payload, signature })),
      }
      if (JSON.stringify(body) !== JSON.stringify(expected)) throw new Error('the quote came back changed')
      const signer = await recoverTypedDataAddress({
        ...known.quote.payloadToSign[0]?.signablePayload,
        signature,
      } as never)
      const isOwner = signer.toLowerCase() === known.quote.ownerAddress.toLowerCase()
      if (!isOwner || executed.has(given.quote.hash))
        return { status: 200, body: { success: false, supertxHash: null, error: 'no' } }
      executed.set(given.quote.hash, 'PENDING')
      return { status: 200, body: { success: true, supertxHash: given.quote.hash, error: null } }
    }
    const hash = /^\/v1\/explorer\/(0x[0-9a-f]{64})$/.exec(path)?.[1] ?? ''
    const executionStatus = executed.get(hash)
    if (method !== 'GET' || !executionStatus) return { status: 404, body: { code: 'NOT_FOUND', message: '' } }
    const data = (n: number) =>
      executionStatus === 'MINED_SUCCESS' ? `0x${String(n).repeat(64)}` : undefined
    return {
      status: 200,
      body: {
        userOps: [
          { chainId: '1', executionStatus, executionData: data(1) },
          { chainId: '8453', executionStatus, executionData: data(2) },
          { chainId: '8453', executionStatus: 'FAILED', executionData: '', isCleanUpUserOp: true },
        ],
      },
    }
  }

  const loopback = await startLoopback(respond)
  return {
    ...loopback,
    executed,
    quoted,
    executions: () => loopback.calls.filter(({ path }) => path === '/v1/execute').length,
    bend(how: (quote: GivenQuote) => unknown) {
      bend = how
    },
    straighten() {
      bend = quote => quote
    },
  }
}
