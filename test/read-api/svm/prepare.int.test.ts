import {
  type Address,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type KeyPairSigner,
} from '@solana/kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { associatedTokenAccount, bytesOf, keyFrom } from '../../../abi/svm/addresses.ts'
import { type Instruction, signs, writes } from '../../../abi/svm/instruction.ts'
import { createTokenAccount } from '../../../abi/svm/instructions.ts'
import { decodeLookupTable, type LookupTable } from '../../../abi/svm/lookup-table.ts'
import { type Key, keyOf, TOKEN_PROGRAM } from '../../../abi/svm/programs.ts'
import { toBase58 } from '../../../db/base58.ts'
import type { SvmFamily } from '../../../read-api/svm/family.ts'
import { createSolanaNode } from '../../../read-api/svm/node.ts'
import { type PreparedStep, prepareSvm } from '../../../read-api/svm/prepare.ts'
import type { SvmVault } from '../../../read-api/svm/vault.ts'
import { amountAt } from '../../../read-api/svm/wallet.ts'
import { TestChain } from '../../svm/chain.ts'
import { type RpcNode, serveRpc } from '../../svm/rpc-server.ts'

/** Transactions that are short, that need a table, and that need two: transfers of a real token to ever more accounts. */
const chain = new TestChain()
let node: RpcNode
let user: KeyPairSigner
let me: Key
const [mint, other] = [keyFrom(Buffer.alloc(32, 21)), keyFrom(Buffer.alloc(32, 22))]
const receivers = Array.from({ length: 60 }, (_, i) => keyFrom(Buffer.alloc(32, 100 + i)))
const tableAt = keyFrom(Buffer.alloc(32, 23))
const wire = (key: Key) => toBase58(key) as Address

function putMint(at: Key): void {
  const data = Buffer.alloc(82)
  data[44] = 6
  data[45] = 1
  chain.setAccount(wire(at), wire(TOKEN_PROGRAM), data)
}

function putTokens(at: Key, owner: Key, amount: bigint): void {
  const data = Buffer.alloc(165)
  data.set(bytesOf(mint), 0)
  data.set(bytesOf(owner), 32)
  data.writeBigUInt64LE(amount, 64)
  data[108] = 1
  chain.setAccount(wire(at), wire(TOKEN_PROGRAM), data)
}

const holds = (at: Key): bigint => {
  const found = chain.svm.getAccount(wire(at))
  return found.exists ? Buffer.from(found.data).readBigUInt64LE(64) : -1n
}

beforeAll(async () => {
  node = await serveRpc(chain)
  user = await chain.wallet()
  me = keyOf(user.address)
  for (const each of [mint, other]) putMint(each)
  putTokens(associatedTokenAccount(me, mint, TOKEN_PROGRAM), me, 10n ** 9n)
  for (const each of receivers) putTokens(each, me, 0n)
  chain.setTable(wire(tableAt), [...receivers, mint, TOKEN_PROGRAM, me].map(wire))
  chain.mine([])
})
afterAll(() => node?.close())

const from = () => associatedTokenAccount(me, mint, TOKEN_PROGRAM)

function transfer(to: Key): Instruction {
  const data = Buffer.alloc(9)
  data[0] = 3
  data.writeBigUInt64LE(7n, 1)
  return { program: TOKEN_PROGRAM, accounts: [writes(from()), writes(to), signs(me)], data }
}

/** A vault whose act is to send seven to each of so many accounts of the wallet's, where it has opened another one. */
const family = (count: number, tables: readonly LookupTable[]): SvmFamily => ({
  floor: { assets: 0n },
  look: async () => ({
    slot: 0n,
    assets: 10n ** 9n,
    shares: 0n,
    barred: {},
    redeemLimit: undefined,
    tables,
    own: [me, from(), ...receivers.slice(0, count)],
    deposit: () => [createTokenAccount(me, other, TOKEN_PROGRAM), ...receivers.slice(0, count).map(transfer)],
    redeem: () => [],
    sharesFor: () => undefined,
    moved: (before, after) => ({
      assets: amountAt(after, 1) - amountAt(before, 1),
      shares: after.reduce((sum, _, i) => (i > 1 ? sum + amountAt(after, i) - amountAt(before, i) : sum), 0n),
    }),
    words: () => undefined,
  }),
})

const table = () => {
  const found = chain.svm.getAccount(wire(tableAt))
  if (!found.exists) throw new TypeError('no table')
  const read = decodeLookupTable(
    tableAt,
    keyOf(found.programAddress),
    Buffer.from(found.data),
    BigInt(chain.slot),
  )
  if (!read) throw new TypeError('no table')
  return read
}

function prepare(count: number, tables: readonly LookupTable[]) {
  const vault = { program: TOKEN_PROGRAM, asset: { mint }, share: { mint: other } } as unknown as SvmVault
  const wish = { vault, user: me, action: 'deposit' as const, assetAddress: mint, amount: 1n }
  return prepareSvm(createSolanaNode([node.url]), family(count, tables), wish)
}

const land = ({ transaction }: PreparedStep) => chain.land(user, transaction)

const lookedUp = ({ transaction }: PreparedStep) => {
  const { messageBytes } = getTransactionDecoder().decode(transaction)
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes)
  if (message.version !== 0) throw new TypeError('not of version 0')
  return (message.addressTableLookups ?? []).flatMap(of => [...of.writableIndexes, ...of.readonlyIndexes])
}

it('a short one names its accounts itself, whatever tables there are', async () => {
  const { steps } = await prepare(3, [table()])
  expect(steps.map(({ name, moved }) => [name, moved])).toEqual([['deposit', { assets: -21n, shares: 21n }]])
  expect(steps.flatMap(lookedUp)).toEqual([])
})

it('a long one looks up in the table what neither signs nor is called, and lands', async () => {
  const before = holds(receivers[0] as Key)
  const { steps } = await prepare(45, [table()])
  const [step] = steps
  if (!step || steps.length > 1) return expect.unreachable()
  expect(step.moved).toEqual({ assets: -315n, shares: 315n })
  expect(step.transaction.length).toBeLessThanOrEqual(1_232)
  expect(lookedUp(step)).toEqual(Array.from({ length: 45 }, (_, i) => i))
  expect(await land(step)).toBeUndefined()
  expect(holds(receivers[0] as Key)).toBe(before + 7n)
  expect(holds(receivers[44] as Key)).toBe(7n)
})

it('without a table it is two: what is made beforehand, and the act, which lands after it', async () => {
  const opened = associatedTokenAccount(me, other, TOKEN_PROGRAM)
  chain.setAccount(wire(opened), wire(keyOf('11111111111111111111111111111111')), new Uint8Array(), 0n)
  const lengths = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      prepare(14 + i, []).then(
        ({ steps }) => steps.map(({ name }) => name).join(),
        error => error.message,
      ),
    ),
  )
  const split = lengths.indexOf('setup,deposit')
  expect(lengths.slice(0, split)).toEqual(Array(split).fill('deposit'))
  expect(split).toBeGreaterThan(0)
  const { steps } = await prepare(14 + split, [])
  const [setup, act] = steps
  if (!setup || !act) return expect.unreachable()
  expect(setup.moved).toEqual({ assets: 0n, shares: 0n })
  expect(act.moved).toBeUndefined()
  const last = receivers[13 + split] as Key
  const before = holds(last)
  expect(await land(setup)).toBeUndefined()
  expect([holds(opened), holds(last)]).toEqual([0n, before])
  expect(await land(act)).toBeUndefined()
  expect(holds(last)).toBe(before + 7n)
  expect(lengths.at(-1)).toContain('bytes, and 1232 is the most')
})
