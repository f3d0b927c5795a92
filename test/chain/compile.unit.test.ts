import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder } from '../db/embedded/places.ts'
import { canMount, mountSmallDisk } from '../faults/small-disk.ts'
import { keep } from './compile.ts'

test.skipIf(!canMount)('what was compiled is kept, and not missed where nothing can be written', () => {
  const folder = newFolder('vaultlog-compile-')
  const checkout = join(folder, 'checkout')
  const disk = mountSmallDisk(checkout, 1)
  const file = join(checkout, '.cache/vaultlog/solc.json')
  try {
    keep(file, '{}')
    expect(readFileSync(file, 'utf8')).toBe('{}')
    rmSync(join(checkout, '.cache'), { recursive: true })
    execFileSync('mount', ['-o', 'remount,ro', checkout])
    keep(file, '{}')
    expect(existsSync(file)).toBe(false)
  } finally {
    disk.unmount()
    rmSync(folder, { recursive: true })
  }
})
