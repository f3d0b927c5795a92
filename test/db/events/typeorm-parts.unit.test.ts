import { TypeormDatabase } from '@subsquid/typeorm-store'
import { expect, test } from 'vitest'

test('the parts of TypeormDatabase that are reached into are there', () => {
  const parts = ['getState', 'insertHotBlock', 'deleteHotBlocks', 'updateStatus', 'submit']
  const prototype = TypeormDatabase.prototype as unknown as Record<string, unknown>
  expect(parts.filter(name => typeof prototype[name] !== 'function')).toEqual([])
})
