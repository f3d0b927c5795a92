import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { factsOfChain } from '../../db/networks.ts'

/** @see https://github.com/mds1/multicall3: the same address on every chain. */
export const multicall3Address: Address = '0xca11bde05977b3631167028862be2a173976ca11'

/** @see Multicall3.sol */
export const multicall3Abi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Call3Value { address target; bool allowFailure; uint256 value; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
  'function aggregate3Value(Call3Value[] calls) payable returns (Result[] returnData)',
  'function getBlockNumber() view returns (uint256 blockNumber)',
  'function getCurrentBlockTimestamp() view returns (uint256 timestamp)',
  'function getChainId() view returns (uint256 chainid)',
  'function getEthBalance(address addr) view returns (uint256 balance)',
])

export interface RawCall {
  to: Address
  data: Hex
}

export interface RawAnswer {
  success: boolean
  data: Hex
}

/** The block that a batch was answered at. */
export interface BlockMark {
  number: bigint
  /** Unix seconds. */
  timestamp: number
}

/**
 * block.number of an Arbitrum chain is about that of its parent chain; its own is asked of ArbSys.
 * @see ArbSys.sol of OffchainLabs/nitro-contracts, arbBlockNumber() 0xa3b1b31d
 */
const arbSys: RawCall = { to: '0x0000000000000000000000000000000000000064', data: '0xa3b1b31d' }

const blockNumber: RawCall = {
  to: multicall3Address,
  data: encodeFunctionData({ abi: multicall3Abi, functionName: 'getBlockNumber' }),
}
const timestamp: RawCall = {
  to: multicall3Address,
  data: encodeFunctionData({ abi: multicall3Abi, functionName: 'getCurrentBlockTimestamp' }),
}

const chain: RawCall = {
  to: multicall3Address,
  data: encodeFunctionData({ abi: multicall3Abi, functionName: 'getChainId' }),
}

/** Reads that say which block of which chain it is. */
export const headOf = (chainId: number): RawCall[] => [
  factsOfChain(chainId)?.isArbitrum ? arbSys : blockNumber,
  timestamp,
  chain,
]

/** What they answer. */
export function markOf([number, time, id]: readonly (Hex | undefined)[]): {
  chainId: number
  block: BlockMark
} {
  const word = (data: Hex | undefined) => BigInt(data ?? '0x')
  return { chainId: Number(word(id)), block: { number: word(number), timestamp: Number(word(time)) } }
}

/** Calldata that reads `calls` and the block they are read at. */
export function encodeBatch(chainId: number, calls: readonly RawCall[]): Hex {
  const head = headOf(chainId)
  return encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [[...head, ...calls].map(call => ({ target: call.to, allowFailure: true, callData: call.data }))],
  })
}

/** Throws where the answer is not Multicall3's. */
export function decodeBatch(answer: Hex): { chainId: number; block: BlockMark; answers: RawAnswer[] } {
  const [number, time, id, ...rest] = decodeFunctionResult({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    data: answer,
  })
  return {
    ...markOf([number, time, id].map(result => result?.returnData)),
    answers: rest.map(({ success, returnData }) => ({ success, data: returnData })),
  }
}
