import type { Refusal } from './rpc-server.ts'

/** Batches of 10, or calls of a second, that are too many; without words it is the bare status. */
export const LIMITS: [string, Refusal | undefined][] = [
  ['by bare statuses', undefined],
  // docs.alchemy.com/reference/throughput; latticexyz/mud#1522
  [
    'in the words of Alchemy',
    {
      code: 429,
      message:
        'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message. If not, check out https://docs.alchemy.com/reference/throughput',
    },
  ],
  // gakonst/ethers-rs, ethers-providers/src/rpc/transports/retry.rs; with HTTP 429 and the id null
  [
    'in the words of Infura',
    { code: -32_005, message: 'daily request count exceeded, request rate limited', status: 429 },
  ],
  // latticexyz/mud#1522: one error for each call, all with the id "1"
  [
    'in the words of QuickNode',
    { code: -32_012, message: 'credits limited to 6000/sec', each: 'with the id 1' },
  ],
  // AlphaWallet/alpha-wallet-ios#5021
  ['in the words of Ankr', { code: -32_600, message: 'Too many ["eth_getLogs"] methods in the batch' }],
  // blockscout/blockscout#14211: one error for each call
  [
    'in the words of dRPC',
    {
      code: 31,
      message:
        'Batch of more than 3 requests are not allowed on free tier, to use this feature register paid account at drpc.org',
      each: 'with its own id',
    },
  ],
  // megaeth-labs/documentation#83
  ['in the words of MegaETH', { code: -32_005, message: 'Rate limit exceeded' }],
  ['in invented words', { code: -39_999, message: 'less, if you please' }],
]

/** Logs, or blocks, of one eth_getLogs that are too many. */
export const LOG_LIMITS: [string, Refusal][] = [
  // docs.infura.io, eth_getlogs: constraints
  ['Infura', { code: -32_005, message: 'query returned more than 10000 results' }],
  [
    'Alchemy',
    {
      code: -32_602,
      message: 'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range',
    },
  ],
]

/** Blocks of one eth_getLogs that are too many. */
export const RANGE_LIMITS: [string, Refusal][] = [
  ['in plain words', { code: -32_602, message: 'block range is too wide (maximum 1000)' }],
  // INFURA/infura#237
  ['in the words of Infura', { code: -32_602, message: 'range 1000000 exceeds limit of 10000' }],
  // boundless-xyz/boundless#838, with HTTP 400
  [
    'in the words of Alchemy',
    {
      code: -32_600,
      message:
        'You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x1a30dfd, 0x1a30ff0]',
      status: 400,
    },
  ],
  // base.org's public endpoint, and QuickNode's
  ['in the words of QuickNode', { code: -32_614, message: 'eth_getLogs is limited to a 10,000 range' }],
  // ponder-sh/ponder#1940
  ['in the words of Ankr', { code: -32_000, message: 'maximum [from, to] blocks distance: 10000' }],
]

/** State of a block that is not kept any more. */
export const NO_STATE: [string, Refusal][] = [
  // ethereum/go-ethereum#20874
  [
    'in the words of Geth',
    {
      code: -32_000,
      message: 'missing trie node ef7df5d88cb1614dc3f143879a653cd90717ee42e967c5fabbcd7505a968f314 (path )',
    },
  ],
  // erigontech/erigon#21965
  [
    'in the words of Erigon',
    {
      code: -32_000,
      message:
        'old data not available due to pruning: requested block 0, history is available from block 25247999',
    },
  ],
  // NethermindEth/nethermind#13603
  ['in the words of Nethermind', { code: -32_002, message: 'No state available for block 0x12' }],
  // NethermindEth/nethermind#9408
  ['in the words of an older Nethermind', { code: -32_603, message: 'Internal error' }],
  // paradigmxyz/reth#4092
  ['in the words of Reth', { code: -32_603, message: 'State at block #3 is pruned' }],
  // openethereum/parity-ethereum#11594
  [
    'in the words of OpenEthereum',
    {
      code: -32_000,
      message:
        'This request is not supported because your node is running with state pruning. Run with --pruning=archive.',
    },
  ],
  ['in invented words', { code: -38_123, message: 'we do not dwell on the past' }],
]
