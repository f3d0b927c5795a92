import { readdir } from 'node:fs/promises'
import { ConfigError } from '../db/process/errors.ts'
import type { ApiProtocol } from './protocol.ts'
import type { BorrowFamily } from './transactions/borrow/family.ts'
import type { TransactionFamily } from './transactions/family.ts'

/** Every folder of read-api/protocols, in order of name. A protocol is found by being there. */
async function loadApiProtocols(): Promise<ApiProtocol[]> {
  const folder = new URL('./protocols/', import.meta.url)
  const names = (await readdir(folder, { withFileTypes: true }))
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
  return Promise.all(
    names.map(async name => {
      const module = (await import(new URL(`./${name}/index.ts`, folder).href)) as { default?: ApiProtocol }
      if (!module.default)
        throw new ConfigError(
          `read-api/protocols/${name}/index.ts has no protocol as its default export: export default defineApiProtocol({…}).`,
        )
      return module.default
    }),
  )
}

const protocols = await loadApiProtocols()

/** Those of vaults: the special before the general, which takes what is left. */
export const vaultFamilies: readonly TransactionFamily[] = protocols
  .flatMap(({ vaults }) => vaults ?? [])
  .sort((a, b) => Number(a.isGeneral ?? false) - Number(b.isGeneral ?? false))

/** Those of lending markets; the market of the index names its protocol. */
export const borrowFamilies: readonly BorrowFamily[] = protocols.flatMap(({ borrow }) => borrow ?? [])
