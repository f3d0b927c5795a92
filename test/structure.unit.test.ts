import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { splitStatements } from '../db/clickhouse/migrate.ts'
import { networkIds } from '../db/networks.ts'
import { PROTOCOLS } from '../db/protocols.ts'
import { loadProjections, tablesOf } from '../jobs/projection.ts'

const root = join(import.meta.dirname, '..')

/** Which top-level folders a folder may import from: the data flow, one way. */
const MAY_IMPORT: Record<string, string[]> = {
  abi: ['abi', 'db'],
  db: ['db'],
  processors: ['processors', 'db', 'abi'],
  jobs: ['jobs', 'db'],
  'read-api': ['read-api', 'db', 'abi'],
  test: ['test', 'processors', 'jobs', 'read-api', 'db', 'abi'],
  bench: ['bench', 'test', 'processors', 'jobs', 'read-api', 'db', 'abi'],
}
const LONGEST = 450
const LONGEST_VIEW = 40
const FORBIDDEN = new Set(['utils', 'helpers', 'common', 'services'])

const folders = readdirSync(root, { withFileTypes: true })
  .filter(
    entry =>
      entry.isDirectory() &&
      !entry.name.startsWith('.') &&
      entry.name !== 'node_modules' &&
      entry.name !== 'dist',
  )
  .map(({ name }) => name)

const files = folders.flatMap(folder =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => join(folder, file)),
)

function importsOf(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8')
  return [...source.matchAll(/^(?:import|export|\}).*?from '(\.[^']+)'/gm)].map(([, path]) =>
    normalize(join(dirname(file), path ?? '')),
  )
}

/** Without comments, and without strings that are prose. */
function codeOf(file: string): string {
  return readFileSync(join(root, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '')
    .replace(/(['"`])(?:(?!\1)[^\n\\]|\\.)* (?:(?!\1)[^\n\\]|\\.)*\1/g, "''")
}

describe('the tree', () => {
  test('has the folders of the design and no others', () => {
    expect(
      folders.filter(folder => !(folder in MAY_IMPORT) && folder !== 'deploy' && folder !== 'docs'),
    ).toEqual([])
    expect(files.filter(file => file.split('/').some(part => FORBIDDEN.has(part)))).toEqual([])
  })

  test('imports point one way', () => {
    const wrong = files.flatMap(file => {
      const [folder = ''] = file.split('/')
      return importsOf(file)
        .filter(target => !MAY_IMPORT[folder]?.includes(target.split('/')[0] ?? ''))
        .map(target => `${file} imports ${target}`)
    })
    expect(files.length).toBeGreaterThan(100)
    expect(wrong).toEqual([])
  })

  test('no file imports itself by way of others, types included', () => {
    const own = files.filter(file => !file.startsWith('test/'))
    const left = new Map(own.map(file => [file, importsOf(file)]))
    expect([...left.values()].flat().length).toBeGreaterThan(1_000)
    // What imports nothing that is left, or is imported by nothing that is left, is in no circle.
    for (let before = 0; before !== left.size; ) {
      before = left.size
      for (const [file, targets] of left)
        if (!targets.some(target => left.has(target) && target !== file)) left.delete(file)
      const imported = new Set([...left.values()].flat())
      for (const file of left.keys()) if (!imported.has(file)) left.delete(file)
    }
    expect([...left.keys()]).toEqual([])
  })

  test(`no file is longer than ${LONGEST} lines`, () => {
    const long = files
      .filter(file => !file.startsWith('abi/'))
      .map(file => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length }))
      .filter(({ lines }) => lines > LONGEST)
    expect(long).toEqual([])
  })

  test(`no view of ClickHouse is longer than ${LONGEST_VIEW} lines, its comment aside`, () => {
    const folder = join(root, 'db/clickhouse/migrations')
    const views = readdirSync(folder)
      .flatMap(file => splitStatements(readFileSync(join(folder, file), 'utf8')))
      .filter(statement => /^CREATE (OR REPLACE )?VIEW/.test(statement))
      .map(statement => statement.split("\nCOMMENT '")[0] ?? '')
    expect(views.length).toBeGreaterThan(100)
    expect(views.filter(view => view.split('\n').length > LONGEST_VIEW)).toEqual([])
  })

  /** By what code calls a protocol beside its name on the wire. */
  const NICKNAMES: Record<string, string[]> = {
    compound: ['comet'],
    euler: ['evk', 'evault'],
  }
  /** What a standard or a kind of vault is called is no name of a protocol. */
  const KINDS = new Set(['erc20', 'erc4626', 'chainlink', 'staked-token', 'spl-stake-pool'])
  const names = new Set(Object.values(PROTOCOLS).flatMap(({ name }) => (KINDS.has(name) ? [] : [name])))

  test.each([...names])('%s is at home: at most three files outside its folders name it', name => {
    const words = [name, ...(NICKNAMES[name] ?? [])]
    const own = Object.entries(PROTOCOLS).flatMap(([slug, of]) => (of.name === name ? [slug] : []))
    const isOwn = (file: string) =>
      file.split('/').some(part => [...own, ...words].some(word => part.replace('.ts', '').startsWith(word)))
    const naming = files
      .filter(file => /^(db|processors|jobs|read-api)\//.test(file) && !isOwn(file))
      .filter(file => words.some(word => new RegExp(`\\b${word}`, 'i').test(codeOf(file))))
    expect(naming.length, naming.join(', ')).toBeLessThanOrEqual(3)
  })

  /** What is stored, told to somebody, or compared with a time that another machine has said. */
  const TELL_THE_TIME = [
    'db/registry/ignored.ts',
    'db/status.ts',
    'db/webhooks/test-message.ts',
    'jobs/commands/init.ts',
    'jobs/commands/migrate.ts',
    'jobs/commands/registry.ts',
    'jobs/commands/status.ts',
    'jobs/dev.ts',
    'jobs/watch.ts',
    'jobs/worker.ts',
    'processors/metrics.ts',
    'processors/source/portal-client.ts',
    'read-api/catalogue/metrics.ts',
    'read-api/endpoints/v2/benchmarks/benchmark.ts',
    'read-api/http/payments.ts',
    'read-api/moment/time-range.ts',
    'read-api/ops/history.ts',
    'read-api/ops/status.ts',
    'read-api/webhooks/delivery.ts',
  ]

  test('how long something lasts is measured by a clock that nobody sets', () => {
    const asking = files
      .filter(file => /^(db|processors|jobs|read-api)\//.test(file) && /\bDate\.now\(/.test(codeOf(file)))
      .sort()
    expect(asking).toEqual(TELL_THE_TIME)
  })

  test('files are sent by a root: below a folder whose name begins with a dot an absolute path is 404', () => {
    const sent = files
      .filter(file => file.startsWith('read-api/'))
      .flatMap(file => readFileSync(join(root, file), 'utf8').match(/\.sendFile\(.*/g) ?? [])
    expect(sent.length).toBeGreaterThan(0)
    expect(sent.filter(call => !/\.sendFile\([^(]*, \{ root: /.test(call))).toEqual([])
  })

  test('what the read API asks of another face than the core is asked by that face’s own modules', async () => {
    const projections = await loadProjections()
    const faceOf = new Map(projections.flatMap(of => tablesOf(of).map(table => [table, of.face] as const)))
    const asking = files
      .filter(file => file.startsWith('read-api/'))
      .flatMap(file =>
        [...readFileSync(join(root, file), 'utf8').matchAll(/(?:FROM |JOIN |newest\(')(\w+)/g)].flatMap(
          ([, table = '']) => [{ file, face: faceOf.get(table) }],
        ),
      )
    expect(asking.filter(({ face }) => face === 'core').length).toBeGreaterThan(15)
    expect(asking.filter(({ face }) => face === 'lending').length).toBeGreaterThan(15)
    const strangers = asking.filter(
      ({ file, face }) => face === 'lending' && !/^read-api\/(lending|protocols)\//.test(file),
    )
    expect(strangers).toEqual([])
    expect(asking.filter(({ face }) => face === 'attribution')).toEqual([])
  })

  test('an endpoint that reads lending markets says that it stands on them', () => {
    const endpoints = files.filter(file => /^read-api\/endpoints\/.*\.ts$/.test(file))
    const texts = endpoints.map(file => ({ file, text: readFileSync(join(root, file), 'utf8') }))
    const readers = texts.filter(({ text }) =>
      /from '.*\/(lending\/(book|events|history|positions)|vaults\/analytics)\.ts'/.test(text),
    )
    expect(readers.length).toBeGreaterThan(8)
    expect(readers.filter(({ text }) => !text.includes("face: 'lending'")).map(({ file }) => file)).toEqual(
      [],
    )
  })

  test('no package of the lock runs a script of its own at install, or wants a newer Node than 20.19', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<
        string,
        { hasInstallScript?: boolean; engines?: { node?: string }; optional?: boolean }
      >
    }
    const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      allowScripts: Record<string, boolean>
    }
    const nameOf = (path: string) => path.split('node_modules/').at(-1) ?? ''
    const scripts = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
    expect(scripts.length).toBeGreaterThan(5)
    expect(scripts.map(([path]) => nameOf(path)).filter(name => allowScripts[name] !== false)).toEqual([])
    const newer = Object.entries(packages).filter(([, { engines }]) => {
      const oldest = (engines?.node ?? '').split('||').map(range => Number(/\d+/.exec(range)?.[0] ?? 0))
      return Math.min(...oldest) > 20
    })
    expect(newer.map(([path, { engines }]) => `${path} ${engines?.node}`)).toEqual([])
  })

  test('package-lock.json names what every package takes along on any platform: without, npm ci refuses', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>
    }
    /** Where a package below `from` finds another: beside it, or in a folder further up. */
    const isThere = (from: string, name: string): boolean => {
      if (packages[join(from, 'node_modules', name)]) return true
      if (from === '') return false
      const up = from.lastIndexOf('/node_modules/')
      return isThere(up < 0 ? '' : from.slice(0, up), name)
    }
    const missing = Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(name => !isThere(from, name)),
    )
    expect(Object.keys(packages).length).toBeGreaterThan(500)
    expect(missing).toEqual([])
  })

  test('squid.yaml runs every process: one processor per network, worker, API, GraphQL', () => {
    const manifest = readFileSync(join(root, 'squid.yaml'), 'utf8')
    const commands = [...manifest.matchAll(/cmd: \[(.*)\]/g)].map(
      ([, list]) => JSON.parse(`[${list}]`) as string[],
    )
    const scripts = commands.flatMap(command => command.filter(word => word.endsWith('.ts')))
    expect(scripts.filter(script => !files.includes(script))).toEqual([])
    expect(new Set(scripts)).toEqual(
      new Set(['jobs/cli.ts', 'processors/main.ts', 'jobs/main.ts', 'read-api/main.ts', 'db/graphql.ts']),
    )
    const processors = commands
      .filter(command => command.includes('processors/main.ts'))
      .map(command => command.at(-1))
    expect(processors).toEqual([...networkIds.map(({ name }) => name), 'solana'])
    // An add-on's database is told of in variables that nobody here reads.
    expect(manifest).not.toMatch(/addons:/)
  })
})
