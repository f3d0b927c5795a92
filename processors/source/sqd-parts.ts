import type { EvmBatchProcessor } from '@subsquid/evm-processor'
import type { Logger } from '@subsquid/logger'
import type { RunnerConfig } from '@subsquid/util-internal-processor-tools'
import type { HeadClient } from './head.ts'
import type { ConnectedClient } from './paced-connection.ts'

export type SqdConfig = RunnerConfig<unknown, unknown>

/**
 * All that is reached into of SQD's packages, beyond what they offer: a test says so where a version of them has it no more.
 * EvmBatchProcessor.run() owns the process: it exits on every error and cannot be started again with more contracts. These are
 * the parts it is made of; with them the same Runner runs under our own loop.
 */
export interface ProcessorParts {
  getBatchRequests(): SqdConfig['requests']
  getArchiveDataSource(): SqdConfig['archive']
  getHotDataSource(): NonNullable<SqdConfig['hotDataSource']>
  getChainRpcClient(): HeadClient & ConnectedClient & { close(error?: Error): void }
  getLogger(): Logger
}

export const partsOf = (processor: EvmBatchProcessor<object>): ProcessorParts =>
  processor as unknown as ProcessorParts

/** Whether a gateway wants a key: HttpError of @subsquid/http-client, which its packages throw, by its response. */
export function isKeyWanted(error: Error): boolean {
  const { response } = error as { response?: { status?: unknown } }
  return response?.status === 401 || response?.status === 403
}
