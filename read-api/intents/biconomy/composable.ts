import {
  type Address,
  type DecodeFunctionDataReturnType,
  decodeAbiParameters,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  parseAbi,
  size,
  slice,
  toFunctionSelector,
} from 'viem'
import { erc20Abi } from '../../transactions/abis.ts'

/** Composable execution 1.0 and 1.1. @see ComposabilityAbi.js of @biconomy/abstractjs 1.2.3 */
export const abiOf10 = parseAbi([
  'struct Constraint { uint8 constraintType; bytes referenceData; }',
  'struct InputParam { uint8 fetcherType; bytes paramData; Constraint[] constraints; }',
  'struct OutputParam { uint8 fetcherType; bytes paramData; }',
  'struct ComposableExecution { address to; uint256 value; bytes4 functionSig; InputParam[] inputParams; OutputParam[] outputParams; }',
  'function executeComposable(ComposableExecution[] executions)',
])
export const abiOf11 = parseAbi([
  'struct Constraint { uint8 constraintType; bytes referenceData; }',
  'struct InputParam { uint8 paramType; uint8 fetcherType; bytes paramData; Constraint[] constraints; }',
  'struct OutputParam { uint8 fetcherType; bytes paramData; }',
  'struct ComposableExecution { bytes4 functionSig; InputParam[] inputParams; OutputParam[] outputParams; }',
  'function executeComposable(ComposableExecution[] executions)',
])

/** An argument: a word, or what an account holds of a token when it is run, at least so much. */
export type Argument = Hex | { token: Address; holder: Address; least: bigint }

/** A call with what is known of its arguments. */
export interface ComposedCall {
  to: Address
  selector: Hex
  args: Argument[]
}

const RAW = 0
const STATIC_CALL = 1
const BALANCE = 2
const GTE = 1
const TARGET = 0
const VALUE = 1

interface Param {
  paramType?: number
  fetcherType: number
  paramData: Hex
  constraints: readonly { constraintType: number; referenceData: Hex }[]
}

/** The calls that an account makes by its own composable execution; undefined where the data is of another form. */
export function composedCallsOf(callData: Hex): ComposedCall[] | undefined {
  for (const abi of [abiOf10, abiOf11]) {
    let decoded: DecodeFunctionDataReturnType<typeof abiOf10 | typeof abiOf11>
    try {
      decoded = decodeFunctionData({ abi, data: callData }) as typeof decoded
    } catch {
      continue
    }
    const calls = decoded.args[0].map(execution => {
      const params: readonly Param[] = execution.inputParams
      const to = 'to' in execution ? execution.to : targetOf(params)
      const value = 'value' in execution ? execution.value : coinsOf(params)
      const args = argumentsOf(params.filter(({ paramType }) => paramType !== TARGET && paramType !== VALUE))
      return to !== undefined && value === 0n && args !== undefined
        ? { to: to.toLowerCase() as Address, selector: execution.functionSig, args }
        : undefined
    })
    return calls.every(call => call !== undefined) ? calls : undefined
  }
  return undefined
}

function targetOf(params: readonly Param[]): Address | undefined {
  const [only, ...more] = params.filter(({ paramType }) => paramType === TARGET)
  if (only?.fetcherType !== RAW || more.length > 0 || size(only.paramData) !== 32) return undefined
  return slice(only.paramData, 12)
}

function coinsOf(params: readonly Param[]): bigint | undefined {
  const given = params.filter(({ paramType }) => paramType === VALUE)
  return given.every(({ fetcherType }) => fetcherType === RAW)
    ? given.reduce((sum, { paramData }) => sum + BigInt(paramData), 0n)
    : undefined
}

function argumentsOf(params: readonly Param[]): Argument[] | undefined {
  const args: Argument[] = []
  for (const param of params) {
    const { fetcherType, paramData } = param
    if (fetcherType === RAW) {
      if (size(paramData) % 32 !== 0) return undefined
      for (let at = 0; at < size(paramData); at += 32) args.push(slice(paramData, at, at + 32))
      continue
    }
    const balance = balanceOf(param)
    if (!balance) return undefined
    args.push(balance)
  }
  return args
}

function balanceOf({ fetcherType, paramData, constraints }: Param): Argument | undefined {
  const least = constraints.reduce((most, { constraintType, referenceData }) => {
    const bound = constraintType === GTE && size(referenceData) === 32 ? BigInt(referenceData) : 0n
    return bound > most ? bound : most
  }, 0n)
  if (fetcherType === BALANCE && size(paramData) === 40)
    return { token: slice(paramData, 0, 20), holder: slice(paramData, 20), least }
  if (fetcherType !== STATIC_CALL) return undefined
  try {
    const [token, data] = decodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], paramData)
    const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data })
    if (functionName !== 'balanceOf') return undefined
    const holder = args[0].toLowerCase() as Address
    const isPlain = encodeFunctionData({ abi: erc20Abi, functionName, args: [holder] }) === data
    return isPlain ? { token: token.toLowerCase() as Address, holder, least } : undefined
  } catch {
    return undefined
  }
}

/** Whether a call is the one asked for: what is held of a token may be bounded more tightly, and no less. */
export function isCall(found: ComposedCall, asked: ComposedCall): boolean {
  return (
    found.to === asked.to &&
    found.selector === asked.selector &&
    found.args.length === asked.args.length &&
    found.args.every((arg, n) => isArgument(arg, asked.args[n]))
  )
}

function isArgument(found: Argument, asked: Argument | undefined): boolean {
  if (typeof found === 'string' || typeof asked === 'string' || asked === undefined)
    return typeof found === 'string' && found === asked
  return (
    found.token.toLowerCase() === asked.token &&
    found.holder.toLowerCase() === asked.holder &&
    found.least >= asked.least
  )
}

export const selectorOf = (signature: string): Hex => toFunctionSelector(signature)
