import {
  concatHex,
  decodeFunctionData,
  encodeFunctionResult,
  erc20Abi,
  erc4626Abi,
  type Hex,
  numberToHex,
  size,
} from 'viem'
import { boundedReaderCode } from '../../../db/chain/bounded-reader.ts'
import type { ChainBlock } from './blocks.ts'
import type { GeneratedChain, GeneratedVault } from './generated-chain.ts'

const ABI = [...erc4626Abi, ...erc20Abi.filter(({ name }) => ['name', 'symbol', 'decimals'].includes(name))]

/** What a node says in place of an answer, with the code of JSON-RPC. */
export class Refused extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** What the views of a vault and of its asset answer; `0x`, as of an account without code, for everybody else. */
export function view(chain: GeneratedChain, to: string, data: Hex, block: ChainBlock): Hex {
  const token = chain.vaultOf(to)
  const vault = token?.address === to ? token : undefined
  if (!token || token.born > block.number) return '0x'
  let call: { functionName: string; args?: readonly unknown[] }
  try {
    call = decodeFunctionData({ abi: ABI, data })
  } catch {
    throw new Refused(3, 'execution reverted')
  }
  const value = vault ? vaultView(vault, call, block) : tokenView(token, call.functionName)
  if (value === undefined) throw new Refused(3, 'execution reverted')
  return encodeFunctionResult({
    abi: ABI,
    functionName: call.functionName as 'totalSupply',
    result: value as bigint,
  })
}

function tokenView(token: GeneratedVault, functionName: string): unknown {
  if (functionName === 'decimals') return token.assetDecimals
  if (functionName === 'name' || functionName === 'symbol') return `asset of ${token.symbol}`
  return undefined
}

function vaultView(
  vault: GeneratedVault,
  { functionName, args }: { functionName: string; args?: readonly unknown[] },
  block: ChainBlock,
): unknown {
  const { totalAssets, totalSupply } = block.states.get(vault.address) ?? { totalAssets: 0n, totalSupply: 0n }
  switch (functionName) {
    case 'asset':
      return vault.asset
    case 'decimals':
      return vault.decimals
    case 'name':
      return vault.name
    case 'symbol':
      return vault.symbol
    case 'totalAssets':
      return totalAssets
    case 'totalSupply':
      return totalSupply
    case 'convertToAssets': {
      const shares = args?.[0] as bigint
      return totalSupply === 0n ? shares : (shares * totalAssets) / totalSupply
    }
    default:
      return undefined
  }
}

const IDENTITY = `0x${'4'.padStart(40, '0')}`
/** Behind the code: four words of limits, which no view of these vaults comes near. */
const LIMITS = 2 * 4 * 32
const GAS = 30_000

/** What bounded-reader.yul answers when it runs on this chain; undefined where the code is another. */
export function runReader(chain: GeneratedChain, code: Hex, block: ChainBlock): Hex | undefined {
  if (!code.startsWith(boundedReaderCode)) return undefined
  const answers: Hex[] = []
  for (let at = boundedReaderCode.length + LIMITS; at < code.length; ) {
    const to = `0x${code.slice(at, at + 40)}`
    const end = at + 48 + 2 * Number(`0x${code.slice(at + 40, at + 48)}`)
    const answer = called(chain, to, `0x${code.slice(at + 48, end)}`, block)
    answers.push(
      concatHex([
        answer === undefined ? '0x00' : '0x01',
        numberToHex(answer === undefined ? 0 : size(answer), { size: 4 }),
        numberToHex(GAS, { size: 4 }),
        answer ?? '0x',
      ]),
    )
    at = end
  }
  return concatHex(answers)
}

/** Undefined where it reverts. */
function called(chain: GeneratedChain, to: string, data: Hex, block: ChainBlock): Hex | undefined {
  if (to === IDENTITY) return data
  try {
    return view(chain, to, data, block)
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}
