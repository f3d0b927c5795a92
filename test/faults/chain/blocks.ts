import { concat, type Hex, hexToBytes, keccak256, numberToHex, pad, stringToHex, toRlp } from 'viem'

/** One log as a contract emits it, before it has a place in a block. */
export interface Emitted {
  address: string
  topics: Hex[]
  data: Hex
}

export interface PlacedLog extends Emitted {
  logIndex: number
  transactionHash: Hex
  transactionIndex: number
}

/** What a vault's views answer after a block. */
export interface VaultState {
  totalAssets: bigint
  totalSupply: bigint
}

export interface ChainBlock {
  number: number
  hash: Hex
  parentHash: Hex
  timestamp: number
  logsBloom: Hex
  transactions: Hex[]
  logs: PlacedLog[]
  /** By vault, after this block. */
  states: ReadonlyMap<string, VaultState>
  header: Record<string, Hex>
}

const word = (value: bigint | number): Hex => numberToHex(value, { size: 32 })
const topic = (address: string): Hex => pad(address.toLowerCase() as Hex, { size: 32 })
const signature = (text: string): Hex => keccak256(stringToHex(text))

export const TRANSFER = signature('Transfer(address,address,uint256)')
export const DEPOSIT = signature('Deposit(address,address,uint256,uint256)')
export const WITHDRAW = signature('Withdraw(address,address,address,uint256,uint256)')
export const NOBODY = `0x${'0'.repeat(40)}`

/** The logs of ERC-20 and ERC-4626, laid out as the standards say. */
export const emit = {
  transfer: (vault: string, from: string, to: string, shares: bigint): Emitted => ({
    address: vault,
    topics: [TRANSFER, topic(from), topic(to)],
    data: word(shares),
  }),
  deposit: (vault: string, owner: string, assets: bigint, shares: bigint): Emitted => ({
    address: vault,
    topics: [DEPOSIT, topic(owner), topic(owner)],
    data: concat([word(assets), word(shares)]),
  }),
  withdraw: (vault: string, owner: string, assets: bigint, shares: bigint): Emitted => ({
    address: vault,
    topics: [WITHDRAW, topic(owner), topic(owner), topic(owner)],
    data: concat([word(assets), word(shares)]),
  }),
}

const bits = new Map<string, number[]>()

/** The three bits of a value in a logs bloom (Yellow Paper, 4.3.1). */
function bloomBits(value: string): number[] {
  let found = bits.get(value)
  if (!found) {
    const hash = hexToBytes(keccak256(value as Hex))
    found = [0, 2, 4].map(at => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047)
    bits.set(value, found)
  }
  return found
}

function bloomOf(logs: readonly Emitted[]): Hex {
  const bloom = new Uint8Array(256)
  for (const { address, topics } of logs) {
    for (const value of [address, ...topics]) {
      for (const bit of bloomBits(value)) {
        const at = 255 - (bit >> 3)
        bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7))
      }
    }
  }
  return `0x${Buffer.from(bloom).toString('hex')}`
}

/** Minimal RLP integer. */
const quantity = (value: number): Hex => (value === 0 ? '0x' : numberToHex(value))

/**
 * A block whose hash is that of its header. The three roots are hashes of what they stand for, not tries: no client
 * of ours proves inclusion. `salt` tells branches apart.
 */
export function sealBlock(
  parent: ChainBlock | undefined,
  content: {
    number: number
    timestamp: number
    transactions: readonly (readonly Emitted[])[]
    states: ReadonlyMap<string, VaultState>
    /** Those of the states that are not the parent's. */
    changed: ReadonlyMap<string, VaultState>
    salt: number
    firstLogIndex: number
  },
): ChainBlock {
  const { number, timestamp, salt } = content
  const parentHash = parent?.hash ?? word(0)
  const transactions = content.transactions.map((logs, index) =>
    keccak256(toRlp([parentHash, quantity(salt), quantity(index), ...logs.map(log => log.data)])),
  )
  let logIndex = content.firstLogIndex
  const logs: PlacedLog[] = content.transactions.flatMap((emitted, transactionIndex) =>
    emitted.map(log => ({
      ...log,
      logIndex: logIndex++,
      transactionIndex,
      transactionHash: transactions[transactionIndex] ?? word(0),
    })),
  )
  const header: Record<string, Hex> = {
    parentHash,
    sha3Uncles: keccak256(toRlp([])),
    miner: NOBODY as Hex,
    stateRoot: keccak256(
      toRlp([
        parent?.header['stateRoot'] ?? '0x',
        ...[...content.changed].flatMap(([vault, s]) => [
          vault as Hex,
          word(s.totalAssets),
          word(s.totalSupply),
        ]),
      ]),
    ),
    transactionsRoot: keccak256(toRlp(transactions)),
    receiptsRoot: keccak256(toRlp(logs.flatMap(log => [log.address as Hex, ...log.topics, log.data]))),
    logsBloom: bloomOf(logs),
    difficulty: '0x',
    number: quantity(number),
    gasLimit: quantity(30_000_000),
    gasUsed: quantity(logs.length * 50_000),
    timestamp: quantity(timestamp),
    extraData: quantity(salt),
    mixHash: word(0),
    nonce: '0x0000000000000000',
  }
  return {
    number,
    timestamp,
    parentHash,
    hash: keccak256(toRlp(Object.values(header))),
    logsBloom: header.logsBloom ?? '0x',
    transactions,
    logs,
    states: content.states,
    header,
  }
}
