import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Protocol } from '../../../processors/protocol.ts'
import type { ChainRpc } from '../../../processors/source/rpc.ts'
import { inspectAll } from '../../../processors/vaults/inspections.ts'

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
  const verdicts = await inspectAll({ protocols: [protocol], rpc }, candidates, block, [])
  expect(verdicts.flat().map(({ contract }) => contract)).toEqual(candidates.map(({ contract }) => contract))
  expect([most, looks]).toEqual([16, 40])
})
