import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as book from '@aave-dao/aave-address-book'
import { z } from 'zod'

/** Markets as the published Aave address book has them, which also lists Chainlink's feeds and the reserves that they price. */

export const hex = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform(s => s.toLowerCase())
export const market = z.object({
  CHAIN_ID: z.number(),
  POOL_ADDRESSES_PROVIDER: hex,
  POOL: hex,
  POOL_CONFIGURATOR: hex,
  ORACLE: hex,
  ACL_MANAGER: hex,
  STATA_FACTORY: hex.optional(),
  DEFAULT_INCENTIVES_CONTROLLER: hex.optional(),
  ASSETS: z.record(
    z.string(),
    z.object({ UNDERLYING: hex, A_TOKEN: hex, V_TOKEN: hex, decimals: z.number() }),
  ),
})

const lockfile = z.object({ packages: z.record(z.string(), z.object({ version: z.string().optional() })) })

/** The package and its version, as the lockfile pins it. */
export function source(): string {
  const path = join(import.meta.dirname, '../../../package-lock.json')
  const { packages } = lockfile.parse(JSON.parse(readFileSync(path, 'utf8')))
  return `@aave-dao/aave-address-book@${packages['node_modules/@aave-dao/aave-address-book']?.version}`
}

/** Those of a network; `assets` as the book has them, with more than is checked. */
export function marketsOf(chainId: number) {
  return Object.entries(book)
    .filter(([name]) => name.startsWith('AaveV3'))
    .flatMap(([name, value]) => {
      const parsed = market.safeParse(value)
      return parsed.success && parsed.data.CHAIN_ID === chainId ? [{ name, ...parsed.data }] : []
    })
}
