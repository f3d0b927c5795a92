import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Address, type Hex, pad, toHex } from 'viem'

const ABI = join(import.meta.dirname, '../../abi')

interface KnownEvent {
  topic0: Hex
  topicCount: number
  dataLength: number | { min: number }
}

const modules = await Promise.all(
  readdirSync(ABI, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .flatMap(({ name }) =>
      readdirSync(join(ABI, name))
        .filter(file => file.endsWith('.ts'))
        .map(file => import(join(ABI, name, file)) as Promise<{ events?: readonly KnownEvent[] }>),
    ),
)

/** Every log that any decoder knows, filled with a contract's address, with nothing, and with the largest words. */
export function everyTopic(contract: Address): { topics: Hex[]; data: Hex }[] {
  return modules
    .flatMap(({ events = [] }) => events)
    .flatMap(({ topic0, topicCount, dataLength }) => {
      const size = typeof dataLength === 'number' ? dataLength : dataLength.min
      return [pad(contract), toHex(0, { size: 32 }), `0x${'f'.repeat(64)}` as Hex].map(word => ({
        topics: [topic0, ...Array.from({ length: topicCount - 1 }, () => word)],
        data: `0x${word.slice(2).repeat(Math.ceil(size / 32))}`.slice(0, 2 + size * 2) as Hex,
      }))
    })
}
