import {
  type Abi,
  type AbiFunction,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  toFunctionSelector,
} from 'viem'

/** A read of one contract: what to send and what the answer means. A value; the same read has the same `to` and `data`. */
export interface View<T> {
  to: Address
  data: Hex
  /** Throws where the answer is not what the signature says (a contract of another kind, or none). */
  decode(answer: Hex): T
}

/** A view says `undefined` where the contract reverted or answered something else. */
export type Answers<V extends Views> = { [K in keyof V]: V[K] extends View<infer T> ? T | undefined : never }

export type Views = Record<string, View<unknown>>

type Reading = 'view' | 'pure' | 'nonpayable' | 'payable'

/** A read by ABI. Functions that are not `view` are read as well: what they would answer if called by nobody special. */
export function view<
  const A extends Abi,
  N extends ContractFunctionName<A, Reading>,
  const P extends ContractFunctionArgs<A, Reading, N>,
>(abi: A, to: Address, functionName: N, args: P): View<ContractFunctionReturnType<A, Reading, N, P>> {
  // viem's overload resolution wants concrete ABIs; the types above are what callers are held to.
  const { items, selector } = signatureOf(abi, functionName as string)
  return {
    to,
    data: encodeFunctionData({ abi: items, functionName: selector, args: args as readonly unknown[] }),
    decode: answer =>
      decodeFunctionResult({
        abi: items,
        functionName: functionName as string,
        data: answer,
      }) as ContractFunctionReturnType<A, Reading, N, P>,
  }
}

interface Signature {
  items: Abi
  /** The name itself where the arguments decide between several functions of it. */
  selector: string
}

const signatures = new WeakMap<Abi, Map<string, Signature>>()

/** Found once: hashing a signature takes ten times as long as encoding its arguments, and a wallet is asked of thousands. */
function signatureOf(abi: Abi, name: string): Signature {
  const known = signatures.get(abi) ?? new Map<string, Signature>()
  signatures.set(abi, known)
  let signature = known.get(name)
  if (!signature) {
    const items = abi.filter(item => item.type === 'function' && item.name === name) as AbiFunction[]
    const [only] = items
    signature =
      only && items.length === 1 ? { items, selector: toFunctionSelector(only) } : { items, selector: name }
    known.set(name, signature)
  }
  return signature
}
