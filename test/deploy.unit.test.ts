import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { EVERY_PARTNER } from '../db/clickhouse/every-partner.ts'
import { CHANGEABLE } from '../db/embedded/clickhouse-wire.ts'
import { networkIds } from '../db/networks.ts'
import { API_COMMAND } from '../db/process/api-command.ts'
import { envSchema } from '../db/process/env.ts'
import { SOLANA } from '../db/streams.ts'

const root = join(import.meta.dirname, '..')
const deploy = join(root, 'deploy')

interface Service {
  restart?: string
  image?: string
  command?: string[]
  environment?: Record<string, string>
  volumes?: string[]
  depends_on?: string[] | Record<string, unknown>
}
interface Compose {
  services: Record<string, Service>
  volumes: Record<string, unknown>
}

const read = (file: string): Compose =>
  parse(readFileSync(join(deploy, file), 'utf8'), { merge: true, maxAliasCount: -1 })
const alone = read('compose.yml')
const cluster = read('compose.cluster.yml')
const files = { 'compose.yml': alone, 'compose.cluster.yml': cluster }

describe('deploy/', () => {
  it('runs every process, one processor per network and one of Solana', () => {
    const scripts = Object.values(alone.services).flatMap(
      ({ command }) => command?.filter(word => /\.(ts|sh)$/.test(word)) ?? [],
    )
    expect(scripts.filter(script => !existsSync(join(root, script)))).toEqual([])
    expect(new Set(scripts)).toEqual(
      new Set(['jobs/cli.ts', 'deploy/processor.sh', 'jobs/main.ts', 'read-api/main.ts', 'db/graphql.ts']),
    )
    const processors = Object.values(alone.services).filter(({ command }) =>
      command?.includes('deploy/processor.sh'),
    )
    expect(processors.map(({ command }) => command?.at(-1))).toEqual(
      [...networkIds, SOLANA].map(({ name }) => name),
    )
  })

  it('brings everything back after the start of the machine', () => {
    // Docker starts what is on-failure again after a crash only, not with itself.
    const all = [...Object.entries(alone.services), ...Object.entries(cluster.services)]
    const others = all.filter(([, { image, restart }]) => image && restart !== 'unless-stopped')
    expect(others.map(([name]) => name)).toEqual(['migrate'])
  })

  it('runs the processor of a network that is enabled, and waits in place of another', async () => {
    // What stands in place of node says what it was started with.
    const folder = mkdtempSync(join(tmpdir(), 'vaultlog-node-'))
    writeFileSync(join(folder, 'node'), '#!/bin/sh\necho started: "$@"\n', { mode: 0o755 })
    const run = (env: NodeJS.ProcessEnv) => {
      const PATH = `${folder}:${process.env['PATH']}`
      return spawn('sh', [join(deploy, 'processor.sh'), 'mega-eth'], { env: { PATH, ...env } })
    }
    try {
      for (const env of [{ RPC_MEGA_ETH: 'http://x' }, { PORTAL_MEGA_ETH: 'sqd', RPC_MEGA_ETH: '' }]) {
        const [said] = (await once(run(env).stdout, 'data')) as [Buffer]
        expect(String(said)).toBe('started: --import tsx processors/main.ts mega-eth\n')
      }
      const waiting = run({ RPC_MEGA_ETH: ' ', RPC_BASE: 'http://x' })
      const [said] = (await once(waiting.stdout, 'data')) as [Buffer]
      expect(String(said)).toMatch(/^mega-eth is not enabled: .*RPC_MEGA_ETH/)
      waiting.kill('SIGTERM')
      expect(await once(waiting, 'exit')).toEqual([0, null])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('keeps containers at what files beside it name', () => {
    const text = (file: string) => readFileSync(join(deploy, file), 'utf8')
    const ours = Object.values(alone.services).filter(({ image }) => image === 'vaultlog')
    const [, port] = /server api:(\d+)/.exec(text('nginx.conf')) ?? []
    for (const { environment } of ours) expect(environment).toMatchObject({ API_PORT: port })
  })

  it('has no password that everybody knows', () => {
    for (const file of ['compose.yml', 'compose.cluster.yml']) {
      const text = readFileSync(join(deploy, file), 'utf8')
      const given = [...text.matchAll(/\$\{(\w*PASSWORD)([^}]*)\}/g)]
      expect(given.filter(([, , rest = '']) => !rest.startsWith(':?')).map(([all]) => all)).toEqual([])
      // Postgres and ClickHouse without one let everybody in, or have one of their own.
      expect(text).not.toMatch(/(PASSWORD|requirepass)[:,] ["']?[a-z]+["']?$/m)
    }
    expect(alone.services['redis']?.command).toContain('--requirepass')
    expect(readFileSync(join(deploy, 'clickhouse/users.xml'), 'utf8')).not.toContain('::/0')
  })

  it('signs every process in as a role of its own, with passwords of whatever signs', () => {
    const roles = readFileSync(join(deploy, 'postgres/roles.sql'), 'utf8')
    const script = readFileSync(join(deploy, 'postgres/roles.sh'), 'utf8')
    const ours = Object.entries(alone.services).filter(([, { image }]) => image === 'vaultlog')
    for (const [name, { environment = {} }] of ours) {
      const [, user] = /^postgres:\/\/(\w+)@/.exec(environment['DATABASE_URL'] ?? '') ?? []
      const kind = name.startsWith('processor-') ? 'processor' : name
      expect(user, name).toBe(kind === 'migrate' ? 'vaultlog' : `vaultlog_${kind}`)
      expect(roles).toContain(`CREATE ROLE ${user} LOGIN`)
      const [, given] = /^\$\{(\w+):\?/.exec(environment['DATABASE_PASSWORD'] ?? '') ?? []
      expect(given).toBe(`DATABASE_${kind === 'migrate' ? 'OWNER' : kind.toUpperCase()}_PASSWORD`)
      expect(script).toContain(`DATABASE_${kind === 'migrate' ? 'OWNER' : kind.toUpperCase()}_PASSWORD`)
      expect(alone.services['postgres']?.environment).toHaveProperty(String(given))
      // In an address a password would have to be of letters and digits.
      for (const [setting, value] of Object.entries(environment))
        expect(/:\/\/.*PASSWORD/.test(value), `${name} ${setting}`).toBe(false)
      // .env is given to all of them.
      for (const other of ['POSTGRES_PASSWORD', 'DATABASE_OWNER_PASSWORD', 'DATABASE_API_PASSWORD'])
        expect(environment[other], `${name} ${other}`).toBe('')
    }
  })

  it('lets tools of analysts change the settings that the embedded ClickHouse lets them change, and no others', () => {
    const users = readFileSync(join(deploy, 'clickhouse/users.xml'), 'utf8')
    const [, constraints = ''] = /<constraints>(.*?)<\/constraints>/s.exec(users) ?? []
    const changeable = [...constraints.matchAll(/<(\w+)>(.*?)<changeable_in_readonly\/><\/\1>/g)]
    const bounded = changeable.filter(([, , bounds]) => bounds !== '').map(([, name]) => name)
    expect(bounded).toEqual(['max_execution_time', 'max_result_rows', 'max_memory_usage'])
    for (const name of bounded) {
      const [, limit] = new RegExp(`<${name}>(\\d+)</${name}>`).exec(users) ?? []
      expect(constraints).toContain(`<${name}><min>1</min><max>${limit}</max>`)
    }
    expect(changeable.filter(([, , bounds]) => bounds === '').map(([, name]) => name)).toEqual(CHANGEABLE)
  })

  it('has what analysts join find every partner, as the embedded ClickHouse has', () => {
    const users = readFileSync(join(deploy, 'clickhouse/users.xml'), 'utf8')
    const [, analyst = ''] = /<analyst>(.*?)<constraints>/s.exec(users) ?? []
    for (const [name, value] of Object.entries(EVERY_PARTNER))
      expect(analyst).toContain(`<${name}>${value}</${name}>`)
  })

  it('has workers and API sign in to ClickHouse as users who do what they do, and nobody else but the owner', () => {
    const users = readFileSync(join(deploy, 'clickhouse/users.xml'), 'utf8')
    const grantsOf = (user: string) => {
      const [, of = ''] =
        new RegExp(`<${user}>\\s*<password from_env="CLICKHOUSE_[A-Z]+_PASSWORD"/>(.*?)</${user}>`, 's').exec(
          users,
        ) ?? []
      return [...of.matchAll(/GRANT ([A-Z, ]+) ON (\S+)</g)].map(([, right, what]) => `${right} ${what}`)
    }
    const common = ['SELECT vaultlog_internal.*', 'CREATE TEMPORARY TABLE *.*', 'REMOTE *.*']
    expect(grantsOf('vaultlog_worker')).toEqual(['SELECT, INSERT, ALTER DELETE vaultlog.*', ...common])
    expect(grantsOf('vaultlog_api')).toEqual(['SELECT vaultlog.*', ...common])
    const ours = Object.entries(alone.services).filter(([, { image }]) => image === 'vaultlog')
    for (const [name, { environment = {} }] of ours) {
      const url = environment['CLICKHOUSE_URL']
      const password = environment['CLICKHOUSE_PASSWORD']
      const own = { worker: 'vaultlog_worker', api: 'vaultlog_api', migrate: 'default' }[name]
      expect(url, name).toBe(own && `http://${own}@clickhouse:8123`)
      const setting = {
        worker: 'CLICKHOUSE_WORKER_PASSWORD',
        api: 'CLICKHOUSE_API_PASSWORD',
        migrate: 'CLICKHOUSE_PASSWORD',
      }[name]
      expect(password, name).toBe(setting ? `\${${setting}:?set it in .env}` : '')
      if (setting) expect(alone.services['clickhouse']?.environment).toHaveProperty(setting)
      for (const other of ['CLICKHOUSE_WORKER_PASSWORD', 'CLICKHOUSE_API_PASSWORD'])
        expect(environment[other], `${name} ${other}`).toBe('')
    }
  })

  it('names user and database of the data team as .env does', () => {
    const folder = mkdtempSync(join(tmpdir(), 'vaultlog-analyst-'))
    const run = (env: NodeJS.ProcessEnv) =>
      spawnSync('sh', [join(deploy, 'clickhouse/users.sh'), 'started:'], {
        env: {
          PATH: process.env['PATH'],
          TEMPLATE: join(deploy, 'clickhouse/users.xml'),
          USERS_DIR: folder,
          ENTRYPOINT: 'echo',
          ...env,
        },
        encoding: 'utf8',
      })
    const written = () => readFileSync(join(folder, 'users.xml'), 'utf8')
    try {
      expect(run({}).stdout).toBe('started:\n')
      expect(written()).toBe(readFileSync(join(deploy, 'clickhouse/users.xml'), 'utf8'))
      run({ CLICKHOUSE_READONLY_USER: 'data_team', CLICKHOUSE_DATABASE: 'defi' })
      expect(written()).toContain('<query>GRANT SELECT ON defi.*</query>')
      expect(written().match(/<\/?data_team>/g)).toHaveLength(6)
      expect(written()).toContain('<profile>data_team</profile>')
      expect(written()).not.toMatch(/analyst>|>analyst|vaultlog\.\*|vaultlog_internal/)
      expect(written().match(/GRANT SELECT ON defi_internal\.\*/g)).toHaveLength(2)
      for (const name of ['default', 'a b', '1st', 'x;y', '../x']) {
        const refused = run({ CLICKHOUSE_READONLY_USER: name })
        expect([refused.status, refused.stdout], name).toEqual([1, ''])
        expect(refused.stderr).toContain(`'${name}' cannot be used`)
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('scrapes every process where it listens, and has the alert rules', () => {
    interface Job {
      job_name: string
      dns_sd_configs?: { names: string[]; port: number }[]
      static_configs?: { targets: string[] }[]
    }
    const { rule_files, scrape_configs } = parse(readFileSync(join(deploy, 'prometheus.yml'), 'utf8')) as {
      rule_files: string[]
      scrape_configs: Job[]
    }
    const job = (name: string) => scrape_configs.find(({ job_name }) => job_name === name)
    const port = (name: string) => Number(alone.services['api']?.environment?.[`${name}_METRICS_PORT`])
    expect(rule_files).toEqual(['prometheus-alerts.yml'])
    for (const name of ['worker', 'api'])
      expect(job(name)?.dns_sd_configs).toMatchObject([{ names: [name], port: port(name.toUpperCase()) }])
    expect(job('processor')?.static_configs?.flatMap(({ targets }) => targets)).toEqual(
      [...networkIds, SOLANA].map(({ name }, i) => `processor-${name}:${port('PROCESSOR') + i}`),
    )
  })

  it('knows whether the process of a container lives', async () => {
    const server = createServer((_request, response) => response.writeHead(status).end())
    let status = 200
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const live = async (from: number, to: number) =>
      (await once(spawn(process.execPath, [join(deploy, 'live.mjs'), String(from), String(to)]), 'exit'))[0]
    expect(await live(port, port)).toBe(0)
    status = 500
    expect(await live(port, port)).toBe(1)
    await new Promise(resolve => server.close(resolve))
    expect(await live(port, port)).toBe(1)
    const waiting = spawn('sh', [join(deploy, 'processor.sh'), 'base'], {
      env: { PATH: process.env['PATH'] },
    })
    await once(waiting.stdout, 'data')
    expect(await live(port, port)).toBe(0)
    waiting.kill('SIGTERM')
    await once(waiting, 'exit')
  })

  it('asks whether its processes live, and keeps their memory and their logs within bounds', () => {
    for (const [name, { image }] of Object.entries(alone.services))
      if (!['migrate', 'proxy', 'prometheus'].includes(name))
        expect(alone.services[name], `${name} of ${image}`).toHaveProperty('healthcheck')
    for (const [name, service] of Object.entries(alone.services)) {
      expect(service, name).toHaveProperty('logging.options.max-size')
      if (service.image === 'vaultlog') expect(service, name).toHaveProperty('mem_limit')
    }
    // Reached by the other containers, and published by the proxy alone.
    const open = { HOST: '0.0.0.0', METRICS_HOST: '0.0.0.0', GRAPHQL_HOST: '0.0.0.0' }
    expect(alone.services['api']?.environment).toMatchObject(open)
    const published = Object.entries(alone.services).filter(([, service]) => 'ports' in service)
    expect(published.map(([name]) => name)).toEqual(['proxy'])
  })

  it('sends a payment to one replica, and believes no host that callers name', () => {
    const conf = readFileSync(join(deploy, 'nginx.conf'), 'utf8')
    const [plain = '', paid = ''] = [
      /location \/ \{([\s\S]*?)\n {4}\}/,
      /location @paid \{([\s\S]*?)\n {4}\}/,
    ].map(pattern => pattern.exec(conf)?.[1] ?? '')
    expect(plain).toMatch(/error_page 418 = @paid;\s+if \(\$http_payment_signature != ""\) \{ return 418; \}/)
    expect(paid).toContain('proxy_next_upstream off;')
    for (const location of [plain, paid])
      expect(location).toContain('proxy_set_header X-Forwarded-Host $http_host;')
    expect(plain).toContain('limit_req zone=')
  })

  it("keeps the operator's pages from the outside, however they are written", () => {
    const conf = readFileSync(join(deploy, 'nginx.conf'), 'utf8')
    const [, pattern = ''] = /location ~\* (\S+) \{ return 404; \}/.exec(conf) ?? []
    const isClosed = (path: string) => pattern !== '' && new RegExp(pattern, 'i').test(path)
    expect(['/ops', '/ops/', '/OPS/', '/Ops/queues', '/oPs/status.json'].filter(p => !isClosed(p))).toEqual(
      [],
    )
    expect(['/', '/v2/vaults', '/opsomething', '/v2/ops'].filter(isClosed)).toEqual([])
  })

  it('puts no settings into the image, and tells how those of .env are taken', () => {
    expect(readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')).toContain('**/.env')
    const documents = ['deploy/compose.yml', 'deploy/compose.cluster.yml', 'README.md', 'docs/operations.md']
    const commands = documents.flatMap(
      file => readFileSync(join(root, file), 'utf8').match(/docker compose .*-f .*/g) ?? [],
    )
    expect(commands.length).toBeGreaterThan(2)
    expect(commands.filter(command => !command.startsWith('docker compose --env-file .env '))).toEqual([])
  })

  it('starts the read API everywhere as it is started here, within its memory', () => {
    const text = (file: string) => readFileSync(join(root, file), 'utf8')
    const starts = [
      (JSON.parse(text('package.json')) as { scripts: { api: string } }).scripts.api.split(' '),
      (parse(text('squid.yaml')) as { deploy: { api: { cmd: string[] } } }).deploy.api.cmd,
      JSON.parse(/^CMD (.+)$/m.exec(text('deploy/Dockerfile'))?.[1] ?? '[]') as string[],
      alone.services['api']?.command ?? [],
    ]
    for (const command of starts) expect(command).toEqual(['node', '--import', 'tsx', ...API_COMMAND])
  })

  it('sets only what is read from the environment', () => {
    const ours = Object.values({ ...alone.services, ...cluster.services }).filter(({ command, image }) =>
      image ? image === 'vaultlog' : command === undefined,
    )
    const names = ours.flatMap(({ environment }) => Object.keys(environment ?? {}))
    const emptied = names.filter(name => ours.every(({ environment }) => (environment?.[name] ?? '') === ''))
    const known = new Set([
      ...Object.keys(envSchema.shape),
      ...emptied,
      ...Object.keys(alone.services['clickhouse']?.environment ?? {}),
      'SHARD',
      'REPLICA',
    ])
    expect(emptied.every(name => /PASSWORD$/.test(name))).toBe(true)
    expect(names.filter(name => !known.has(name))).toEqual([])
    expect(names).toContain('CLICKHOUSE_CLUSTER')
  })

  it.each(Object.entries(files))('mounts and waits for what there is: %s', (_, { services, volumes }) => {
    const all = { ...alone.services, ...services }
    for (const [name, { volumes: mounts = [], depends_on: waits = {} }] of Object.entries(services)) {
      for (const mount of mounts) {
        const [source = ''] = mount.split(':')
        const exists = source.startsWith('.') ? existsSync(join(deploy, source)) : source in volumes
        expect(exists, `${name} mounts ${source}`).toBe(true)
      }
      for (const other of Array.isArray(waits) ? waits : Object.keys(waits))
        expect(all).toHaveProperty([other])
    }
  })

  it('names in cluster.xml the nodes and keepers that there are, and the cluster that processes ask for', () => {
    const config = readFileSync(join(deploy, 'clickhouse/cluster.xml'), 'utf8')
    const hosts = [...config.matchAll(/<host>([\w-]+)<\/host>/g)].map(([, host]) => host ?? '')
    expect(hosts.length).toBe(7)
    const all = { ...alone.services, ...cluster.services }
    expect(hosts.filter(host => !(host in all))).toEqual([])
    expect(config).toContain(`<${cluster.services['api']?.environment?.['CLICKHOUSE_CLUSTER']}>`)
    const keepers = [
      ...readFileSync(join(deploy, 'clickhouse/keeper.xml'), 'utf8').matchAll(/<hostname>([\w-]+)/g),
    ].map(([, host]) => host ?? '')
    expect(keepers.filter(host => !(host in all))).toEqual([])
  })
})
