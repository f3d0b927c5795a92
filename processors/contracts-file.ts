import { readFile } from 'node:fs/promises'
import { z } from 'zod'

const contractsFile = z.record(
  z.string(),
  z.record(z.string(), z.array(z.string().regex(/^0x[0-9a-fA-F]{40}$/))),
)

/** Contracts by kind that CONTRACTS_FILE names for a network, if there is one. */
export async function configuredContracts(
  file: string | undefined,
  network: string,
): Promise<Record<string, string[]> | undefined> {
  return file ? contractsFile.parse(JSON.parse(await readFile(file, 'utf8')))[network] : undefined
}
