import { describe, expect, it } from 'vitest'

/** What a vault's page makes of messages of the feed. */

interface Message {
  kind: string
  position: number
  type: string
  timestamp: number
  transactionHash: string
  data: Record<string, unknown>
}
const script = new URL('../../../read-api/explore/page/movements.js', import.meta.url).href
const { movementsOf, ZERO } = (await import(script)) as {
  movementsOf(messages: Message[]): Message[]
  ZERO: string
}

const ANN = `0x${'a1'.repeat(20)}`
const FEES = `0x${'fe'.repeat(20)}`
const event = (
  position: number,
  transactionHash: string,
  type: string,
  data: Record<string, unknown>,
  timestamp = position,
): Message => ({ kind: 'event', position, type, timestamp, transactionHash, data })
const moved = (position: number, hash: string, from: string, to: string, shares: string) =>
  event(position, hash, 'ShareTransferred', { from, to, shares })
const positions = (messages: Message[]) => movementsOf(messages).map(({ position }) => position)

describe('what is told of a vault', () => {
  it('is by time, whatever was stored first', () => {
    const early = event(30, '0x3', 'Redeemed', { owner: ANN, shares: '1' }, 5)
    const late = event(10, '0x1', 'Deposited', { owner: ANN, shares: '2' }, 10)
    const later = event(20, '0x2', 'Deposited', { owner: ANN, shares: '3' }, 10)
    expect(positions([early, late, later])).toEqual([20, 10, 30])
  })

  it('has one transfer less for each deposit and redemption, and every other one', () => {
    const deposit = event(2, '0x1', 'Deposited', { owner: ANN, shares: '100' })
    const redemption = event(6, '0x2', 'Redeemed', { owner: ANN, shares: '40' })
    const further = [
      // Fees made in the transaction of the deposit; the shares are as many as those of it, too.
      moved(3, '0x1', ZERO, FEES, '100'),
      moved(4, '0x1', ZERO, ANN, '7'),
      // Given back by the same hands, in another transaction or in the other direction.
      moved(7, '0x2', ZERO, ANN, '40'),
      moved(8, '0x3', ANN, ZERO, '40'),
      // A second one like the deposit's.
      moved(9, '0x1', ZERO, ANN, '100'),
    ]
    const twins = [moved(1, '0x1', ZERO, ANN, '100'), moved(5, '0x2', ANN, ZERO, '40')]
    expect(positions([...further, ...twins, deposit, redemption])).toEqual(
      expect.arrayContaining([2, 3, 4, 6, 7, 8]),
    )
    expect(movementsOf([...further, ...twins, deposit, redemption])).toHaveLength(7)
    expect(positions([...twins, deposit, redemption])).toEqual([6, 2])
    expect(positions(twins)).toEqual([5, 1])
  })

  it('is without what a fork took back, and what was a twin of that stands', () => {
    const retraction = {
      ...event(3, '', 'BlockRetracted', { fromPosition: 1, toPosition: 1 }),
      kind: 'retraction',
    }
    const deposit = event(1, '0x1', 'Deposited', { owner: ANN, shares: '100' })
    expect(positions([retraction, deposit, moved(2, '0x1', ZERO, ANN, '100')])).toEqual([2])
  })
})
