import { ReadyJson } from './endpoint.ts'

export interface Paging {
  page: number
  perPage: number
}

/** A page of items that are all at hand. */
export function pageOfAll<T>(items: readonly T[], { page, perPage }: Paging) {
  const start = page * perPage
  const data = items.slice(start, start + perPage)
  return { itemsOnPage: data.length, nextPage: start + perPage < items.length ? page + 1 : null, data }
}

/** A page of rows that were asked for with one more than fits: the one says that there is another page. */
export function pageOfRows<T>(rows: readonly T[], { page, perPage }: Paging) {
  const data = rows.slice(0, perPage)
  return { itemsOnPage: data.length, nextPage: rows.length > perPage ? page + 1 : null, data }
}

/** LIMIT and OFFSET for pageOfRows. */
export function limits({ page, perPage }: Paging) {
  return { limit: perPage + 1, offset: page * perPage }
}

/** A page of what passes, walking no further than needed, joined from parts that are JSON already. */
export function readyPage<T>(
  items: readonly T[],
  passes: (item: T) => boolean,
  { page, perPage }: Paging,
  json: (item: T) => string,
  extra = '',
): ReadyJson {
  const start = page * perPage
  const parts: string[] = []
  let seen = 0
  let more = false
  for (const item of items) {
    if (!passes(item)) continue
    if (seen++ < start) continue
    if (parts.length === perPage) {
      more = true
      break
    }
    parts.push(json(item))
  }
  return new ReadyJson(
    `{"itemsOnPage":${parts.length},"nextPage":${more ? page + 1 : 'null'},"data":[${parts.join(',')}]${extra}}`,
    parts.length,
  )
}
