import { type ChainBlock, DEPOSIT, NOBODY, TRANSFER, WITHDRAW } from './blocks.ts'

/** What the tables must say, counted straight off the chain: nothing of Vaultlog is used here. */
export interface Expected {
  /** `vault holder` → shares; zeros left out. */
  balances: Record<string, string>
  supply: Record<string, string>
  /** `vault day` → [assets in, assets out, deposits, redemptions]. */
  flows: Record<string, [string, string, number, number]>
  events: { Deposited: number; Redeemed: number; ShareTransferred: number }
}

export function expectedOf(blocks: readonly ChainBlock[], vaults: readonly string[]): Expected {
  const balances = new Map<string, bigint>()
  const supply = new Map<string, bigint>()
  const flows: Record<string, [string, string, number, number]> = {}
  const events = { Deposited: 0, Redeemed: 0, ShareTransferred: 0 }
  const add = (map: Map<string, bigint>, key: string, amount: bigint) =>
    map.set(key, (map.get(key) ?? 0n) + amount)
  for (const { logs, timestamp } of blocks) {
    for (const { address, topics, data } of logs) {
      if (!vaults.includes(address)) continue
      if (topics[0] === TRANSFER && topics.length === 3 && data.length === 66) {
        events.ShareTransferred++
        const [from, to] = topics.slice(1).map(topic => `0x${topic.slice(26)}`)
        if (from === NOBODY) add(supply, address, BigInt(data))
        else add(balances, `${address} ${from}`, -BigInt(data))
        if (to === NOBODY) add(supply, address, -BigInt(data))
        else add(balances, `${address} ${to}`, BigInt(data))
      }
      const isDeposit = topics[0] === DEPOSIT && topics.length === 3
      const isWithdraw = topics[0] === WITHDRAW && topics.length === 4
      if ((!isDeposit && !isWithdraw) || data.length !== 130) continue
      const key = `${address} ${new Date(timestamp * 1000).toISOString().slice(0, 10)}`
      const day = flows[key] ?? ['0', '0', 0, 0]
      const assets = BigInt(data.slice(0, 66))
      events[isDeposit ? 'Deposited' : 'Redeemed']++
      flows[key] = isDeposit
        ? [(BigInt(day[0]) + assets).toString(), day[1], day[2] + 1, day[3]]
        : [day[0], (BigInt(day[1]) + assets).toString(), day[2], day[3] + 1]
    }
  }
  const nonZero = (map: Map<string, bigint>) =>
    Object.fromEntries([...map].filter(([, n]) => n !== 0n).map(([key, n]) => [key, n.toString()]))
  return { balances: nonZero(balances), supply: nonZero(supply), flows, events }
}
