import { createKey } from '../../db/keys/keys.ts'
import type { ChainBlock } from './chain/blocks.ts'
import { expectedOf } from './chain/oracle.ts'
import { NETWORK, type System } from './system.ts'

export interface HoldersAnswer {
  status: number
  /** Block that the answer is of, by its header. */
  block: number
  /** Lower-case holder → shares. */
  balances: Record<string, string>
  total: string
}

/** Asks the API for all holders of a vault. */
export async function openApi(system: System): Promise<(vault: string) => Promise<HoldersAnswer>> {
  const { key } = await createKey(system.pool, { name: 'faults', plan: 'unlimited' })
  const base = `http://127.0.0.1:${system.env['API_PORT']}`
  await system.until('the API', 120, () =>
    fetch(`${base}/v2/health`, { headers: { 'x-api-key': key } }).then(
      () => true,
      () => false,
    ),
  )
  return async vault => {
    const response = await fetch(`${base}/alpha/${NETWORK.name}/${vault}/holders?perPage=100`, {
      headers: { 'x-api-key': key },
    })
    const text = await response.text()
    if (response.status !== 200) return { status: response.status, block: -1, balances: {}, total: '' }
    const body = JSON.parse(text) as {
      data: { address: string; lpTokenBalance: string }[]
      totalBalance: string
    }
    return {
      status: 200,
      block: Number(/\d+$/.exec(response.headers.get('x-as-of-block') ?? '')?.[0] ?? -1),
      balances: Object.fromEntries(body.data.map(row => [row.address.toLowerCase(), row.lpTokenBalance])),
      total: body.totalBalance,
    }
  }
}

/** What the holders of a vault were after each block that ever was the head, by height: several where it was replaced. */
export class EverySeenState {
  private readonly states = new Map<number, Record<string, string>[]>()
  private readonly vault: string

  constructor(vault: string) {
    this.vault = vault
  }

  add(blocks: readonly ChainBlock[]): void {
    const { balances } = expectedOf(blocks, [this.vault])
    const height = blocks.length - 1
    const known = this.states.get(height) ?? []
    known.push(Object.fromEntries(Object.entries(balances).map(([key, n]) => [key.split(' ')[1] ?? '', n])))
    this.states.set(height, known)
  }

  at(height: number): readonly Record<string, string>[] {
    return this.states.get(height) ?? []
  }
}
