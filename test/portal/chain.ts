import type { GatewayBlock } from '../gateway/blocks.ts'

export const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
export const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`

export interface GeneratedLog {
  contract: number
  topic: number
}

/** Blocks `first` and up, each with the logs that `logs` gives it, two a transaction. */
export function generatedChain(
  count: number,
  logs: (number: number) => readonly GeneratedLog[],
  { first = 0, branch = 0 }: { first?: number; branch?: number } = {},
): GatewayBlock[] {
  const hash = (number: number) => word((number + 1) * 16 + branch)
  return Array.from({ length: count }, (_, i) => {
    const number = first + i
    const found = logs(number)
    const transaction = (index: number) => word(number * 1000 + 500 + index)
    return {
      header: {
        number,
        hash: hash(number),
        parentHash: hash(number - 1),
        timestamp: 1_600_000_000 + 12 * number,
      },
      transactions: Array.from({ length: Math.ceil(found.length / 2) }, (_, transactionIndex) => ({
        transactionIndex,
        hash: transaction(transactionIndex),
        from: address(1),
        to: address(2),
        input: `0x${number.toString(16).padStart(8, '0')}`,
      })),
      logs: found.map(({ contract, topic }, logIndex) => {
        const transactionIndex = Math.floor(logIndex / 2)
        return {
          logIndex,
          transactionIndex,
          transactionHash: transaction(transactionIndex),
          address: address(contract),
          topics: [word(topic), word(number)],
          data: word(logIndex),
        }
      }),
    }
  })
}
