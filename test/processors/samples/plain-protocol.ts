import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import type { SourceBlock } from '../../../processors/handling/block.ts'
import type { Protocol, RawLog } from '../../../processors/protocol.ts'

const DEPOSIT = `0x${'d'.repeat(64)}`
const ASSET = `0x${'a'.repeat(40)}`

/** Deposits, whoever logs them. */
export const deposits = {
  kind: 'any',
  at: 'anywhere',
  decoders: [
    {
      signature: 'Deposited',
      topic0: DEPOSIT,
      topicCount: 1,
      dataLength: 0,
      gives: ['Deposited'],
      decode: ({ address: contract, logIndex, transactionHash }: RawLog) => [
        { type: 'Deposited', contract, logIndex, transactionHash, data: {} },
      ],
    },
  ],
}

/** Whatever has a deposit is a vault, from its first one on. */
export const plainProtocol = {
  name: 'plain',
  sources: [deposits, { kind: 'vault', at: 'discovered', decoders: [] }],
  teaches: ['VaultDiscovered'],
  proposes: ['Deposited'],
  watches: (event: DomainEvent) =>
    event.type === 'VaultDiscovered' ? [{ kind: 'vault', contract: event.contract }] : [],
  candidates: (event: DomainEvent) => (event.type === 'Deposited' ? [event.contract] : []),
  inspect: async (vault: string) => [
    {
      type: 'VaultDiscovered',
      contract: vault,
      data: { vault, asset: ASSET, protocol: 'plain', decimals: 18, assetDecimals: 18, deployedBlock: 12 },
    },
  ],
} as unknown as Protocol

/** A block with a deposit in each of these vaults. */
export const blockOf = (ref: SourceBlock['ref'], vaults: readonly string[]): SourceBlock => ({
  ref,
  logs: vaults.map((address, logIndex) => ({
    address,
    topics: [DEPOSIT],
    data: '0x',
    logIndex,
    transactionHash: '0x1',
  })),
})
