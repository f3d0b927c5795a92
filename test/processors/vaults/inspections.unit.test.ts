import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { DeadLetter } from '../../../processors/handling/block.ts'
import type { Protocol } from '../../../processors/protocol.ts'
import type { ChainRpc } from '../../../processors/source/rpc.ts'
import { Inspections } from '../../../processors/vaults/inspections.ts'

const block = { number: 7, hash: '0x7', timestamp: 70 }

test('contracts of one block are looked at side by side, sixteen at most, and their verdicts are in their order', async () => {
  const candidates = Array.from({ length: 40 }, (_, n) => ({ contract: `0x${n}`, protocol: 'plain' }))
  let [underWay, most, looks] = [0, 0, 0]
  const protocol = {
    name: 'plain',
    async inspect(vault: string) {
      most = Math.max(most, ++underWay)
      // The later, the sooner.
      await sleep(40 - ++looks)
      underWay--
      return [{ type: 'VaultRejected', contract: vault, data: { vault, reason: 'none' } }]
    },
  } as unknown as Protocol
  const rpc = { reader: () => ({ troubles: new Map() }) } as unknown as ChainRpc
  const verdicts = await new Inspections({ protocols: [protocol], rpc }).all(candidates, block, [])
  expect(verdicts.flat().map(({ contract }) => contract)).toEqual(candidates.map(({ contract }) => contract))
  expect([most, looks]).toEqual([16, 40])
})

test('those that are expected in later blocks are looked at meanwhile, each at its own block and once', async () => {
  const looks: string[] = []
  let underWay = 0
  let most = 0
  const protocol = {
    name: 'plain',
    async inspect(vault: string, { blockNumber }: { blockNumber: number }) {
      looks.push(`${vault} at ${blockNumber}`)
      most = Math.max(most, ++underWay)
      await sleep(5)
      underWay--
      if (vault === '0xgone') throw new Error('the node is gone')
      return [{ type: 'VaultRejected', contract: vault, data: { vault, reason: `at ${blockNumber}` } }]
    },
  } as unknown as Protocol
  const rpc = {
    reader: ({ number }: { number: number }) => ({
      blockNumber: number,
      troubles: new Map([['0x1', 'it burns gas']]),
    }),
  } as unknown as ChainRpc
  const inspections = new Inspections({ protocols: [protocol], rpc })
  const at = (number: number) => ({ number, hash: `0x${number}`, timestamp: number * 10 })
  const of = (...contracts: string[]) => contracts.map(contract => ({ contract, protocol: 'plain' }))
  for (const [number, contract] of [
    [8, '0x1'],
    [9, '0x2'],
    [10, '0xgone'],
  ] as const)
    inspections.expect(of(contract), at(number))
  const letters: DeadLetter[] = []
  const [first] = await inspections.all(of('0x1'), at(8), letters)
  expect(most).toBe(3)
  expect(first).toMatchObject([{ data: { reason: 'unreadable: it burns gas' } }])
  expect(letters).toMatchObject([{ contract: '0x1', block: { number: 8 } }])
  await expect(inspections.all(of('0xgone'), at(10), letters)).rejects.toThrow('the node is gone')
  // Not at the block at which it was expected: it is looked at anew.
  await inspections.all(of('0x2'), at(11), letters)
  expect(looks).toEqual(['0x1 at 8', '0x2 at 9', '0xgone at 10', '0x2 at 11'])
})
