import { concat, pad } from 'viem'
import { type Emitted, emit, NOBODY } from '../chain/blocks.ts'
import type { GeneratedChain, GeneratedVault } from '../chain/generated-chain.ts'
import type { Check } from '../check.ts'
import { must, NETWORK, type System } from '../system.ts'

const MAX = 2n ** 256n - 1n

/** A vault of a name and symbol of its own, with a first deposit. */
function bear(chain: GeneratedChain, about: Partial<GeneratedVault>): GeneratedVault {
  const vault = chain.addVault(about)
  chain.mine([chain.deposit(vault, chain.people[0] ?? '', 10n ** 18n)])
  return vault
}

async function catalogued(system: System, vault: GeneratedVault) {
  const [row] = await system.rows<{ name: string; symbol: string }>(
    'SELECT name, symbol FROM vault FINAL WHERE vault = {vault:String}',
    { vault: vault.address },
  )
  must(row !== undefined, `the vault ${vault.address} is not there`)
  return row ?? { name: '', symbol: '' }
}

async function deadLetters(system: System) {
  const { rows } = await system.pool.query<{
    stage: string
    contract: string
    reason: string
    attempts: number
  }>('SELECT stage, contract, reason, attempts FROM dead_letter WHERE stream = $1 AND resolved_at IS NULL', [
    NETWORK.chainId,
  ])
  return rows
}

const atStart: Pick<Check, 'group' | 'phase'> = { group: 'data', phase: 'start' }
const run: Check['inject'] = async system => {
  system.start('processor', 'worker')
}

const checks: Check[] = [
  {
    ...atStart,
    name: 'an empty symbol, and one of NUL bytes and half characters',
    isQuick: true,
    prepare({ chain }) {
      chain.live(10)
      bear(chain, { symbol: '', name: '' })
      bear(chain, { symbol: 'A\0B\tC\\N', name: 'tab\tnew\nline \\ "quote" \u{1F512}\0' })
      chain.live(10)
    },
    inject: run,
    async expect(system) {
      const [, , empty, strange] = system.chain.vaults
      if (!empty || !strange) return
      must((await catalogued(system, empty)).symbol === '', 'an empty symbol is not empty')
      const found = await catalogued(system, strange)
      must(
        !found.symbol.includes('\0') && found.symbol.startsWith('AB'),
        `symbol ${JSON.stringify(found.symbol)}`,
      )
      must(found.name.includes('"quote" \u{1F512}'), `name ${JSON.stringify(found.name)}`)
    },
  },
  {
    ...atStart,
    name: 'log indices up to 0xffffffe2',
    prepare({ chain }) {
      chain.live(10)
      for (let i = 0; i < 4; i++) chain.mine([chain.act(), chain.act()], { firstLogIndex: 0xffffffe2 - 3 })
      chain.live(10)
    },
    inject: run,
    async expect(system) {
      const [row] = await system.rows<{ last: string }>(
        `SELECT toString(maxIf(log_index, log_index != 4294967295)) AS last FROM event WHERE stream = ${NETWORK.chainId}`,
      )
      must(Number(row?.last) >= 0xffffffe2 - 3, `the largest log index is ${row?.last}`)
    },
  },
  {
    ...atStart,
    name: 'amounts of 2^256 - 1: dead letters with every digit, nothing is added up, and no other vault suffers',
    isQuick: true,
    prepare({ chain }) {
      chain.live(10)
      const vault = bear(chain, {})
      const [a = '', b = ''] = chain.people
      // Nobody can own so much of an honest vault; anybody can deploy a contract that says so.
      chain.mine([[emit.deposit(vault.address, a, MAX, MAX)]])
      chain.mine([[emit.transfer(vault.address, NOBODY, b, MAX)]])
      chain.mine([[emit.deposit(vault.address, a, MAX, 1n), emit.withdraw(vault.address, a, MAX, 1n)]])
      chain.vaults.pop()
      chain.live(10)
      chain.vaults.push(vault)
    },
    async inject(system) {
      const liar = system.chain.vaults.at(-1)
      if (!liar) return undefined
      system.start('processor', 'worker')
      await system.settle()
      const { rows } = await system.pool.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM dead_letter WHERE stage = 'decode' AND contract = $1 AND reason LIKE $2`,
        [liar.address, `%${MAX}%`],
      )
      must(rows[0]?.n === 4, `${rows[0]?.n} of 4 logs with 2^256 - 1 are dead letters`)
      // Its tables are not compared: what it says does not add up.
      system.chain.vaults.pop()
      return `dead letters: ${JSON.stringify(await deadLetters(system))}`
    },
  },
  {
    ...atStart,
    name: '500 empty blocks',
    prepare({ chain }) {
      chain.live(20)
      chain.mineEmpty(500)
      chain.live(20)
    },
    inject: run,
  },
  {
    ...atStart,
    name: 'a transaction of 1,050 logs',
    isQuick: true,
    prepare({ chain }) {
      chain.live(10)
      const [vault] = chain.vaults
      const [a = '', b = ''] = chain.people
      if (!vault) return
      const burst: Emitted[] = []
      for (let i = 0; i < 350; i++)
        burst.push(...chain.deposit(vault, i % 2 ? a : b, 10n ** 18n), emit.transfer(vault.address, a, b, 1n))
      chain.mine([chain.deposit(vault, a, 10n ** 20n), burst])
      chain.live(10)
    },
    inject: run,
  },
  {
    ...atStart,
    phase: 'head',
    name: 'a log that cannot be read is a dead letter, once, and the rest goes on',
    isQuick: true,
    async inject(system) {
      const { chain } = system
      const [vault] = chain.vaults
      if (!vault) return
      const sound = chain.deposit(vault, chain.people[0] ?? '', 5n)
      const cut = { ...emit.deposit(vault.address, NOBODY, 1n, 1n), data: '0x01020304' as const }
      const long = { ...emit.transfer(vault.address, NOBODY, NOBODY, 1n), data: concat(['0x', pad('0x01')]) }
      chain.mine([[cut], sound])
      chain.mine([[{ ...long, data: '0x' }]])
      chain.live(5)
    },
    async expect(system) {
      const letters = (await deadLetters(system)).filter(({ stage }) => stage === 'decode')
      must(letters.length === 2, `dead letters: ${JSON.stringify(letters)}`)
      must(
        letters.every(({ attempts }) => attempts === 1),
        `a dead letter was tried again and again: ${JSON.stringify(letters)}`,
      )
    },
  },
]

export default checks
