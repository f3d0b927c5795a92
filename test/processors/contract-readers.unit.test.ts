import { expect, test } from 'vitest'
import { StateMissingError } from '../../db/chain/errors.ts'
import type { StateCall } from '../../processors/protocol.ts'
import { openContractReaders } from '../../processors/source/contract-readers.ts'

const at = (number: number) => ({ number, hash: `0x${number}`, timestamp: number })

function readers(lost = -1) {
  const requests: { block: number; calls: string[] }[] = []
  const open = openContractReaders({
    async answers(calls: readonly StateCall[], block) {
      requests.push({ block: block.number, calls: calls.map(({ to, data }) => `${to} ${data}`) })
      if (block.number <= lost) throw new StateMissingError(`block ${block.number}`)
      return calls.map(({ to, data }) =>
        to === '0xbad' ? { data: undefined, trouble: 'it burns gas' } : { data: data as `0x${string}` },
      )
    },
    head: async () => at(100),
    deployment: async () => undefined,
  })
  return { open, requests }
}

test('what several ask of one block at the same time is one request, and the same question is asked once', async () => {
  const { open, requests } = readers()
  const [one, other, later] = [open(at(5)), open(at(5)), open(at(6))]
  const answers = await Promise.all([
    one.call('0xusdc', '0x1'),
    other.call('0xusdc', '0x1'),
    other.call('0xbad', '0x2'),
    later.call('0xusdc', '0x1'),
  ])
  expect(answers).toEqual(['0x1', '0x1', undefined, '0x1'])
  expect(requests).toEqual([
    { block: 5, calls: ['0xusdc 0x1', '0xbad 0x2'] },
    { block: 6, calls: ['0xusdc 0x1'] },
  ])
  // Whoever did not ask it has no trouble with it.
  expect([...other.troubles]).toEqual([['0xbad', 'it burns gas']])
  expect([...one.troubles]).toEqual([])
})

test('many questions are several requests, and no answer is mistaken for another', async () => {
  const { open, requests } = readers()
  const datas = Array.from({ length: 150 }, (_, n) => `0x${n.toString(16).padStart(4, '0')}`)
  const reader = open(at(5))
  expect(await Promise.all(datas.map(data => reader.call('0xusdc', data)))).toEqual(datas)
  expect(requests.map(({ calls }) => calls.length)).toEqual([64, 64, 22])
})

test('where a node has no state of the block any more, all of it is read at the newest one', async () => {
  const { open, requests } = readers(50)
  const reader = open(at(5))
  expect(await Promise.all([reader.call('0xa', '0x1'), reader.call('0xb', '0x2')])).toEqual(['0x1', '0x2'])
  expect(await reader.call('0xc', '0x3')).toBe('0x3')
  expect(requests.map(({ block }) => block)).toEqual([5, 100, 100])
})
