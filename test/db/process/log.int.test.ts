import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'vaultlog-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const module = (path: string) => JSON.stringify(new URL(`../../../${path}`, import.meta.url).href)

/** The level of the log after the environment was read, in a folder with this `.env`. */
function levelWith(file: string, level: string): string {
  writeFileSync(join(folder, '.env'), file)
  const program = `
    import { log } from ${module('db/process/log.ts')}
    import { readEnv } from ${module('db/process/env.ts')}
    try { readEnv() } catch (error) { console.log(error.code, error.message); process.exit() }
    console.log(log.level)`
  const tsx = import.meta.resolve('tsx')
  return execFileSync(process.execPath, ['--import', tsx, '--input-type=module', '-e', program], {
    cwd: folder,
    env: { ...process.env, LOG_LEVEL: level },
    encoding: 'utf8',
  }).trim()
}

it('is as loud as .env says, unless the environment says otherwise; an empty value is none', () => {
  expect(levelWith('', '')).toBe('info')
  expect(levelWith('LOG_LEVEL=error\n', 'debug')).toBe('debug')
  expect(levelWith('LOG_LEVEL=verbose\n', 'silent')).toBe('silent')
})

it('says of a level that there is not which setting it is', () => {
  expect(levelWith('', 'verbose')).toMatch(/CONFIG.*LOG_LEVEL/s)
})

it('is JSON in a pipe, and lines for people where that is wanted, by .env too', () => {
  const said = (file: string, format: string) => {
    writeFileSync(join(folder, '.env'), file)
    const program = `
      import { log } from ${module('db/process/log.ts')}
      import { readEnv } from ${module('db/process/env.ts')}
      readEnv()
      log.info({ chain: 'base' }, 'hello')`
    return spawnSync(
      process.execPath,
      ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', program],
      {
        cwd: folder,
        env: { ...process.env, LOG_LEVEL: 'info', NO_COLOR: '1', ...(format ? { LOG_FORMAT: format } : {}) },
        encoding: 'utf8',
      },
    ).stderr.trim()
  }
  expect(JSON.parse(said('', ''))).toMatchObject({ level: 30, chain: 'base', msg: 'hello' })
  expect(said('', 'pretty')).toMatch(/^\d\d:\d\d:\d\d INFO {2}hello chain=base$/)
  expect(said('LOG_FORMAT=pretty\n', '')).toMatch(/INFO {2}hello chain=base$/)
})

it('takes what Node warns of, without the key in it', () => {
  const program = `
    import { hideUrl } from ${module('db/process/hidden-urls.ts')}
    import ${module('db/process/log.ts')}
    hideUrl('https://node.example/v3/0123456789abcdef')
    process.emitWarning('old: https://node.example/v3/0123456789abcdef', 'DeprecationWarning')`
  const { stderr } = spawnSync(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', program],
    { cwd: folder, env: { ...process.env, LOG_LEVEL: 'info', LOG_FORMAT: 'json' }, encoding: 'utf8' },
  )
  expect(JSON.parse(stderr)).toMatchObject({
    level: 40,
    warning: 'DeprecationWarning',
    msg: expect.stringMatching(/^old: /),
  })
  expect(stderr).not.toContain('0123456789abcdef')
})
