import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { isNetworkName, type Network, networkIds, networks, noNetwork } from '../../db/networks.ts'
import { ConfigError, VaultlogError } from '../../db/process/errors.ts'
import { print } from '../command.ts'
import { askEndpoint, type Wanted, writeEnv } from '../init.ts'

export default function add(program: Command): void {
  program
    .command('init')
    .description(
      'ask which networks to index and by which nodes, check them, and write a commented .env here',
    )
    .option('--force', 'write over an .env that is there')
    .action(async (options: { force?: boolean }) => {
      try {
        if (existsSync('.env') && !options.force)
          throw new ConfigError('There is an .env here already. Change it by hand, or say --force.')
        const wanted = await ask()
        await writeFile('.env', writeEnv(readFileSync(example(), 'utf8'), wanted), { mode: 0o600 })
        print(
          `\nWrote .env with ${wanted.length} network${wanted.length === 1 ? '' : 's'}; every setting is explained in it. Next: npm run dev (of the package: npx vaultlog dev).`,
        )
      } catch (error) {
        if (!(error instanceof VaultlogError)) throw error
        process.stderr.write(`${error.message}\n`)
        process.exitCode = 1
      }
    })
}

/** In the repository's root, or in that of the package, which has what runs in dist/. */
function example(): string {
  const found = ['../../.env.example', '../../../.env.example']
    .map(path => fileURLToPath(new URL(path, import.meta.url)))
    .find(path => existsSync(path))
  if (!found) throw new ConfigError('.env.example is missing beside Vaultlog: install it again.')
  return found
}

async function ask(): Promise<Wanted[]> {
  const terminal = createInterface({ input: process.stdin })
  const lines = terminal[Symbol.asyncIterator]()
  const question = async (text: string): Promise<string> => {
    process.stdout.write(`${text} `)
    const { value, done } = await lines.next()
    if (done) throw new ConfigError('\nThe answers ended too soon: nothing was written.')
    return value.trim()
  }
  try {
    print(`Networks: ${networkIds.map(({ name }) => name).join(', ')}.`)
    const chosen = await until(() => question('Which ones, separated by commas?'), namesOf)
    const wanted: Wanted[] = []
    for (const network of chosen) {
      const rpc = await until(
        () => question(`\nRPC endpoints of ${network.name}, the preferred one first, separated by commas?`),
        text => checked(network, text),
      )
      const portal =
        network.portal !== undefined &&
        !/^n/i.test(
          await question(`Its history from SQD's public Portal, which is days faster than a node? [Y/n]`),
        )
      wanted.push({ network, rpc, portal })
    }
    return wanted
  } finally {
    terminal.close()
  }
}

/** Asks again until the answer is one. */
async function until<T>(
  question: () => Promise<string>,
  read: (answer: string) => T | Promise<T>,
): Promise<T> {
  for (;;) {
    const answer = await question()
    try {
      return await read(answer)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      print(`  ${error.message}`)
    }
  }
}

const partsOf = (text: string) =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(Boolean)

function namesOf(text: string): Network[] {
  const names = [...new Set(partsOf(text.toLowerCase()))]
  if (names.length === 0) throw new ConfigError('Name one at least.')
  return names.map(name => {
    if (!isNetworkName(name)) throw new ConfigError(`Sorry, ${noNetwork(name)}`)
    return networks[name]
  })
}

async function checked(network: Network, text: string): Promise<string[]> {
  const urls = partsOf(text)
  if (urls.length === 0) throw new ConfigError('Give one at least.')
  for (const url of urls) {
    const { head, time, isArchive } = await askEndpoint(network, url)
    const age = Math.max(0, Math.round(Date.now() / 1000 - time))
    print(
      `  a node of ${network.name}, at block ${head}, ${age} s old; ${
        isArchive
          ? 'an archive: samples begin with the history'
          : 'no archive: logs are indexed to the end, samples begin where it has state'
      }`,
    )
  }
  return urls
}
