/**
 * Base of every error that Vaultlog throws. `code` is stable and documented; `retryable` tells a runner whether
 * the same work may succeed later without anybody's help. The message says what to do.
 */
export abstract class VaultlogError extends Error {
  abstract readonly code: string
  readonly retryable: boolean = false

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

export class ConfigError extends VaultlogError {
  readonly code = 'CONFIG'
}

export class MalformedLogError extends VaultlogError {
  readonly code = 'MALFORMED_LOG'
}

/** A dependency (database, queue, RPC) did not answer; the work may be tried again. */
export class UnavailableError extends VaultlogError {
  readonly code = 'UNAVAILABLE'
  override readonly retryable = true
}

export class PortInUseError extends VaultlogError {
  readonly code = 'PORT_IN_USE'

  constructor(port: number, what: string, setting: string) {
    super(`Port ${port} for ${what} is in use. Stop what listens there, or set ${setting} to another port.`)
  }
}
