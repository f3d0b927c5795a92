import { type Address, encodeFunctionData, type Hex, maxUint256, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { tokenMessengerAbi } from '../../../abi/cctp-v2/calls.ts'
import { MESSAGE_TRANSMITTER, TOKEN_MESSENGER } from '../../../abi/cctp-v2/domains.ts'
import { asWord, encodeMessage, FORWARD_HOOK, parseMessage, ZERO_WORD } from '../../../abi/cctp-v2/message.ts'
import { attest, FEE_RECIPIENT, LIMIT, messagesOf } from '../../chain/cctp.ts'
import type { Fault } from './iris.ts'
import { type Answer, Stage } from './stage.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const USDC = 1_000_000n
let stage: Stage
let user: Address
let relayer: Address
beforeAll(async () => {
  stage = await Stage.open()
  ;[, user, relayer] = stage.source.node.accounts as [Address, Address, Address]
  await stage.give(stage.source, user, 100_000n * USDC)
})
afterAll(() => stage?.close())

const erc20 = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function approve(address, uint256)',
])
const held = (who: Address) =>
  stage.destination.node.client.readContract({
    address: stage.destination.bridge.usdc,
    abi: erc20,
    functionName: 'balanceOf',
    args: [who],
  })
const ROUTE = 'mainnet/base'
const bridged = async (amount: bigint, more: Record<string, string> = {}, who = user): Promise<Answer> =>
  (await stage.fresh())(`transactions/bridge/${who}/${ROUTE}`, {
    assetAddress: stage.source.bridge.usdc,
    amount: String(amount),
    ...more,
  })
const claimed = async (from: Answer['body'], who = user, route = ROUTE): Promise<Answer> =>
  (await stage.fresh())(`transactions/claim/${who}/${route}`, {
    message: String(from.message),
    attestation: String(from.attestation),
  })
const status = async (burn: Hex): Promise<Answer> =>
  (await stage.fresh())('status', { burnTxHash: burn, srcNetwork: 'mainnet' })
const inTransit = async (who: string = user, options = {}) =>
  ((await (await stage.fresh(options))(`money-in-transit/${who}`)).body.data ?? []) as Record<
    string,
    unknown
  >[]
const complete = (burn: Hex, more = {}) => stage.iris.said.set(burn, { status: 'complete', ...more })

/** Burns without the API, as anybody can. */
async function burn(amount: bigint, options: { maxFee?: bigint; threshold?: number; hook?: Hex } = {}) {
  const { node, bridge } = stage.source
  const send = async (to: Address, data: Hex) => {
    const hash = await node.send({ from: user, to, data, label: 'burn' })
    await node.mine()
    return hash
  }
  await send(
    bridge.usdc,
    encodeFunctionData({ abi: erc20, functionName: 'approve', args: [TOKEN_MESSENGER, maxUint256] }),
  )
  const { maxFee = 0n, threshold = 2000 } = options
  const args = [amount, 6, asWord(user), bridge.usdc, ZERO_WORD, maxFee, threshold] as const
  return send(
    TOKEN_MESSENGER,
    encodeFunctionData({ abi: tokenMessengerAbi, functionName: 'depositForBurn', args }),
  )
}

describe('a standard transfer', () => {
  let hash: Hex
  let ready: Answer['body']

  it('is burnt by a bundle that the contracts take', async () => {
    const bundle = await bridged(1_000n * USDC)
    expect(bundle.status, JSON.stringify(bundle.body)).toBe(200)
    expect(bundle.body.actions?.map(({ name }) => name)).toEqual(['approve', 'bridge'])
    hash = await stage.send(stage.source, user, bundle)
    const [sent] = await messagesOf(stage.source.node, hash)
    expect(parseMessage(sent?.message ?? '0x')).toMatchObject({
      sourceDomain: 0,
      destinationDomain: 6,
      minFinalityThreshold: 2000,
      body: { amount: 1_000n * USDC, maxFee: 0n, mintRecipient: asWord(user), hookData: '0x' },
    })
  })

  it('is pending by the receipt before any table has it, then by the tables, while nobody has seen it or it is not confirmed', async () => {
    const pending = {
      amountNative: String(1_000n * USDC),
      destinationDomain: 6,
      status: 'pending',
      burnTxHash: hash,
    }
    expect((await status(hash)).body).toMatchObject(pending)
    expect(await inTransit()).toEqual([])
    await stage.catchUp(stage.source, stage.destination)
    expect((await status(hash)).body).toMatchObject(pending)
    expect(await inTransit()).toMatchObject([pending])
    stage.iris.said.set(hash, { status: 'pending_confirmations' })
    expect(await inTransit()).toMatchObject([pending])
    expect((await inTransit())[0]).not.toHaveProperty('message')
  })

  it('is ready once attested, and stays pending where the service is not configured', async () => {
    complete(hash)
    ready = (await status(hash)).body
    expect(ready['status']).toBe('ready')
    expect(await inTransit()).toMatchObject([{ status: 'ready', message: ready.message }])
    expect(await inTransit(user, { services: {} })).toMatchObject([{ status: 'pending' }])
  })

  it.each<Fault>(['429', '500', 'slow', 'malformed', 'not json', 'huge', 'redirect'])(
    'the service answers %s: it is pending, and nothing fails',
    async fault => {
      stage.iris.fault = fault
      const ask = await stage.fresh({ patienceMs: 300 })
      const answer = await ask(`money-in-transit/${user}`)
      expect([answer.status, answer.body.data?.length]).toEqual([200, 1])
      expect(answer.body.data).toMatchObject([{ status: 'pending' }])
      stage.iris.fault = undefined
    },
  )

  it('a message that is not that of the burn is refused', async () => {
    const [sent] = await messagesOf(stage.source.node, hash)
    const parsed = parseMessage(sent?.message ?? '0x')
    if (!parsed) throw new TypeError('no message')
    const whole = { ...parsed, nonce: asWord('0x77'), finalityThresholdExecuted: 2000 }
    const { body } = whole
    for (const other of [
      { ...whole, destinationDomain: 3 },
      { ...whole, minFinalityThreshold: 1000 },
      { ...whole, destinationCaller: asWord(relayer) },
      { ...whole, body: { ...body, amount: body.amount + 1n } },
      { ...whole, body: { ...body, mintRecipient: asWord(relayer) } },
      { ...whole, body: { ...body, messageSender: asWord(relayer) } },
      { ...whole, body: { ...body, maxFee: 1n } },
      { ...whole, body: { ...body, hookData: FORWARD_HOOK } },
    ]) {
      complete(hash, { instead: encodeMessage(other) })
      expect((await status(hash)).body).toMatchObject({ status: 'pending' })
    }
    complete(hash, { cctpVersion: 1 })
    expect((await status(hash)).body).toMatchObject({ status: 'pending' })
    complete(hash)
  })

  it('cannot be claimed otherwise than it was attested', async () => {
    const refused = async (change: Record<string, unknown>, why: RegExp, route = ROUTE) => {
      const answer = await claimed({ ...ready, ...change } as Answer['body'], user, route)
      expect([answer.status, answer.body.message]).toEqual([422, expect.stringMatching(why)])
    }
    const message = ready.message as Hex
    const parsed = parseMessage(message)
    if (!parsed) throw new TypeError('no message')
    await refused({}, /goes from domain 0 to 6/, 'base/mainnet')
    await refused({ message: message.slice(0, 2 + 2 * 375) }, /not that of a transfer/)
    await refused({ message: encodeMessage({ ...parsed, nonce: ZERO_WORD }) }, /as the burn emitted it/)
    await refused({ message: encodeMessage({ ...parsed, sender: asWord(relayer) }) }, /not one of the bridge/)
    await refused(
      { message: encodeMessage({ ...parsed, destinationCaller: asWord(relayer) }) },
      /another account/,
    )
    await refused({ attestation: String(ready.attestation).slice(0, -2) }, /signatures of 65 bytes/)
    await refused({ attestation: String(ready.attestation).slice(0, 2 + 130) }, /has 1 signatures.*wants 2/)
    const strangers = await attest(message, [asWord('0x33'), asWord('0x34')])
    await refused({ attestation: strangers }, /not signed by those/)
    const both = String(ready.attestation).slice(2)
    await refused({ attestation: `0x${both.slice(130)}${both.slice(0, 130)}` }, /not in order/)
  })

  it('is claimed, leaves money in transit, and stays ready by its status', async () => {
    const bundle = await claimed(ready)
    expect(bundle.status, JSON.stringify(bundle.body)).toBe(200)
    await stage.send(stage.destination, user, bundle)
    expect(await held(user)).toBe(1_000n * USDC)
    // By its nonce, before the receipt is in a table.
    expect(await inTransit()).toEqual([])
    expect(await inTransit(user, { services: {} })).toHaveLength(1)
    await stage.catchUp(stage.destination)
    expect(await inTransit(user, { services: {} })).toEqual([])
    expect((await status(hash)).body).toMatchObject({ status: 'ready', message: ready.message })
    const again = await claimed(ready)
    expect([again.status, again.body.message]).toEqual([422, 'This transfer was claimed already.'])
  })
})

describe('a fast transfer', () => {
  it('pays its fee out of the amount', async () => {
    const bundle = await bridged(1_000n * USDC, { transferType: 'fast' })
    const hash = await stage.send(stage.source, user, bundle)
    const [sent] = await messagesOf(stage.source.node, hash)
    // 1.3 bps of 1,000 USDC, and a tenth of it.
    expect(parseMessage(sent?.message ?? '0x')?.body.maxFee).toBe(143_000n)
    complete(hash, { fee: 100_000n, finality: 1000, expiration: 1_000_000n })
    await stage.catchUp(stage.source)
    const before = await held(user)
    await stage.send(stage.destination, user, await claimed((await status(hash)).body))
    expect((await held(user)) - before).toBe(999_900_000n)
    expect(await held(FEE_RECIPIENT)).toBe(100_000n)
  })

  it('with too small a fee goes on as a standard one', async () => {
    const hash = await burn(50n * USDC, { maxFee: 1n, threshold: 1000 })
    stage.iris.said.set(hash, { status: 'pending_confirmations', delayReason: 'insufficient_fee' })
    await stage.catchUp(stage.source)
    expect((await status(hash)).body).toMatchObject({ status: 'pending' })
    complete(hash, { finality: 2000, delayReason: 'insufficient_fee' })
    const before = await held(user)
    await stage.send(stage.destination, user, await claimed((await status(hash)).body))
    expect((await held(user)) - before).toBe(50n * USDC)
  })

  it('that has expired is attested again, and pending meanwhile', async () => {
    const hash = await burn(60n * USDC, { maxFee: USDC, threshold: 1000 })
    await stage.catchUp(stage.source)
    const { number } = await stage.destination.node.head()
    complete(hash, { finality: 1000, expiration: BigInt(number + 2) })
    const early = (await status(hash)).body
    expect(early['status']).toBe('ready')
    await stage.destination.node.mineEmpty(3)
    const late = await claimed(early)
    expect([late.status, late.body.message]).toEqual([422, expect.stringMatching(/has expired/)])
    expect((await status(hash)).body).toMatchObject({ status: 'pending' })
    expect(stage.iris.asked.at(-1)).toMatch(/^POST \/v2\/reattest\/0x/)
    const renewed = (await status(hash)).body
    expect(renewed['status']).toBe('ready')
    await stage.send(stage.destination, user, await claimed(renewed))
  })
})

describe('forwarding', () => {
  it('is delivered by somebody else, or claimed by hand where that fails', async () => {
    const bundle = await bridged(10n * USDC, { useForwarding: 'true' })
    const first = await stage.send(stage.source, user, bundle)
    const [sent] = await messagesOf(stage.source.node, first)
    expect(parseMessage(sent?.message ?? '0x')?.body).toMatchObject({
      hookData: FORWARD_HOOK,
      maxFee: 200_000n,
    })
    complete(first, { fee: 200_000n, forwardState: 'COMPLETE' })
    await stage.catchUp(stage.source, stage.destination)
    const before = await held(user)
    await stage.send(stage.destination, relayer, await claimed((await status(first)).body, relayer))
    await stage.catchUp(stage.destination)
    expect((await held(user)) - before).toBe(9_800_000n)
    const second = await stage.send(stage.source, user, await bridged(11n * USDC, { useForwarding: 'true' }))
    complete(second, { forwardState: 'FAILED' })
    await stage.catchUp(stage.source)
    expect(await inTransit()).toMatchObject([{ burnTxHash: second, status: 'ready' }])
    await stage.send(stage.destination, user, await claimed((await status(second)).body))
    await stage.catchUp(stage.destination)
    expect(await inTransit()).toEqual([])
  })
})

describe('which of several', () => {
  it('of two alike the younger is claimed: by its nonce the older is left, by the chains alone one', async () => {
    const older = await burn(5n * USDC)
    const younger = await burn(5n * USDC)
    await stage.catchUp(stage.source)
    expect(await inTransit()).toHaveLength(2)
    complete(younger)
    await stage.send(stage.destination, user, await claimed((await status(younger)).body))
    await stage.catchUp(stage.destination)
    complete(older)
    expect(await inTransit()).toMatchObject([{ burnTxHash: older, status: 'ready' }])
    // Nobody knows better: the oldest counts as received first.
    expect(await inTransit(user, { services: {} })).toMatchObject([{ burnTxHash: younger }])
    await stage.send(stage.destination, user, await claimed((await status(older)).body))
    await stage.catchUp(stage.destination)
    expect(await inTransit()).toEqual([])
  })

  it('two burns of one transaction by a contract, for another: both ends see both', async () => {
    const { node, bridge } = stage.source
    const abi = parseAbi([
      'function burn(address messenger, address token, uint256 amount, uint32 domain, bytes32 to, uint256 times)',
    ])
    const send = async (to: Address, data: Hex) => {
      const hash = await node.send({ from: user, to, data, label: 'burn twice' })
      await node.mine()
      return hash
    }
    await send(
      bridge.usdc,
      encodeFunctionData({ abi: erc20, functionName: 'approve', args: [bridge.burner, maxUint256] }),
    )
    const args = [TOKEN_MESSENGER, bridge.usdc, 3n * USDC, 6, asWord(relayer), 2n] as const
    const hash = await send(bridge.burner, encodeFunctionData({ abi, functionName: 'burn', args }))
    await stage.catchUp(stage.source)
    for (const who of [bridge.burner, relayer])
      expect(await inTransit(who)).toMatchObject([
        { burnTxHash: hash, status: 'pending' },
        { burnTxHash: hash, status: 'pending' },
      ])
    complete(hash)
    const both = await inTransit(relayer)
    expect(new Set(both.map(({ message }) => message)).size).toBe(2)
    for (const transit of both)
      await stage.send(stage.destination, user, await claimed(transit as Answer['body']))
    expect(await held(relayer)).toBe(6n * USDC)
    // Receipts in the tables and by their nonces are the same two.
    expect(await inTransit(relayer)).toEqual([])
    await stage.catchUp(stage.destination)
    expect(await inTransit(relayer, { services: {} })).toEqual([])
  })

  it('a receipt that is stored before its burn, and a burn that its chain takes back', async () => {
    const hash = await burn(7n * USDC)
    complete(hash)
    await stage.send(stage.destination, user, await claimed((await status(hash)).body))
    await stage.catchUp(stage.destination)
    expect(await inTransit(user, { services: {} })).toEqual([])
    await stage.catchUp(stage.source)
    expect(await inTransit(user, { services: {} })).toEqual([])
    const gone = await burn(8n * USDC)
    await stage.catchUp(stage.source)
    expect(await inTransit()).toMatchObject([{ burnTxHash: gone }])
    await stage.source.node.reorg(1)
    await stage.source.node.mineEmpty(1)
    await stage.catchUp(stage.source)
    expect(await inTransit()).toEqual([])
    expect((await status(gone)).status).toBe(404)
  })
})

describe('what is refused', () => {
  const refused = (answer: Answer, code: number, why: RegExp) =>
    expect([answer.status, answer.body.message]).toEqual([code, expect.stringMatching(why)])

  it('by the request itself', async () => {
    const ask = await stage.fresh()
    const bridge = (path: string, query: Record<string, string> = {}) =>
      ask(`transactions/bridge/${user}/${path}`, {
        assetAddress: stage.source.bridge.usdc,
        amount: '1',
        ...query,
      })
    refused(await bridge('mainnet/gnosis'), 422, /does not reach gnosis/)
    refused(await bridge('mainnet/mainnet'), 422, /same network/)
    refused(await bridge(ROUTE, { assetAddress: user }), 422, /Only USDC/)
    refused(await bridge(ROUTE, { message: '0x00' }), 400, /takes no message/)
    refused(await ask(`transactions/bridge/${user}/${ROUTE}`), 400, /needs assetAddress and amount/)
    refused(await ask(`transactions/claim/${user}/${ROUTE}`, { message: '0x00' }), 400, /needs attestation/)
    refused(await bridge(ROUTE, { transferType: 'express' }), 400, /standard, fast/)
    refused(
      await ask('status', { burnTxHash: `0x${'0f'.repeat(32)}`, srcNetwork: 'mainnet' }),
      404,
      /No burn/,
    )
    refused(await ask('status', { burnTxHash: `0x${'0f'.repeat(32)}`, srcNetwork: 'gnosis' }), 422, /gnosis/)
  })

  it('by amounts, fees and what is offered', async () => {
    refused(await bridged(0n), 422, /nothing to do/)
    refused(await bridged(LIMIT + 1n), 422, /at once at most/)
    refused(await bridged(LIMIT), 422, /The wallet holds/)
    refused(await bridged(200_000n, { useForwarding: 'true' }), 422, /may be kept as a fee/)
    const { fees } = stage.iris
    stage.iris.fees = { standard: 0 }
    refused(await bridged(USDC, { transferType: 'fast' }), 422, /Fast transfers .* not offered/)
    refused(await bridged(USDC, { useForwarding: 'true' }), 422, /Forwarding .* not offered/)
    stage.iris.fees = fees
    const ask = await stage.fresh({ services: {} })
    const asset = { assetAddress: stage.source.bridge.usdc, amount: String(USDC) }
    const path = `transactions/bridge/${user}/${ROUTE}`
    refused(await ask(path, { ...asset, transferType: 'fast' }), 503, /CCTP_URL/)
    expect((await ask(path, asset)).status).toBe(200)
  })

  it('by the contracts: paused, denied, no way, a burn that failed', async () => {
    const { node } = stage.source
    const set = parseAbi([
      'function setPaused(bool)',
      'function setDenylisted(address, bool)',
      'function setMinFee(uint256)',
      'function setRemote(uint32, bytes32)',
    ])
    const change = async (to: Address, data: Hex) => {
      await node.send({ from: user, to, data, label: 'set' })
      await node.mine()
    }
    const pause = (paused: boolean) =>
      encodeFunctionData({ abi: set, functionName: 'setPaused', args: [paused] })
    const deny = (denied: boolean) =>
      encodeFunctionData({ abi: set, functionName: 'setDenylisted', args: [user, denied] })
    const remote = (messenger: Hex) =>
      encodeFunctionData({ abi: set, functionName: 'setRemote', args: [6, messenger] })
    await change(MESSAGE_TRANSMITTER, pause(true))
    refused(await bridged(USDC), 422, /is paused on mainnet/)
    await change(MESSAGE_TRANSMITTER, pause(false))
    await change(TOKEN_MESSENGER, deny(true))
    refused(await bridged(USDC), 422, /denylist/)
    await change(TOKEN_MESSENGER, deny(false))
    await change(TOKEN_MESSENGER, remote(ZERO_WORD))
    refused(await bridged(USDC), 422, /no way from mainnet to base/)
    await change(TOKEN_MESSENGER, remote(asWord(TOKEN_MESSENGER)))
    // 1,000 ten-millionths of 1 USDC are 100 units: put in although a standard transfer costs nothing.
    await change(TOKEN_MESSENGER, encodeFunctionData({ abi: set, functionName: 'setMinFee', args: [1_000n] }))
    const paying = await stage.send(stage.source, user, await bridged(USDC))
    const [sent] = await messagesOf(node, paying)
    expect(parseMessage(sent?.message ?? '0x')?.body.maxFee).toBe(100n)
    await change(TOKEN_MESSENGER, encodeFunctionData({ abi: set, functionName: 'setMinFee', args: [0n] }))
    const args = [0n, 6, asWord(user), stage.source.bridge.usdc, ZERO_WORD, 0n, 2000] as const
    const data = encodeFunctionData({ abi: tokenMessengerAbi, functionName: 'depositForBurn', args })
    const failed = await node.send({ from: user, to: TOKEN_MESSENGER, data, mayFail: true, gas: 500_000n })
    await node.mine()
    refused(await status(failed), 422, /failed on mainnet/)
  })
})

it('context says balance, allowance, fees and the step that comes next', async () => {
  const path = `context/${user}/${ROUTE}/${stage.source.bridge.usdc}`
  const before = await (await stage.fresh())(path)
  expect(before.status, JSON.stringify(before.body)).toBe(200)
  expect(before.body).toMatchObject({
    srcNetwork: { name: 'mainnet' },
    dstNetwork: { name: 'base' },
    asset: { symbol: 'USDC', decimals: 6 },
    fees: { standardTransferFeeBps: 0, fastTransferFeeBps: 1.3, forwardingFeeNative: '200000' },
    currentBridgeStep: 'bridge',
  })
  const hash = await burn(9n * USDC)
  complete(hash)
  await stage.catchUp(stage.source)
  const after = await (await stage.fresh())(path)
  expect(after.body).toMatchObject({ currentBridgeStep: 'claim' })
  expect(after.body.moneyInTransit).toContainEqual(
    expect.objectContaining({ burnTxHash: hash, status: 'ready' }),
  )
  const alone = await (await stage.fresh({ services: {} }))(path)
  expect([alone.status, alone.body.message]).toEqual([503, expect.stringMatching(/CCTP_URL/)])
})
