import { decodeAbiParameters, encodeFunctionData, erc4626Abi, toFunctionSelector } from 'viem'
import type { BlockRef } from '../../db/events/event-store.ts'
import type { DomainEvent, EventData } from '../../db/events/vocabulary.ts'
import type { ChainRpc } from '../rpc.ts'

export type SampleReason = EventData<'StateSampled'>['reason']

export interface SampledVault {
  vault: string
  decimals: number
  assetDecimals: number
  reason: SampleReason
}

const TOTAL_ASSETS = toFunctionSelector('totalAssets()')
const TOTAL_SUPPLY = toFunctionSelector('totalSupply()')

/**
 * State of vaults at the end of a block, read by multicall: total assets (asset base units), total supply (share base
 * units) and convertToAssets of one whole share. What a vault does not answer is absent.
 */
export async function sampleVaults(
  rpc: ChainRpc,
  vaults: SampledVault[],
  block: BlockRef,
): Promise<DomainEvent[]> {
  const calls = vaults.flatMap(({ vault, decimals }) => [
    { to: vault, data: TOTAL_ASSETS },
    { to: vault, data: TOTAL_SUPPLY },
    {
      to: vault,
      data: encodeFunctionData({
        abi: erc4626Abi,
        functionName: 'convertToAssets',
        args: [10n ** BigInt(decimals)],
      }),
    },
  ])
  const answers = await rpc.calls(calls, block)
  return vaults.map(({ vault, decimals, assetDecimals, reason }, i) => ({
    type: 'StateSampled',
    contract: vault,
    data: {
      vault,
      reason,
      totalAssets: toUint(answers[i * 3]),
      totalSupply: toUint(answers[i * 3 + 1]),
      sharePrice: toUint(answers[i * 3 + 2]),
      decimals,
      assetDecimals,
    },
  }))
}

function toUint(answer: string | undefined): bigint | undefined {
  if (!answer || answer.length < 66) return undefined
  return decodeAbiParameters([{ type: 'uint256' }], answer as `0x${string}`)[0]
}
