import { expect, test } from 'vitest'
import { boundsOf } from '../../processors/checking/verify-bounds.ts'

test('blocks are compared from the first that is indexed to the newest that is final', () => {
  expect(boundsOf({}, 5, 100, 'base')).toEqual({ from: 5, to: 100 })
  expect(boundsOf({ from: '0', to: '7' }, 5, 100, 'base')).toEqual({ from: 0, to: 7 })
  expect(boundsOf({ from: '100', to: '200' }, 5, 100, 'base')).toEqual({ from: 100, to: 100 })
})

test.each([
  [{ from: '101' }, 100, /no block to compare from 101 to 100, the newest that is final/],
  [{ from: '101', to: '200' }, 100, /no block to compare from 101 on: 100 is the newest that is final/],
  [{ from: '9', to: '8' }, 100, /no block to compare from 9 to 8\./],
  [{ to: '4' }, 100, /no block to compare from 5 to 4\./],
  [{}, 4, /no block to compare from 5 to 4, the newest that is final/],
  [{}, -1, /Nothing that is stored of base is final yet/],
  [{ from: '' }, 100, /--from must be a whole number of 0 or more/],
  [{ to: '1e3' }, 100, /--to must be a whole number of 0 or more/],
])('where there is none that is an error: %j of %i', (wanted, final, words) => {
  expect(() => boundsOf(wanted, 5, final, 'base')).toThrow(words)
})
