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
import { encodeCall } from '../../abi/words.ts'
import type { BlockRef } from '../../db/events/event-store.ts'
import type { DomainEvent, EventData } from '../../db/events/vocabulary.ts'
import type { ChainRpc } from '../rpc.ts'

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

type Figure = 'totalAssets' | 'totalSupply' | 'sharePrice' | 'maxDeposit' | 'idleAssets' | 'borrowedAssets'

const TOTAL_ASSETS = toFunctionSelector('totalAssets()')
const TOTAL_SUPPLY = toFunctionSelector('totalSupply()')
/** euler-vault-kit, EVault/IEVault.sol: outstanding borrows with interest, in asset base units. */
const TOTAL_BORROWS = toFunctionSelector('totalBorrows()')
/** An account that holds nothing and that nobody has reasons to treat apart; some vaults refuse the zero address. */
const SOMEBODY = '0x0000000000000000000000000000000000000001'
const MAX_DEPOSIT = encodeFunctionData({
  abi: erc4626Abi,
  functionName: 'maxDeposit',
  args: [SOMEBODY],
})

const balanceOf = (account: string) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [account as Hex] })

interface Read {
  to: string
  data: string
  /** The figure, where the answer is not it. */
  as?: (answer: bigint) => bigint
}

const RAY = 10n ** 27n

/** Of an aToken, whose shares are its scaled units: what they are worth together and one by one, by the pool's index. */
function readsOfToken(vault: string, asset: string, pool: string, decimals: number): [Figure, Read][] {
  return [
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
  ]
}

function readsOf({ vault, asset, protocol, decimals, pool }: SampledVault): [Figure, Read][] {
  if (pool) return readsOfToken(vault, asset, pool, decimals)
  return [
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
  ]
}

/**
 * State of vaults at the end of a block, read by multicall: total assets, room for deposits, assets that lie idle and
 * assets lent out (asset base units), total supply (share base units) and convertToAssets of one whole share. What a
 * vault does not answer is absent.
 */
export async function sampleVaults(
  rpc: ChainRpc,
  vaults: SampledVault[],
  block: BlockRef,
): Promise<DomainEvent[]> {
  const reads = vaults.map(readsOf)
  const answers = await rpc.calls(
    reads.flatMap(of => of.map(([, call]) => call)),
    block,
  )
  let at = 0
  return vaults.map(({ vault, decimals, assetDecimals, reason }, i) => ({
    type: 'StateSampled',
    contract: vault,
    data: {
      vault,
      reason,
      ...(Object.fromEntries(
        (reads[i] ?? []).map(([figure, { as }]) => {
          const answer = toUint(answers[at++])
          return [figure, as && answer !== undefined ? as(answer) : answer]
        }),
      ) as Partial<Record<Figure, bigint>>),
      decimals,
      assetDecimals,
    },
  }))
}

function toUint(answer: string | undefined): bigint | undefined {
  if (!answer || answer.length < 66) return undefined
  return decodeAbiParameters([{ type: 'uint256' }], answer as Hex)[0]
}
