import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { envSchema, networkVariables, readEnv } from '../../../db/process/env.ts'
import { ConfigError } from '../../../db/process/errors.ts'

const example = [
  ...readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8').matchAll(/^([A-Z0-9_]+)=/gm),
].map(match => match[1] ?? '')
const prefixes = Object.keys(networkVariables)

describe('environment', () => {
  it('has every variable of the schema in .env.example, once', () => {
    expect(new Set(example).size).toBe(example.length)
    for (const name of Object.keys(envSchema.shape)) expect(example).toContain(name)
    for (const prefix of prefixes) expect(example.some(name => name.startsWith(prefix))).toBe(true)
  })

  it('knows every variable of .env.example', () => {
    const known = new Set(Object.keys(envSchema.shape))
    const unknown = example.filter(name => !known.has(name) && !prefixes.some(p => name.startsWith(p)))
    expect(unknown).toEqual([])
  })

  it("has every variable in the README's table, once, and no other", () => {
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
    const table = readme.slice(readme.indexOf('| setting | default | what for |')).split('\n\n')[0] ?? ''
    const named = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([A-Z0-9_]+(?:<NETWORK>)?)`/g)].map(([, name]) => name),
    )
    const known = [...Object.keys(envSchema.shape), ...prefixes.map(prefix => `${prefix}<NETWORK>`)]
    expect([...named].sort()).toEqual(known.sort())
  })

  it('documents the defaults that the schema has', () => {
    const text = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')
    const values = Object.fromEntries([...text.matchAll(/^([A-Z0-9_]+)=(.*)$/gm)].map(m => [m[1], m[2]]))
    expect(readEnv(values)).toEqual(readEnv({}))
  })

  it('reads variables by network', () => {
    const env = readEnv({
      RPC_MAINNET: 'http://127.0.0.1:8545, http://second.example',
      RPC_MEGA_ETH: 'wss://rpc.example/x',
      RPC_BATCH_MEGA_ETH: '10',
      RPC_RATE_MAINNET: '2.5',
      GATEWAY_BASE: 'https://gateway.example',
      PORTAL_MEGA_ETH: 'https://portal.example/datasets/x, sqd',
      PORTAL_API_KEY_MEGA_ETH: 'k3y',
      START_BLOCK_MEGA_ETH: '123',
    })
    expect(env.rpc).toEqual({
      mainnet: ['http://127.0.0.1:8545', 'http://second.example'],
      'mega-eth': ['wss://rpc.example/x'],
    })
    expect([env.rpcBatch, env.rpcRate]).toEqual([{ 'mega-eth': 10 }, { mainnet: 2.5 }])
    expect(env.gateway).toEqual({ base: 'https://gateway.example' })
    expect(env.portal).toEqual({ 'mega-eth': ['https://portal.example/datasets/x', 'sqd'] })
    expect(env.portalKey).toEqual({ 'mega-eth': 'k3y' })
    expect(env.startBlock).toEqual({ 'mega-eth': 123 })
  })

  it.each(['sqd', 'https://v2.archive.subsquid.io/network/ethereum-mainnet'])(
    'says of the gateway %s, which wants a key, what to set in its place',
    gateway => {
      const read = () => readEnv({ GATEWAY_MAINNET: gateway })
      expect(read).toThrow(ConfigError)
      expect(read).toThrow(/GATEWAY_MAINNET: .*since 19 May 2026.* set PORTAL_MAINNET=sqd/)
    },
  )

  it('says of a network that the public Portal does not have that it does not', () => {
    expect(() => readEnv({ PORTAL_SWELLCHAIN: 'sqd' })).toThrow(
      /PORTAL_SWELLCHAIN: .*does not have swellchain/,
    )
    expect(readEnv({ PORTAL_SWELLCHAIN: 'http://own/x' }).portal).toEqual({ swellchain: ['http://own/x'] })
    expect(() => readEnv({ PORTAL_BASE: 'sqd', GATEWAY_BASE: 'http://own' })).toThrow(/set one of them/)
    expect(() => readEnv({ PORTAL_BASE: 'nope' })).toThrow(/PORTAL_BASE: must be sqd/)
  })

  it('names every bad variable', () => {
    const read = () =>
      readEnv({
        API_PORT: 'x',
        DATABASE_URL: 'mysql://h/db',
        RPC_BASE: 'nope',
        START_BLOCK_BASE: '-1',
        LOG_LEVEL: 'loud',
      })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(/API_PORT[\s\S]*RPC_BASE[\s\S]*START_BLOCK_BASE/)
    expect(read).toThrow(/DATABASE_URL: must be a URL that begins with postgres:\/\//)
    expect(read).toThrow(/LOG_LEVEL/)
  })

  it.each([
    ['RPC_MEGAETH', 'RPC_MEGA_ETH'],
    ['RPC_BNB', 'RPC_BSC'],
    ['GATEWAY_ETHEREUM', 'GATEWAY_MAINNET'],
    ['RPC_ABRITRUM', 'RPC_ARBITRUM'],
    ['START_BLOCK_BASSE', 'START_BLOCK_BASE'],
  ])('refuses %s, and says %s', (variable, meant) => {
    const read = () => readEnv({ [variable]: variable.startsWith('START') ? '1' : 'http://x' })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(new RegExp(`${variable}: .*did you mean ${meant}\\?`))
  })

  it('leaves alone what may be of another program, and takes it for no network', () => {
    const foreign = { RPC_URL: 'http://x', RPC_TIMEOUT: '30', GATEWAY_INTERFACE: 'CGI/1.1', PORTAL_URL: 'x' }
    expect(readEnv(foreign)).toEqual(readEnv({}))
    // Nobody else has such names.
    expect(() => readEnv({ FINALITY_SEPOLIA: '5' })).toThrow(/no network sepolia\. Networks: mainnet, /)
  })

  it('takes an empty value as unset', () => {
    expect(readEnv({ DATABASE_URL: '', API_PORT: ' ' })).toEqual(readEnv({}))
  })

  it('says of a password that is not encoded how it is written', () => {
    const read = (password: string) => () =>
      readEnv({ DATABASE_URL: `postgres://vaultlog:${password}@db:5432/vaultlog` })
    for (const password of ['p@ss:w/rd#', 'a/b', 'a#b', 'a?b'])
      expect(read(password)).toThrow(/percent-encode/)
    const encoded = encodeURIComponent('p@ss:w/rd#')
    expect(new URL(read(encoded)().DATABASE_URL ?? '').password).toBe(encoded)
  })
})
