import { EvmBatchProcessor } from '@subsquid/evm-processor'
import { BlockConsistencyError, isDataConsistencyError } from '@subsquid/util-internal-ingest-tools'
import { expect, test } from 'vitest'
import { partsOf } from '../../processors/source/sqd-parts.ts'

const processor = () =>
  new EvmBatchProcessor()
    .setBlockRange({ from: 0 })
    .setFinalityConfirmation(5)
    .setGateway('http://127.0.0.1:1')
    .setRpcEndpoint({ url: 'http://127.0.0.1:1' })
    .addLog({ address: ['0x00'] })

/** Names of what is there and can be called. */
const functionsOf = (of: object, names: readonly string[]) =>
  names.filter(name => typeof (of as Record<string, unknown>)[name] === 'function')

test('the parts of evm-processor that are reached into are there, and made of what is expected', () => {
  const parts = partsOf(processor())
  const own = [
    'getBatchRequests',
    'getArchiveDataSource',
    'getHotDataSource',
    'getChainRpcClient',
    'getLogger',
  ]
  expect(functionsOf(parts, own)).toEqual(own)
  expect(parts.getBatchRequests()[0]?.range.from).toBe(0)

  const client = parts.getChainRpcClient()
  const called = ['call', 'subscribe', 'supportsNotifications', 'close']
  expect(functionsOf(client, called)).toEqual(called)
  const sent = ['connect', 'close', 'call', 'batchCall']
  expect(functionsOf(client.con, sent)).toEqual(sent)
  expect(client.supportsNotifications()).toBe(false)
  client.close()

  const hot = ['getFinalizedHeight', 'getFinalizedBlocks', 'processHotBlocks']
  expect(functionsOf(parts.getHotDataSource(), hot)).toEqual(hot)
  const archive = ['getFinalizedHeight', 'getBlockHash', 'getFinalizedBlocks']
  expect(functionsOf(parts.getArchiveDataSource() ?? {}, archive)).toEqual(archive)
})

test('a block that is another one by now is known as such', () => {
  expect(isDataConsistencyError(new BlockConsistencyError({ height: 1 }))).toBe(true)
  expect(isDataConsistencyError(new Error('no'))).toBe(false)
})
