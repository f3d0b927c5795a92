import type { Address, Hex } from 'viem'
import type { Token } from '../transactions/family.ts'
import type { TypedData } from './typed-data.ts'

export interface Place {
  /** Name of the network. */
  network: string
  chainId: number
}

/** One call of a journey. Addresses and data are lower case. */
export interface Call {
  to: Address
  data: Hex
}

/** A way into a vault: what approves and what deposits, for any amount of its asset, with the user as receiver. */
export interface Entry {
  vault: Address
  calls(assets: bigint): Promise<[approve: Call, deposit: Call]>
}

/** A way out of a vault, as an account of the user's that holds the shares calls it; what it pays goes to that account. */
export interface Exit {
  vault: Address
  asset: Token
  call(account: Address): Call
  /** Base units of the asset that the shares give now. */
  assets: bigint
}

/** What is asked of a provider. Amounts are base units; addresses lower case. */
export interface Journey {
  user: Address
  /** What is spent: the asset, or the shares where there is an exit. */
  from: Place & { token: Token; amount: bigint; exit?: Exit }
  /** What arrives: the asset, or what is deposited where there is an entry. */
  to: Place & { token: Token; entry?: Entry }
  /** USD of one whole unit of what is spent. */
  price: number
  /** Less than this of what arrives is refused. */
  least: bigint
}

export interface Fee {
  type: 'bridge' | 'gas' | 'swap' | 'protocol'
  /** Base units of what is spent. */
  amount: bigint
}

/** A quote that has been checked. */
export interface Offer {
  /** Made anew of what was checked: nothing else of the provider's is in it. */
  payload: TypedData
  /** The provider's whole answer. */
  answer: unknown
  /** The name under which the provider knows it once it is executed. */
  reference: string
  /** Unix seconds. */
  expiresAt: number
  fees: Fee[]
  /** Base units of what is spent, fees included. */
  spent: bigint
  /** Base units of what arrives, or is deposited: no less than this. */
  received: bigint
  /** Who has to be allowed `spent` before it is signed. */
  spender?: Address
}

/** What is kept of an offer to execute it. */
export type Kept = Pick<Offer, 'payload' | 'answer' | 'reference'>

export interface IntentStatus {
  status: 'pending' | 'success' | 'failed'
  sourceTransactionHash?: string
  destinationTransactionHash?: string
}

/**
 * Moves positions between chains for a signature. Every method rejects with ProviderFault where the service does not do what it is
 * asked.
 */
export interface IntentProvider {
  readonly name: string
  /** Identifiers that the service gives. */
  readonly ids: RegExp
  /** @throws RefusedError where it cannot do this @throws UntrustedQuoteError where what it wants signed is something else */
  quote(journey: Journey, signal: AbortSignal): Promise<Offer>
  /** Gives the identifier. Not to be broken off: what was sent is done. */
  execute(kept: Kept, signature: Hex): Promise<string>
  /** The identifier of what has been executed; undefined where the service has not been given it. */
  find(kept: Kept): Promise<string | undefined>
  /** Undefined where the service knows of no such intent. */
  status(id: string, signal: AbortSignal): Promise<IntentStatus | undefined>
}

/** No permission lives longer than this. */
export const LONGEST_SECONDS = 3_600
