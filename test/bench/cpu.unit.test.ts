import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LOADER } from '../../db/process/script.ts'

test('a profile is told by parts, from where it is looked at on, without what was waiting', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vaultlog-profile-'))
  const node = (id: number, functionName: string, url = '') => ({ id, callFrame: { functionName, url } })
  const profile = {
    nodes: [
      node(1, '(idle)'),
      node(2, '(garbage collector)'),
      node(3, 'uint', 'file:///x/abi/words.ts'),
      node(4, 'blockOf', 'file:///x/processors/source/portal-blocks.ts'),
    ],
    // A second of each, of which the first does not count.
    samples: [4, 1, 2, 2, 2, 3],
    timeDeltas: [900_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000],
  }
  try {
    const file = join(folder, 'x.cpuprofile')
    writeFileSync(file, JSON.stringify(profile))
    const said = execFileSync(process.execPath, [...LOADER, 'bench/cpu.ts', file, '1', '1000000'])
    expect(String(said).split('\n').slice(2)).toEqual([
      '| garbage collection | 3.0 | 75 % |',
      '| decoding logs | 1.0 | 25 % |',
      '| all | 4.0 | |',
      '',
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
