import {
  decodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  erc4626Abi,
  type Hex,
  toFunctionSelector,
} from 'viem'
import { functions as AToken } from '../../abi/aave-v3/AToken.ts'
import { functions as Pool } from '../../abi/aave-v3/Pool.ts'
import { functions as StakedToken } from '../../abi/staking/StakedToken.ts'
import { encodeCall } from '../../abi/words.ts'
import type { DomainEvent, EventData } from '../../db/events/vocabulary.ts'
import { ofProtocol, type StateCall, type StateRead } from '../protocol.ts'
import { cometFigures, figureCalls } from '../protocols/compound-v3/vault.ts'

export type SampleReason = EventData<'StateSampled'>['reason']

export interface SampledVault {
  vault: string
  asset: string
  protocol: string
  decimals: number
  assetDecimals: number
  /** Of an aToken. */
  pool?: string | undefined
  reason: SampleReason
}

type Figure =
  | 'totalAssets'
  | 'totalSupply'
  | 'sharePrice'
  | 'finePrice'
  | 'maxDeposit'
  | 'idleAssets'
  | 'borrowedAssets'

const TOTAL_ASSETS = toFunctionSelector('totalAssets()')
const TOTAL_SUPPLY = toFunctionSelector('totalSupply()')
/** euler-vault-kit, EVault/IEVault.sol: outstanding borrows with interest, in asset base units. */
const TOTAL_BORROWS = toFunctionSelector('totalBorrows()')
/** Comet, CometMainInterface.sol: the same. */
const TOTAL_BORROW = toFunctionSelector('totalBorrow()')
/** An account that holds nothing and that nobody has reasons to treat apart; some vaults refuse the zero address. */
const SOMEBODY = '0x0000000000000000000000000000000000000001'
const MAX_DEPOSIT = encodeFunctionData({
  abi: erc4626Abi,
  functionName: 'maxDeposit',
  args: [SOMEBODY],
})

const balanceOf = (account: string) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [account as Hex] })

/** Digits that a share price is to have. */
const DIGITS = 18
/** 10^77 is the largest power of ten in a uint256. */
const LARGEST = 77

/** One whole share, and as many as give the price all its digits: an asset of 18 decimals has them already. */
function amountsOf({ decimals, assetDecimals }: { decimals: number; assetDecimals: number }) {
  const fineDigits = Math.max(0, Math.min(DIGITS - assetDecimals, LARGEST - decimals))
  return { whole: 10n ** BigInt(decimals), fine: 10n ** BigInt(decimals + fineDigits), fineDigits }
}
type Amounts = ReturnType<typeof amountsOf>

type Figures = Partial<Record<Figure, bigint | undefined>>
/** What is asked of a vault, and what the answers say; `at` in unix seconds. */
interface Reading {
  calls: StateCall[]
  figures(answers: readonly (string | undefined)[], at: number): Figures
}

const RAY = 10n ** 27n

/** Answers that are figures. */
function figureByFigure(reads: readonly [Figure, StateCall][]): Reading {
  return {
    calls: reads.map(([, call]) => call),
    figures: answers => Object.fromEntries(reads.map(([figure], i) => [figure, toUint(answers[i])])),
  }
}

/** Of an aToken, whose shares are its scaled units: what they are worth together and one by one, by the pool's index. */
function readingOfToken(vault: string, asset: string, pool: string, { whole, fine }: Amounts): Reading {
  const simple = figureByFigure([
    ['totalAssets', { to: vault, data: TOTAL_SUPPLY }],
    ['totalSupply', { to: vault, data: encodeCall(AToken.scaledTotalSupply) }],
    ['idleAssets', { to: asset, data: balanceOf(vault) }],
  ])
  return {
    calls: [...simple.calls, { to: pool, data: encodeCall(Pool.getReserveNormalizedIncome, asset) }],
    figures: (answers, at) => {
      const figures = simple.figures(answers, at)
      const index = toUint(answers[simple.calls.length])
      if (index === undefined) return figures
      return { ...figures, sharePrice: (whole * index) / RAY, finePrice: (fine * index) / RAY }
    },
  }
}

/** Of a Comet, whose shares are principal. */
function readingOfComet(comet: string, asset: string, amounts: Amounts): Reading {
  const simple = figureByFigure([
    ['totalAssets', { to: comet, data: TOTAL_SUPPLY }],
    ['idleAssets', { to: asset, data: balanceOf(comet) }],
    ['borrowedAssets', { to: comet, data: TOTAL_BORROW }],
  ])
  return {
    calls: [...simple.calls, ...figureCalls(comet)],
    figures: (answers, at) => ({
      ...simple.figures(answers, at),
      ...cometFigures(answers.slice(simple.calls.length), amounts, at),
    }),
  }
}

/** Of a token of Aave's safety module, which says what shares pay and not what it holds for them. */
function readingOfStake(vault: string, asset: string, amounts: Amounts): Reading {
  const { whole } = amounts
  const simple = figureByFigure([
    ['totalSupply', { to: vault, data: TOTAL_SUPPLY }],
    ...pricesBy(vault, amounts, shares => encodeCall(StakedToken.previewRedeem, shares)),
    ['idleAssets', { to: asset, data: balanceOf(vault) }],
  ])
  return {
    calls: simple.calls,
    figures: (answers, at) => {
      const figures = simple.figures(answers, at)
      const { totalSupply, sharePrice } = figures
      if (totalSupply === undefined || sharePrice === undefined) return figures
      return { ...figures, totalAssets: (totalSupply * sharePrice) / whole }
    },
  }
}

/** The share price as a contract says it of an amount of shares. */
function pricesBy(
  vault: string,
  { whole, fine }: Amounts,
  asked: (shares: bigint) => string,
): [Figure, StateCall][] {
  const prices: [Figure, StateCall][] = [['sharePrice', { to: vault, data: asked(whole) }]]
  if (fine > whole) prices.push(['finePrice', { to: vault, data: asked(fine) }])
  return prices
}

function figuresOfVault(vault: string, asset: string, amounts: Amounts): [Figure, StateCall][] {
  return [
    ['totalAssets', { to: vault, data: TOTAL_ASSETS }],
    ['totalSupply', { to: vault, data: TOTAL_SUPPLY }],
    ...pricesBy(vault, amounts, shares =>
      encodeFunctionData({ abi: erc4626Abi, functionName: 'convertToAssets', args: [shares] }),
    ),
    ['maxDeposit', { to: vault, data: MAX_DEPOSIT }],
    ['idleAssets', { to: asset, data: balanceOf(vault) }],
  ]
}

/** Of vaults that are not read as ERC-4626 has it, by the slug of what they are. */
const READINGS: Partial<Record<string, (of: SampledVault, amounts: Amounts) => Reading | undefined>> = {
  'aave-v3': ({ vault, asset, pool }, amounts) =>
    pool ? readingOfToken(vault, asset, pool, amounts) : undefined,
  'compound-v3': ({ vault, asset }, amounts) => readingOfComet(vault, asset, amounts),
  'euler-v2': ({ vault, asset }, amounts) =>
    figureByFigure([
      ...figuresOfVault(vault, asset, amounts),
      ['borrowedAssets', { to: vault, data: TOTAL_BORROWS }],
    ]),
  'staked-token': ({ vault, asset }, amounts) => readingOfStake(vault, asset, amounts),
}

/**
 * A contract that refuses so many shares, or says of them what is not the same price (it answers for no more than it has),
 * has no finer one.
 */
function withFinePrice({ finePrice, ...figures }: Figures, { whole, fine, fineDigits }: Amounts) {
  const { sharePrice } = figures
  if (finePrice === undefined || sharePrice === undefined || fineDigits === 0) return figures
  const difference = (finePrice * whole) / fine - sharePrice
  return difference < -1n || difference > 1n ? figures : { ...figures, finePrice, fineDigits }
}

/**
 * State of a vault at the end of a block, at its time in unix seconds: total assets, room for deposits, assets that lie
 * idle and assets lent out (asset base units), total supply (share base units) and convertToAssets of one whole share and of
 * more, for the digits.
 * What a vault does not answer is absent.
 */
export function readVault(sampled: SampledVault, at: number): StateRead {
  const { vault, asset, protocol, decimals, assetDecimals, reason } = sampled
  const amounts = amountsOf(sampled)
  const own = READINGS[protocol]?.(sampled, amounts)
  const { calls, figures } = own ?? figureByFigure(figuresOfVault(vault, asset, amounts))
  return ofProtocol(own ? protocol : 'erc-4626', {
    key: `vault ${vault}`,
    calls,
    events: answers => {
      const read = withFinePrice(figures(answers, at), amounts)
      const data = { vault, reason, ...read, decimals, assetDecimals }
      return [{ type: 'StateSampled', contract: vault, data } as DomainEvent]
    },
  })
}

function toUint(answer: string | undefined): bigint | undefined {
  if (!answer || answer.length < 66) return undefined
  return decodeAbiParameters([{ type: 'uint256' }], answer as Hex)[0]
}
