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
import { cometFigures, figureCalls } from '../lending/comet-vault.ts'
import type { StateCall, StateRead } from '../protocol.ts'

export type SampleReason = EventData<'StateSampled'>['reason']

export interface SampledVault {
  vault: string
  asset: string
  protocol: string
  decimals: number
  assetDecimals: number
  /** Of an aToken, or of a Comet, which is its own. */
  pool?: string | undefined
  reason: SampleReason
}

type Figure = 'totalAssets' | 'totalSupply' | 'sharePrice' | 'maxDeposit' | 'idleAssets' | 'borrowedAssets'

/** Protocol of tokens that are not ERC-4626 vaults but stakes at an exchange rate. */
export const STAKED_TOKEN = 'staked-token'

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

type Figures = Partial<Record<Figure, bigint | undefined>>
/** What is asked of a vault, and what the answers say; `at` in unix seconds. */
interface Reading {
  calls: StateCall[]
  figures(answers: readonly (string | undefined)[], at: number): Figures
}

const RAY = 10n ** 27n

/** Answers that are figures, or nearly. */
function figureByFigure(
  reads: readonly [Figure, StateCall & { as?: (answer: bigint) => bigint }][],
): Reading {
  return {
    calls: reads.map(([, { to, data }]) => ({ to, data })),
    figures: answers =>
      Object.fromEntries(
        reads.map(([figure, { as }], i) => {
          const answer = toUint(answers[i])
          return [figure, as && answer !== undefined ? as(answer) : answer]
        }),
      ),
  }
}

/** Of an aToken, whose shares are its scaled units: what they are worth together and one by one, by the pool's index. */
function readingOfToken(vault: string, asset: string, pool: string, decimals: number): Reading {
  return figureByFigure([
    ['totalAssets', { to: vault, data: TOTAL_SUPPLY }],
    ['totalSupply', { to: vault, data: encodeCall(AToken.scaledTotalSupply) }],
    [
      'sharePrice',
      {
        to: pool,
        data: encodeCall(Pool.getReserveNormalizedIncome, asset),
        as: index => (10n ** BigInt(decimals) * index) / RAY,
      },
    ],
    ['idleAssets', { to: asset, data: balanceOf(vault) }],
  ])
}

/** Of a Comet, whose shares are principal. */
function readingOfComet(comet: string, asset: string, decimals: number): Reading {
  const simple = figureByFigure([
    ['totalAssets', { to: comet, data: TOTAL_SUPPLY }],
    ['idleAssets', { to: asset, data: balanceOf(comet) }],
    ['borrowedAssets', { to: comet, data: TOTAL_BORROW }],
  ])
  return {
    calls: [...simple.calls, ...figureCalls(comet)],
    figures: (answers, at) => ({
      ...simple.figures(answers, at),
      ...cometFigures(answers.slice(simple.calls.length), 10n ** BigInt(decimals), at),
    }),
  }
}

/** Of a token of Aave's safety module, which says what shares pay and not what it holds for them. */
function readingOfStake(vault: string, asset: string, decimals: number): Reading {
  const whole = 10n ** BigInt(decimals)
  const simple = figureByFigure([
    ['totalSupply', { to: vault, data: TOTAL_SUPPLY }],
    ['sharePrice', { to: vault, data: encodeCall(StakedToken.previewRedeem, whole) }],
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

function readingOf({ vault, asset, protocol, decimals, pool }: SampledVault): Reading {
  if (pool === vault) return readingOfComet(vault, asset, decimals)
  if (pool) return readingOfToken(vault, asset, pool, decimals)
  if (protocol === STAKED_TOKEN) return readingOfStake(vault, asset, decimals)
  return figureByFigure([
    ['totalAssets', { to: vault, data: TOTAL_ASSETS }],
    ['totalSupply', { to: vault, data: TOTAL_SUPPLY }],
    [
      'sharePrice',
      {
        to: vault,
        data: encodeFunctionData({
          abi: erc4626Abi,
          functionName: 'convertToAssets',
          args: [10n ** BigInt(decimals)],
        }),
      },
    ],
    ['maxDeposit', { to: vault, data: MAX_DEPOSIT }],
    ['idleAssets', { to: asset, data: balanceOf(vault) }],
    ...(protocol === 'euler'
      ? ([['borrowedAssets', { to: vault, data: TOTAL_BORROWS }]] satisfies [Figure, unknown][])
      : []),
  ])
}

/**
 * State of a vault at the end of a block, at its time in unix seconds: total assets, room for deposits, assets that lie
 * idle and assets lent out (asset base units), total supply (share base units) and convertToAssets of one whole share.
 * What a vault does not answer is absent.
 */
export function readVault(sampled: SampledVault, at: number): StateRead {
  const { vault, decimals, assetDecimals, reason } = sampled
  const { calls, figures } = readingOf(sampled)
  return {
    key: `vault ${vault}`,
    calls,
    events: answers => {
      const data = { vault, reason, ...figures(answers, at), decimals, assetDecimals }
      return [{ type: 'StateSampled', contract: vault, data } as DomainEvent]
    },
  }
}

function toUint(answer: string | undefined): bigint | undefined {
  if (!answer || answer.length < 66) return undefined
  return decodeAbiParameters([{ type: 'uint256' }], answer as Hex)[0]
}
