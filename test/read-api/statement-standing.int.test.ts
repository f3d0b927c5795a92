import { getAddress } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { asking } from './ask.ts'
import { RAY, UNIT } from './debts-books.ts'
import {
  A_TOKEN,
  beginning,
  COMET,
  DEBT_TOKEN,
  ETH,
  LENDER,
  MORPHO,
  POOL,
  SECURES,
  USD,
} from './debts-markets.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { discovered, type Modelled, numbered, sampled } from './portfolio-world.ts'
import * as w from './world.ts'

/** What vault and market of one contract say of a position, whoever vouches for which of them, and when one is gone. */

const OPTIMISM = 10
const ZERO = `0x${'0'.repeat(40)}`
/** Nobody vouches for these as vaults. */
const STRANGE: Modelled = { vault: numbered('e5', 1), asset: USD, decimals: 6, assetDecimals: 6 }
const ATOKEN_VAULT: Modelled = { vault: A_TOKEN, asset: ETH, decimals: 18, assetDecimals: 18 }
const COMET_VAULT: Modelled = { vault: COMET, asset: USD, decimals: 6, assetDecimals: 6 }
const RATELESS = `0x${'e3'.repeat(32)}`
const [LOOPER, LENT, OWNER] = [numbered('b1', 1), numbered('b2', 1), numbered('b3', 0x10)]
/** The second account of the owner: its address differs in the last byte. */
const SUB = numbered('b3', 0x11)
const OTHER = numbered('b3', 0x12)
const [ETHERS, USDS] = [5n * 10n ** 18n, 7n * 10n ** 9n]

let api: ApiHarness
let blocks = 0
const timeOf = (block: number) => w.START + block * w.HOUR

/** A block an hour. */
async function append(...told: [protocol: string, contract: string, type: string, data: object][]) {
  const transactionHash = `0x${(++blocks).toString(16).padStart(64, '0')}`
  const events = told.map(
    ([protocol, contract, type, data], logIndex) =>
      ({ protocol, contract, type, data, logIndex: 100 + logIndex, transactionHash }) as DomainEvent,
  )
  const first: DomainEvent[] =
    blocks === 1
      ? [
          ...beginning(timeOf(1)),
          ...[STRANGE, COMET_VAULT].map(vault => discovered(vault, 'optimism', 'USDA')),
          discovered(ATOKEN_VAULT, 'optimism', 'ETHA'),
          ...[STRANGE, COMET_VAULT, ATOKEN_VAULT, LENDER, SECURES].map(vault =>
            sampled(vault, 10n ** 20n, 10n ** 20n, 10n ** BigInt(vault.assetDecimals)),
          ),
        ]
      : []
  const block = { number: blocks, hash: transactionHash, timestamp: timeOf(blocks) }
  await api.append(OPTIMISM, 'optimism', [{ block, events: [...first, ...events] }])
}

const { ask } = asking(() => api)
type Row = {
  kind: string
  accounts: string[]
  address: string
  native: Record<'opening' | 'deposits' | 'withdrawals' | 'gain' | 'closing', string>
}
async function statementOf(wallets: string[], more = '') {
  const path = `/beta/portfolio/statement?wallets=${wallets}&fromTimestamp=${w.START}&toTimestamp=${timeOf(blocks)}`
  const { body, headers } = await ask(`${path}${more}`)
  const rows = body.data.map(
    ({ kind, address, native: { closing } }: Row) => `${kind} ${address.toLowerCase()} ${closing}`,
  )
  return { data: body.data as Row[], rows: rows.sort(), leftOut: headers['x-unlisted-left-out'] }
}

const shares = (vault: string, to: string, amount: bigint) =>
  [
    ['erc-4626', vault, 'ShareTransferred', { from: ZERO, to, shares: amount }],
    [
      'erc-4626',
      vault,
      'Deposited',
      { sender: to, owner: to, assets: amount, shares: amount, ledger: 'transfer' },
    ],
  ] as [string, string, string, object][]
const ltv = (vault: string, bps: number): [string, string, string, object] => [
  'euler-v2',
  vault,
  'LtvChanged',
  {
    market: vault,
    collateral: SECURES.vault,
    borrowLtvBps: bps,
    liquidationLtvBps: bps,
    initialLiquidationLtvBps: bps,
    targetAt: 0,
    rampSeconds: 0,
  },
]
const debt = (
  vault: string,
  owed: bigint,
  { accumulatorRay = RAY, account = SUB } = {},
): [string, string, string, object] => [
  'euler-v2',
  vault,
  'DebtSampled',
  { market: vault, account, owed: owed << 31n, accumulatorRay },
]
const loan = (vault: string, type: 'Borrowed' | 'Repaid'): [string, string, string, object] => [
  'euler-v2',
  vault,
  type,
  { market: vault, sender: SUB, onBehalf: SUB, assets: USDS },
]

beforeAll(async () => {
  api = await startApi({ strangers: [STRANGE.vault, A_TOKEN, COMET] })
  const rates = { liquidityRateRay: 0n, variableBorrowRateRay: 0n }
  const indexes = { liquidityIndexRay: RAY, variableBorrowIndexRay: RAY }
  const act = { sender: LOOPER, onBehalf: LOOPER, receiver: LOOPER }
  const minted = { caller: LOOPER, onBehalf: LOOPER, balanceIncrease: 0n, indexRay: RAY }
  const status = { totalShares: 0n, totalBorrows: 0n, accumulatedFees: 0n, interestRateRay: 0n, cash: 0n }
  const market = { market: RATELESS, sender: LENT, onBehalf: LENT, receiver: LENT }
  await append(
    ['aave-v3', POOL, 'RateUpdated', { market: ETH, ...rates, ...indexes }],
    [
      'compound-v3',
      COMET,
      'CometStateSampled',
      {
        market: COMET,
        supplyIndex: UNIT,
        borrowIndex: UNIT,
        supplyPrincipal: 10n ** 12n,
        borrowPrincipal: 10n ** 11n,
        updatedAt: timeOf(1),
        pauseFlags: 0,
        reserves: 0n,
      },
    ],
    ...[LENDER, SECURES, STRANGE].map(({ vault }): [string, string, string, object] => [
      'euler-v2',
      vault,
      'VaultStatusChanged',
      { market: vault, ...status, accumulatorRay: RAY },
    ]),
    ['euler-v2', numbered('d5', 9), 'AccountOwnerRegistered', { prefix: OWNER.slice(0, 40), owner: OWNER }],
  )
  await append(
    ['aave-v3', A_TOKEN, 'ScaledMinted', { side: 'supply', value: ETHERS, ...minted }],
    ['aave-v3', POOL, 'Supplied', { market: ETH, ...act, assets: ETHERS }],
    ...shares(A_TOKEN, LOOPER, ETHERS),
    [
      'aave-v3',
      DEBT_TOKEN,
      'ScaledMinted',
      { side: 'variableDebt', value: ETHERS / 2n, scaledChange: ETHERS / 2n, ...minted },
    ],
    ['aave-v3', POOL, 'Borrowed', { market: ETH, ...act, assets: ETHERS / 2n }],
    ['compound-v3', COMET, 'Supplied', { market: COMET, ...act, assets: USDS }],
    ['compound-v3', COMET, 'PrincipalSampled', { market: COMET, account: LOOPER, principal: USDS }],
    ...shares(COMET, LOOPER, USDS),
    ...shares(SECURES.vault, SUB, ETHERS),
    loan(LENDER.vault, 'Borrowed'),
    debt(LENDER.vault, USDS),
    [
      'morpho-blue',
      MORPHO,
      'MarketCreated',
      {
        market: RATELESS,
        loanAsset: USD,
        collateralAsset: ETH,
        oracle: numbered('d3', 2),
        irm: numbered('d3', 3),
        lltvWad: 86n * 10n ** 16n,
      },
    ],
    ['morpho-blue', MORPHO, 'Supplied', { ...market, assets: USDS, shares: USDS * 10n ** 6n }],
  )
  await api.catchUp()
}, 120_000)
afterAll(() => api?.stop())

it('state what is lent to a market once: as a vault where that is shown, and else beside the debt', async () => {
  const owed = `debt ${DEBT_TOKEN} -${ETHERS / 2n}`
  const found = await statementOf([LOOPER])
  expect(found.rows).toEqual([owed, `supplied ${A_TOKEN} ${ETHERS}`, `supplied ${COMET} ${USDS}`])
  expect(found.leftOut).toBe('0')
  const all = await statementOf([LOOPER], '&allowUnlisted=true')
  expect(all.rows).toEqual([owed, `vault ${A_TOKEN} ${ETHERS}`, `vault ${COMET} ${USDS}`])
})

it('count an account once that is named beside its owner', async () => {
  const owed = `debt ${LENDER.vault} -${USDS}`
  for (const wallets of [[OWNER], [OWNER, SUB], [SUB]]) {
    const { rows, data } = await statementOf(wallets)
    expect(rows).toEqual([owed, `vault ${SECURES.vault} ${ETHERS}`])
    expect(data.map(({ accounts }) => accounts)).toEqual([[getAddress(SUB)], [getAddress(SUB)]])
  }
})

it('know no worth where interest runs at a rate that nobody told', async () => {
  const lent = async () => (await statementOf([LENT])).data.map(({ kind, native }) => ({ kind, native }))
  await append()
  await api.catchUp()
  // Nobody owes anything: there is no interest.
  expect(await lent()).toMatchObject([{ kind: 'supplied', native: { closing: `${USDS}`, gain: '0' } }])
  const data = { sender: ZERO, onBehalf: SECURES.vault, receiver: ZERO, market: RATELESS }
  await append(['morpho-blue', MORPHO, 'Borrowed', { ...data, assets: 10n ** 9n, shares: 10n ** 15n }])
  await api.catchUp()
  expect(await lent()).toMatchObject([{ native: { deposits: `${USDS}`, closing: `${USDS}` } }])
  await append()
  await api.catchUp()
  expect(await lent()).toMatchObject([{ native: { deposits: `${USDS}`, closing: '', gain: '' } }])
})

it('keep what was and is in vaults of which no market is left', async () => {
  const before = blocks
  await append(loan(LENDER.vault, 'Repaid'), debt(LENDER.vault, 0n), ltv(LENDER.vault, 0))
  await api.catchUp()
  const { body: markets } = await ask('/beta/borrow/markets?allowedProtocols=euler')
  expect(markets.data).toEqual([])
  const { data, rows } = await statementOf([OWNER])
  expect(rows).toEqual([`debt ${LENDER.vault} 0`, `vault ${SECURES.vault} ${ETHERS}`])
  expect(data.find(({ kind }) => kind === 'debt')?.native).toMatchObject({
    deposits: `${USDS}`,
    withdrawals: `${USDS}`,
    gain: '0',
  })
  expect(blocks).toBe(before + 1)
})

it('show debts to a vault as its shares, whatever the market is that it is in', async () => {
  await append(
    ltv(STRANGE.vault, 8_000),
    loan(STRANGE.vault, 'Borrowed'),
    debt(STRANGE.vault, USDS),
    ...shares(STRANGE.vault, OWNER, USDS),
  )
  await api.catchUp()
  const market = `market:${OPTIMISM}:${STRANGE.vault}-${SECURES.vault}`
  const listed = [`debt ${LENDER.vault} 0`, `vault ${SECURES.vault} ${ETHERS}`]
  const strange = [`debt ${STRANGE.vault} -${USDS}`, `vault ${STRANGE.vault} ${USDS}`]
  const check = async () => {
    expect(await statementOf([OWNER])).toMatchObject({ rows: listed, leftOut: '1' })
    expect((await statementOf([OWNER], '&allowUnlisted=true')).rows).toEqual([...listed, ...strange].sort())
  }
  await check()
  await api.recordFacts([{ subject: market, kind: 'listed', value: {} }], timeOf(blocks))
  await api.catchUp()
  await check()
})

it('are made although an undescribed vault says nonsense of a debt', async () => {
  const { rows } = await statementOf([OWNER])
  await append(debt(numbered('e5', 2), USDS, { accumulatorRay: 0n }))
  await api.catchUp()
  expect((await statementOf([OWNER])).rows).toEqual(rows)
})

it('count what goes between a wallet and its accounts in the protocol as not moved, shares as debts', async () => {
  const first = blocks
  const some = ETHERS / 5n
  await append(
    ...shares(SECURES.vault, OWNER, some),
    loan(LENDER.vault, 'Borrowed'),
    debt(LENDER.vault, USDS),
  )
  await append(
    ['erc-4626', SECURES.vault, 'ShareTransferred', { from: OWNER, to: SUB, shares: some / 3n }],
    [
      'euler-v2',
      numbered('d5', 9),
      'AccountControllerChanged',
      { account: OTHER, vault: LENDER.vault, enabled: true },
    ],
    debt(LENDER.vault, 0n),
    debt(LENDER.vault, USDS, { account: OTHER }),
  )
  await api.catchUp()
  const path = `/beta/portfolio/statement?wallets=${OWNER}&fromTimestamp=${timeOf(first)}&toTimestamp=${timeOf(blocks)}`
  const { body } = await ask(path)
  const none = { transfersIn: '0', transfersOut: '0', gain: '0' }
  expect(body.data).toMatchObject([
    {
      kind: 'vault',
      accounts: [OWNER, SUB].map(of => getAddress(of)),
      native: { ...none, opening: `${ETHERS}`, deposits: `${some}`, closing: `${ETHERS + some}` },
    },
    {
      kind: 'debt',
      accounts: [SUB, OTHER].map(of => getAddress(of)),
      native: { ...none, opening: '0', withdrawals: `${USDS}`, closing: `-${USDS}` },
    },
  ])
})
