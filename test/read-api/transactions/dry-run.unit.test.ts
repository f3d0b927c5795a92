import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { dryRunCode } from '../../../read-api/transactions/dry-run-code.ts'

test('the code of the dry run is that of its source', () => {
  const solc: { compile(input: string): string } = createRequire(import.meta.url)('solc')
  const source = new URL('../../../read-api/transactions/contracts/DryRun.sol', import.meta.url)
  const input = {
    language: 'Solidity',
    sources: { 'DryRun.sol': { content: readFileSync(source, 'utf8') } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'paris',
      metadata: { appendCBOR: false },
      outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
    },
  }
  const code = z.object({ evm: z.object({ deployedBytecode: z.object({ object: z.string() }) }) })
  const output = z.object({
    contracts: z.object({ 'DryRun.sol': z.object({ DryRun: code }) }),
  })
  const { contracts } = output.parse(JSON.parse(solc.compile(JSON.stringify(input))))
  expect(`0x${contracts['DryRun.sol'].DryRun.evm.deployedBytecode.object}`).toBe(dryRunCode)
})
