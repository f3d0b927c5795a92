import { VaultlogError } from '../../db/process/errors.ts'
import { DependencyDownError } from '../http/errors.ts'

/** No endpoint of a network answered in time. */
export class ChainUnavailableError extends DependencyDownError {
  constructor(network: string, options?: ErrorOptions) {
    super(`The chain ${network}`, options)
  }
}

export function chainUnavailable(network: string): never {
  throw new ChainUnavailableError(network)
}

/** The node answered, and refused: the call itself is at fault (a revert, a method it does not have). */
export class CallRejectedError extends VaultlogError {
  readonly code = 'CALL_REJECTED'
  /** Revert data, where the node gave some. */
  readonly data: `0x${string}` | undefined
  constructor(message: string, data: `0x${string}` | undefined, options?: ErrorOptions) {
    super(message, options)
    this.data = data
  }
}
