import { EvmBatchProcessor } from '@subsquid/evm-processor'
import type { Logger } from '@subsquid/logger'
import { type Database, Runner, type RunnerConfig } from '@subsquid/util-internal-processor-tools'

type Config = RunnerConfig<unknown, unknown>

/** What EvmBatchProcessor.run() is made of, which itself ends the process when it is done. */
interface Parts {
  getBatchRequests(): Config['requests']
  getHotDataSource(): NonNullable<Config['hotDataSource']>
  getChainRpcClient(): { close(): void }
  getLogger(): Logger
}

export interface BareBlock {
  header: { height: number }
  logs: { address: string; topics: string[]; data: string; logIndex: number }[]
}

/** evm-processor over RPC as it comes: its own source, mapping and batches. */
export async function runBare<Store>(
  options: { rpc: string; from: number; to: number; address: string; topics: readonly string[] },
  database: Database<Store>,
  handle: (store: Store, blocks: BareBlock[]) => Promise<void>,
): Promise<void> {
  const processor = new EvmBatchProcessor()
    .setRpcEndpoint({ url: options.rpc, capacity: 10, maxBatchCallSize: 100 })
    .setRpcDataIngestionSettings({ headPollInterval: 100 })
    .setFinalityConfirmation(0)
    .setBlockRange({ from: options.from, to: options.to })
    .setFields({
      log: { topics: true, data: true, transactionHash: true },
      block: { timestamp: true },
    })
    .addLog({ address: [options.address], topic0: [...options.topics] }) as unknown as Parts
  try {
    await new Runner<unknown, Store>({
      database,
      requests: processor.getBatchRequests(),
      hotDataSource: processor.getHotDataSource(),
      allBlocksAreFinal: true,
      log: processor.getLogger(),
      prometheus: {
        addRunnerMetrics() {},
        serve: async () => ({ port: 0 }),
      } as unknown as Config['prometheus'],
      process: (store, { blocks }) => handle(store, blocks as unknown as BareBlock[]),
    }).run()
  } finally {
    processor.getChainRpcClient().close()
  }
}
