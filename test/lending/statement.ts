import request from 'supertest'
import { expect } from 'vitest'
import type { z } from 'zod'
import { Statement } from '../../read-api/portfolio/statement-schemas.ts'
import type { ApiHarness } from '../read-api/harness.ts'
import { allSaid, type Others, type Said } from './http.ts'
import type { Walk } from './rows.ts'

interface Block {
  number: number
  timestamp: number
}
type Line = z.output<typeof Statement>['data'][number]

/**
 * What statements say that everybody lent, pledged and owed at two blocks, against what the contracts say at these. Shares
 * of vaults (base of Comet, Euler) are left out: they count at the last price that was read.
 */
export async function compareStatements(
  walk: Walk,
  others: Others,
  api: ApiHarness,
  [from, to]: readonly [Block, Block],
): Promise<number> {
  await api.catalogue.refresh()
  const opening = await allSaid(walk, others, BigInt(from.number))
  const closing = await allSaid(walk, others, BigInt(to.number))
  let debts = 0
  for (const user of new Set(walk.everyone)) {
    const answer = await request(api.app)
      .get('/beta/portfolio/statement')
      .query({
        wallets: user,
        fromTimestamp: from.timestamp,
        toTimestamp: to.timestamp,
        allowUnlisted: true,
      })
      .set('x-api-key', api.apiKey)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    const lines = Statement.shape.data.parse(answer.body.data)
    const asVaults = new Set(lines.filter(({ kind }) => kind === 'vault').map(placeOf))
    const lent = lines.filter(({ kind }) => kind !== 'vault')
    const stated = (end: 'opening' | 'closing') =>
      lent.map(line => [`${placeOf(line)} ${side(line)}`, BigInt(line.native[end])] as const)
    const said = async (markets: readonly Said[]) => {
      const found: (readonly [string, bigint])[] = []
      for (const { protocol, of } of markets) {
        for (const [id, { supplied, borrowed }] of Object.entries((await of(user)).assets)) {
          const place = `${protocol} ${id.replace(/-.*/, '')}`
          if (!asVaults.has(place)) found.push([`${place} lent`, supplied])
          found.push([`${place} owed`, -borrowed])
        }
      }
      return found
    }
    for (const [end, markets] of [
      ['opening', opening],
      ['closing', closing],
    ] as const)
      expect(sums(stated(end)), `${end} of ${user}, ${from.number} to ${to.number}`).toEqual(
        sums(await said(markets)),
      )
    debts += lent.filter(({ kind, native }) => kind === 'debt' && native.opening !== '0').length
    walk.counted.values += 2 * lent.length
  }
  return debts
}

const side = ({ kind }: Line) => (kind === 'debt' ? 'owed' : 'lent')
const placeOf = ({ protocol, address, asset }: Line) =>
  `${protocol.name} ${(protocol.name === 'euler' ? address : asset.address).toLowerCase()}`

/** By place; nothing is as good as no place. */
function sums(all: readonly (readonly [string, bigint])[]): Record<string, bigint> {
  const found: Record<string, bigint> = {}
  for (const [place, amount] of all) found[place] = (found[place] ?? 0n) + amount
  return Object.fromEntries(Object.entries(found).filter(([, amount]) => amount !== 0n))
}
