import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, newFolder } from '../embedded/places.ts'

const deploy = new URL('../../../deploy/clickhouse/', import.meta.url)
const configured = (file: string) => readFileSync(new URL(file, deploy), 'utf8')
const PASSWORD = 'of-the-test'
const KEEPERS = ['keeper-1', 'keeper-2', 'keeper-3']
/** By the names that deploy/clickhouse/cluster.xml has for them. */
const NODES = {
  clickhouse: { SHARD: '01', REPLICA: 'a' },
  'clickhouse-01-b': { SHARD: '01', REPLICA: 'b' },
  'clickhouse-02-a': { SHARD: '02', REPLICA: 'a' },
  'clickhouse-02-b': { SHARD: '02', REPLICA: 'b' },
} as const
export type ServerName = keyof typeof NODES

export interface ServerCluster {
  /** Of the first node, with its user. */
  url: string
  /** As deploy/ names it. */
  name: string
  kill(node: ServerName): Promise<void>
  /** Until it answers. */
  start(node: ServerName): Promise<void>
  stop(): Promise<void>
}

/** Two shards with two replicas each and three Keepers, from a ClickHouse binary, configured as deploy/ has it but for hosts, ports and folders. */
export async function startServerCluster(binary: string): Promise<ServerCluster> {
  const folder = newFolder('vaultlog-cluster-')
  const running = new Map<string, ChildProcess>()
  const run = (name: string, args: string[], env: Record<string, string>) => {
    const child = spawn(binary, args, {
      cwd: folder,
      stdio: 'ignore',
      env: { ...process.env, CLICKHOUSE_WATCHDOG_ENABLE: '0', ...env },
    })
    running.set(name, child)
  }
  const kill = async (name: string) => {
    const child = running.get(name)
    running.delete(name)
    if (!child || child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const keepers = await portsOf(KEEPERS, ['client', 'raft'])
  const servers = await portsOf(Object.keys(NODES), ['http', 'tcp', 'interserver'])
  const file = (name: string, ...parts: string[]) => {
    mkdirSync(join(folder, name, 'config.d'), { recursive: true })
    mkdirSync(join(folder, name, 'users.d'), { recursive: true })
    return join(folder, name, ...parts)
  }

  for (const [i, name] of KEEPERS.entries()) {
    writeFileSync(file(name, 'keeper.xml'), keeperConfig(file(name, 'data'), name, keepers))
    run(name, ['keeper', `--config-file=${file(name, 'keeper.xml')}`], { KEEPER_ID: String(i + 1) })
  }
  for (const name of Object.keys(NODES)) {
    writeFileSync(file(name, 'config.xml'), serverConfig(file(name), servers(name)))
    writeFileSync(file(name, 'users.xml'), USERS)
    writeFileSync(file(name, 'config.d', 'cluster.xml'), clusterConfig(keepers, servers))
    writeFileSync(file(name, 'users.d', 'users.xml'), configured('users.xml'))
  }
  const urlOf = (name: string) => `http://127.0.0.1:${servers(name)['http']}`
  const start = async (name: ServerName) => {
    run(name, ['server', `--config-file=${file(name, 'config.xml')}`], {
      ...NODES[name],
      CLICKHOUSE_PASSWORD: PASSWORD,
      CLICKHOUSE_WORKER_PASSWORD: PASSWORD,
      CLICKHOUSE_API_PASSWORD: PASSWORD,
      CLICKHOUSE_READONLY_PASSWORD: PASSWORD,
    })
    const answers = () =>
      fetch(`${urlOf(name)}/ping`).then(
        ({ ok }) => ok,
        () => false,
      )
    for (const until = Date.now() + 120_000; !(await answers()); await sleep(100))
      if (Date.now() > until)
        throw new Error(
          `${name} did not start: ${readFileSync(file(name, 'errors.log'), 'utf8').slice(-2000)}`,
        )
  }
  await Promise.all((Object.keys(NODES) as ServerName[]).map(start))
  return {
    url: `http://default:${PASSWORD}@127.0.0.1:${servers('clickhouse')['http']}`,
    name: 'vaultlog',
    kill,
    start,
    async stop() {
      await Promise.all([...running.keys()].map(kill))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Ports = (name: string) => Record<string, number>

async function portsOf(names: readonly string[], kinds: readonly string[]): Promise<Ports> {
  const found = new Map<string, Record<string, number>>()
  for (const name of names) {
    const ports: Record<string, number> = {}
    for (const kind of kinds) ports[kind] = await freePort()
    found.set(name, ports)
  }
  return name => found.get(name) ?? {}
}

/** Every name of a host with its port becomes this machine with a port of its own. */
const here = (xml: string, tag: string, portOf: (name: string) => number | undefined): string =>
  xml.replace(
    new RegExp(`<${tag}>([\\w-]+)</${tag}><port>\\d+</port>`, 'g'),
    (_, name: string) => `<${tag}>127.0.0.1</${tag}><port>${portOf(name)}</port>`,
  )

const clusterConfig = (keepers: Ports, servers: Ports): string =>
  here(configured('cluster.xml'), 'host', name => keepers(name)['client'] ?? servers(name)['tcp'])

const keeperConfig = (folder: string, name: string, keepers: Ports): string =>
  here(configured('keeper.xml'), 'hostname', other => keepers(other)['raft'])
    .replace('0.0.0.0', '127.0.0.1')
    .replace(/<tcp_port>\d+</, `<tcp_port>${keepers(name)['client']}<`)
    .replaceAll('/var/lib/clickhouse', folder)

const serverConfig = (folder: string, ports: Record<string, number>): string =>
  `<clickhouse>
  <logger><level>warning</level><log>${folder}/server.log</log><errorlog>${folder}/errors.log</errorlog></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${ports['http']}</http_port>
  <tcp_port>${ports['tcp']}</tcp_port>
  <interserver_http_host>127.0.0.1</interserver_http_host>
  <interserver_http_port>${ports['interserver']}</interserver_http_port>
  <path>${folder}/data/</path>
  <tmp_path>${folder}/tmp/</tmp_path>
  <user_files_path>${folder}/files/</user_files_path>
  <format_schema_path>${folder}/schemas/</format_schema_path>
  <max_server_memory_usage>2000000000</max_server_memory_usage>
  <users_config>users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
</clickhouse>`

/** As the image makes it of its environment. */
const USERS = `<clickhouse>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users><default>
    <password from_env="CLICKHOUSE_PASSWORD"/>
    <networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile>
    <quota>default</quota>
    <access_management>1</access_management>
  </default></users>
</clickhouse>`
