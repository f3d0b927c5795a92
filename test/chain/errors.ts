import { VaultlogError } from '../../db/process/errors.ts'
import type { Call } from './node.ts'

export class NodeFailedError extends VaultlogError {
  readonly code = 'CHAIN_NODE_FAILED'
}

export class RpcError extends VaultlogError {
  readonly code = 'CHAIN_RPC'

  constructor(method: string, rpcCode: number, message: string) {
    super(`${method}: ${message} (${rpcCode})`)
  }
}

export class TransactionFailedError extends VaultlogError {
  readonly code = 'CHAIN_TRANSACTION_FAILED'

  constructor(call: Call, hash: string, reason: string) {
    super(
      `${call.label ?? 'transaction'} from ${call.from} to ${call.to ?? 'a new contract'} failed (${hash}): ${reason}`,
    )
  }
}

export class CompilationFailedError extends VaultlogError {
  readonly code = 'CHAIN_COMPILATION_FAILED'
}

export class ScenarioError extends VaultlogError {
  readonly code = 'CHAIN_SCENARIO'
}
