import { VaultlogError } from '../process/errors.ts'

/** Another process appends to the same stream. */
export class SecondWriterError extends VaultlogError {
  readonly code = 'SECOND_WRITER'
  constructor(name: string) {
    super(
      `Another processor of ${name} is running on this event store. Stop it first: a stream has one writer.`,
    )
  }
}

/** The stream's partition was taken out of the event store. */
export class DetachedError extends VaultlogError {
  readonly code = 'DETACHED'
  constructor(name: string, partition: string, stream: number) {
    super(
      `The events of ${name} are detached from the event store. Nothing was read or stored. ` +
        `Attach them first: ALTER TABLE event_log ATTACH PARTITION ${partition} FOR VALUES IN (${stream})`,
    )
  }
}

/** The store's cursor is not where this processor thinks it is. */
export class CursorMovedError extends VaultlogError {
  readonly code = 'CURSOR_MOVED'
  override readonly retryable = true
  constructor(name: string, expected: string, found: string) {
    super(
      `The cursor of ${name} moved from ${expected} to ${found} meanwhile. The processor starts again from there.`,
    )
  }
}

/** The connection that holds the stream's lock is gone, and with it the right to write. */
export class LockLostError extends VaultlogError {
  readonly code = 'LOCK_LOST'
  override readonly retryable = true
  constructor(name: string) {
    super(`The connection that holds the lock of ${name} was lost. The processor takes it again.`)
  }
}

/** The processor was told to stop: nothing is stored any more. */
export class StoppedError extends VaultlogError {
  readonly code = 'STOPPED'
  constructor(name: string) {
    super(`The processor of ${name} is stopping.`)
  }
}

/** Blocks stored as hot had been replaced while no processor looked: they are retracted, and the batch is to be handled again. */
export class ForkedWhileOfflineError extends VaultlogError {
  readonly code = 'FORKED_OFFLINE'
  override readonly retryable = true
  constructor(name: string, blocks: number) {
    super(
      `${blocks} stored blocks of ${name} were replaced while its processor was stopped. They are retracted; going on from there.`,
    )
  }
}
