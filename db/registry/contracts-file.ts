import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { networkIds, noNetwork } from '../networks.ts'
import { ConfigError } from '../process/errors.ts'

const contractsFile = z.record(
  z.string(),
  z.record(z.string(), z.array(z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address'))),
)
/** Contracts to watch, by network and kind; under `ignored`, those to leave alone. */
export type ContractsFile = z.infer<typeof contractsFile>

/**
 * What CONTRACTS_FILE says.
 *
 * @throws ConfigError where it cannot be read, is not of that shape, or names a network that there is not
 */
export async function readContractsFile(file: string): Promise<ContractsFile> {
  let content: unknown
  try {
    content = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new ConfigError(`CONTRACTS_FILE ${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    })
  }
  const parsed = contractsFile.safeParse(content)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new ConfigError(
      `CONTRACTS_FILE ${file} is no object of networks, kinds and addresses: ${issue?.path.join('.') || 'it'}: ${issue?.message}. See .env.example.`,
    )
  }
  const known = networkIds.map(({ name }) => name)
  const unknown = Object.keys(parsed.data).find(name => !known.includes(name))
  if (unknown !== undefined) throw new ConfigError(`CONTRACTS_FILE ${file}: ${noNetwork(unknown)}`)
  return parsed.data
}
