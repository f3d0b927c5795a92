import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { networkIds } from '../db/networks.ts'
import { API_COMMAND } from '../db/process/api-command.ts'
import { envSchema } from '../db/process/env.ts'

const root = join(import.meta.dirname, '..')
const deploy = join(root, 'deploy')

interface Service {
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
  it('runs every process, one processor per network', () => {
    const scripts = Object.values(alone.services).flatMap(
      ({ command }) => command?.filter(word => word.endsWith('.ts')) ?? [],
    )
    expect(scripts.filter(script => !existsSync(join(root, script)))).toEqual([])
    expect(new Set(scripts)).toEqual(
      new Set(['jobs/cli.ts', 'processors/main.ts', 'jobs/main.ts', 'read-api/main.ts', 'db/graphql.ts']),
    )
    const processors = Object.values(alone.services).filter(({ command }) =>
      command?.includes('processors/main.ts'),
    )
    expect(processors.map(({ command }) => command?.at(-1))).toEqual(networkIds.map(({ name }) => name))
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
    const known = new Set([...Object.keys(envSchema.shape), 'CLICKHOUSE_PASSWORD', 'SHARD', 'REPLICA'])
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
