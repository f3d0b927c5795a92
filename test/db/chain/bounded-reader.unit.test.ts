import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { boundedReaderCode } from '../../../db/chain/bounded-reader.ts'

test('the code of the bounded reader is that of its source', () => {
  const solc: { compile(input: string): string } = createRequire(import.meta.url)('solc')
  const file = 'bounded-reader.yul'
  const input = {
    language: 'Yul',
    sources: {
      [file]: { content: readFileSync(new URL(`../../../db/chain/${file}`, import.meta.url), 'utf8') },
    },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'paris',
      outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
    },
  }
  const code = z.object({ evm: z.object({ bytecode: z.object({ object: z.string() }) }) })
  const output = z.object({ contracts: z.object({ [file]: z.object({ BoundedReader: code }) }) })
  const { contracts } = output.parse(JSON.parse(solc.compile(JSON.stringify(input))))
  expect(`0x${contracts[file]?.BoundedReader.evm.bytecode.object}`).toBe(boundedReaderCode)
})
