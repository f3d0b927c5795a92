import { createHash, randomBytes } from 'node:crypto'
import type { Faces } from '../../db/faces.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'

/** The chains an answer stands on: those named, or every one. */
export type Ground = readonly number[] | 'all'

export interface EntityTags {
  /** The tag of an answer: weak, since compression may change its bytes. */
  make(url: string, catalogue: Catalogue, ground: Ground, text: string, face?: Faces): string
  /** The tag that says: nothing the answer stands on has moved since. Then it need not be made again. */
  stillHolds(
    ifNoneMatch: string | undefined,
    url: string,
    catalogue: Catalogue,
    face?: Faces,
  ): { tag: string; ground: Ground } | undefined
  /** Whether a tag is of these very bytes, whatever has moved. */
  isOf(ifNoneMatch: string | undefined, tag: string): boolean
}

/**
 * A tag has three parts: `W/"<ground>.<positions>.<body>"`. The second is a digest of where the projections stand on
 * the chains named in the first: while it holds, the answer is known to be the same without making it. The third is a
 * digest of the body: the answer may be the same although positions moved. No part depends on the time.
 *
 * The second part is known only to the process that made it, since another may run another version or may see tables
 * that were replayed: there the body decides.
 */
export function createEntityTags(): EntityTags {
  const nonce = randomBytes(9).toString('base64url')

  const positions = (url: string, catalogue: Catalogue, ground: Ground, face?: Faces): string =>
    digest(`${nonce} ${url} ${standOf(catalogue, ground, face)}`)

  return {
    make(url, catalogue, ground, text, face) {
      const named = ground === 'all' ? '*' : ground.map(id => id.toString(36)).join('-')
      return `W/"${named}.${positions(url, catalogue, ground, face)}.${digest(text)}"`
    },
    stillHolds(ifNoneMatch, url, catalogue, face) {
      for (const parts of partsOf(ifNoneMatch)) {
        const [named, moment] = parts
        if (named === undefined || moment === undefined || !/^(\*|[0-9a-z-]{0,400})$/.test(named)) continue
        const ground: Ground =
          named === '*'
            ? 'all'
            : named
                .split('-')
                .filter(id => id !== '')
                .map(id => Number.parseInt(id, 36))
        if (moment === positions(url, catalogue, ground, face))
          return { tag: `W/"${parts.join('.')}"`, ground }
      }
      return undefined
    },
    isOf(ifNoneMatch, tag) {
      // Whatever the caller has: there is an answer.
      if (ifNoneMatch?.trim() === '*') return true
      const [own] = partsOf(tag)
      return partsOf(ifNoneMatch).some(parts => parts.length === 3 && parts[2] === own?.[2])
    },
  }
}

function partsOf(header: string | undefined): string[][] {
  if (!header || header.length > 4_096) return []
  return header
    .split(',')
    .flatMap(tag => /^\s*(?:W\/)?"([^"]*)"\s*$/.exec(tag)?.[1] ?? [])
    .map(tag => tag.split('.'))
}

function digest(text: string): string {
  return createHash('sha1').update(text).digest('base64url').slice(0, 16)
}

const stands = new WeakMap<Catalogue, Map<string, string>>()

function remembered(catalogue: Catalogue, key: string, make: () => string): string {
  const known = stands.get(catalogue) ?? new Map<string, string>()
  stands.set(catalogue, known)
  const found = known.get(key) ?? make()
  known.set(key, found)
  return found
}

/** Where everything stands that an answer on this ground is made of: while it is the same, the answer is. */
export function standOf(catalogue: Catalogue, ground: Ground, face: Faces | undefined): string {
  const idsOf = () => (ground === 'all' ? allChains(catalogue, face) : groundWithPrices(catalogue, ground))
  return remembered(catalogue, `${face} ${ground}`, () => placesOf(catalogue, idsOf(), face))
}

/** The same of what is made of these chains and no others, whatever prices there stand on. */
export function standOfChains(
  catalogue: Catalogue,
  chainIds: readonly number[],
  face: Faces | undefined,
): string {
  return remembered(catalogue, `${face} alone ${chainIds}`, () => placesOf(catalogue, chainIds, face))
}

const furtherFaces = (face: Faces | undefined) => [face ?? []].flat()

function allChains({ moment: { chains, faces } }: Catalogue, face: Faces | undefined): number[] {
  const further = furtherFaces(face).flatMap(of => [...(faces.get(of)?.keys() ?? [])])
  return [...new Set([...chains.keys(), ...further])]
}

function placesOf(catalogue: Catalogue, ids: readonly number[], face: Faces | undefined): string {
  const { chains, filling, registryPosition, replays } = catalogue.moment
  const own = furtherFaces(face)
  const places = ids
    .slice()
    .sort((a, b) => a - b)
    .map(id => {
      const { position = 0, blockNumber = 0 } = chains.get(id) ?? {}
      const further = own.map(of => `:${catalogue.chain(id, of)?.position ?? 0}`).join('')
      // A table that gets its older rows changes answers while nothing moves.
      return `${id}:${position}:${blockNumber}${further}:${[...(filling.get(id) ?? [])].sort()}`
    })
  return `${registryPosition} ${replays} ${places.join(' ')}`
}

const priceGrounds = new WeakMap<Catalogue, Map<number, Set<number>>>()

/** The chains named and those on which the prices of their assets are quoted. */
function groundWithPrices(catalogue: Catalogue, ground: readonly number[]): number[] {
  let behind = priceGrounds.get(catalogue)
  if (!behind) {
    behind = new Map()
    for (const { chainId, plan } of catalogue.assets.values()) {
      for (const other of [plan?.feed, ...(plan?.vaults ?? [])]) {
        if (!other || other.chainId === chainId) continue
        behind.set(chainId, (behind.get(chainId) ?? new Set()).add(other.chainId))
      }
    }
    priceGrounds.set(catalogue, behind)
  }
  const whole = new Set(ground)
  for (const chainId of whole) for (const other of behind.get(chainId) ?? []) whole.add(other)
  return [...whole]
}
