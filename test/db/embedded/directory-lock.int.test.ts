import { execFile } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { newFolder } from './places.ts'

const folder = newFolder('vaultlog-test-lock-')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('lock of a directory', () => {
  it('has one holder at a time, whoever else wants it, also where holders are killed', async () => {
    const path = join(folder, 'server.lock')
    const holder = ['--import', 'tsx', join(import.meta.dirname, 'lock-holder.fixture.ts'), path, '100']
    const holders = Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, holder))
    expect((await Promise.all(holders)).map(({ stdout }) => stdout.trim())).toEqual(['0', '0', '0', '0'])
    expect(readdirSync(folder)).toEqual(['server.lock'])
  })
})
