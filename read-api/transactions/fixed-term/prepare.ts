import { type Address, type Hex, zeroAddress } from 'viem'
import { networkOfChain } from '../../../db/networks.ts'
import { multicall3Abi, multicall3Address } from '../../chain/multicall.ts'
import { NATIVE_ADDRESS } from '../../chain/native-coins.ts'
import type { ChainReader } from '../../chain/reader.ts'
import { view } from '../../chain/view.ts'
import { checksum } from '../../http/amounts.ts'
import { RefusedError } from '../../http/errors.ts'
import { fixedTermFamilies } from '../../load-protocols.ts'
import type { TokenFinder } from '../../rewards/tokens.ts'
import { erc20Abi } from '../abis.ts'
import type { createDryRunner } from '../dry-run.ts'
import type { ReadViews, Token } from '../family.ts'
import { type Bundle, createFinisher, pinnedReads } from '../finish.ts'
import type { FixedTermAction, FixedTermFamily, FixedTermRef, FixedTermStanding, Spent } from './family.ts'

export interface FixedTermBundleRequest {
  market: FixedTermRef
  user: Address
  action: FixedTermAction
  /** What is spent, lower case. */
  assetAddress: Address
  /** Base units of it. */
  amount: bigint | undefined
  all?: boolean | undefined
  /** Fraction of the quote that may be lost. */
  slippage: number
  simulate?: boolean | undefined
  /** Appended to the payload of every action. */
  suffix?: Hex | undefined
}

/** Addresses that stand for the chain's own coin. */
const NATIVE = new Set<string>([zeroAddress, NATIVE_ADDRESS])
const COIN: Token = { address: zeroAddress, symbol: 'native', decimals: 18 }

/** Payloads for fixed-term markets whose minimum is what a run of them gave, less the slippage. */
export function createFixedTermPreparer(
  reader: ChainReader,
  dryRun: ReturnType<typeof createDryRunner>,
  tokenOf: TokenFinder,
  known: readonly FixedTermFamily[] = fixedTermFamilies,
) {
  const finish = createFinisher(dryRun)
  const networkOf = ({ chainId }: FixedTermRef) => networkOfChain(chainId)?.name ?? ''

  const familyOf = ({ protocol }: FixedTermRef): FixedTermFamily => {
    const family = known.find(of => of.protocol === protocol)
    if (!family) throw new RefusedError(`Markets of ${protocol} are not read on chain.`)
    return family
  }

  const describe = async (market: FixedTermRef, address: Address): Promise<Token> => {
    const own = [COIN, market.info, market.pt].find(token => token.address === address)
    return (own as Token | undefined) ?? tokenOf(networkOf(market), address)
  }

  const look = async (market: FixedTermRef, user: Address) => {
    const standing = await familyOf(market).look(
      market,
      user,
      pinnedReads(reader, networkOf(market), 'fresh'),
    )
    const { tokenOut } = standing
    return { ...standing, received: tokenOut && (await describe(market, tokenOut)) }
  }

  const bundle = async (request: FixedTermBundleRequest): Promise<Bundle & { block: bigint }> => {
    const { market, user, action, slippage, simulate, suffix } = request
    const family = familyOf(market)
    const read = pinnedReads(reader, networkOf(market), 'fresh')
    const standing = await family.look(market, user, read)
    const address = spentAddress(request, standing)
    const token = await describe(market, address)
    const spent = { token, ...(await holdings(read, token, user, family.router)) }
    const amount = amountOf(request, spent)
    const received = action === 'swap-in' ? (market.pt as Token) : await receivedOf(market, standing)
    const scaled = BigInt(Math.round(slippage * 1e9))
    return finish({
      network: networkOf(market),
      chainId: market.chainId,
      user,
      action,
      block: standing.block.number,
      tokens: [token, received].filter(({ address: of }) => of !== zeroAddress),
      quoted: [received],
      plan: ({ resetAllowance, quotes: [quote] = [] }) =>
        standing.build({ action, amount, slippage: scaled, quote, resetAllowance }, spent, received),
      simulate,
      suffix,
    })
  }

  const receivedOf = async (market: FixedTermRef, { tokenOut }: FixedTermStanding): Promise<Token> => {
    if (!tokenOut)
      throw new RefusedError(
        `The wrapped token ${checksum(market.sy)} of this market does not say what it gives: nothing can be swapped out now.`,
      )
    return describe(market, tokenOut)
  }

  return { look, bundle }
}

async function holdings(read: ReadViews, token: Token, user: Address, router: Address) {
  if (token.address === zeroAddress) {
    const { values } = await read({
      balance: view(multicall3Abi, multicall3Address, 'getEthBalance', [user]),
    })
    return { balance: values.balance ?? 0n, allowance: 0n }
  }
  const { values } = await read({
    balance: view(erc20Abi, token.address, 'balanceOf', [user]),
    allowance: view(erc20Abi, token.address, 'allowance', [user, router]),
  })
  return { balance: values.balance ?? 0n, allowance: values.allowance ?? 0n }
}

/** The token that a request spends, the zero address for the chain's own coin. @throws RefusedError for one that is not taken */
function spentAddress(
  { market, action, assetAddress }: FixedTermBundleRequest,
  { hasEnded, tokensIn }: FixedTermStanding,
): Address {
  if (action === 'swap-out') {
    if (assetAddress !== market.pt.address)
      throw new RefusedError(
        `A swap-out spends the PT: assetAddress must be ${checksum(market.pt.address)} (${market.pt.symbol}).`,
      )
    return assetAddress
  }
  if (hasEnded)
    throw new RefusedError(
      `The market ended at ${market.expiry} (${new Date(market.expiry * 1000).toISOString()}): nothing is bought there any more. A swap-out redeems its PT.`,
    )
  const address = NATIVE.has(assetAddress) ? zeroAddress : assetAddress
  if (!tokensIn.includes(address)) {
    const taken = tokensIn.map(of => (of === zeroAddress ? 'the native coin' : checksum(of)))
    throw new RefusedError(
      taken.length === 0
        ? `The wrapped token ${checksum(market.sy)} of this market does not say what it takes: nothing can be swapped in now.`
        : `The market does not take ${checksum(assetAddress)}. assetAddress must be one of ${taken.join(', ')}.`,
    )
  }
  return address
}

function amountOf({ action, amount, all }: FixedTermBundleRequest, { token, balance }: Spent): bigint {
  if (amount !== undefined && all) throw new RefusedError('amount and all=true exclude each other.')
  if (amount === undefined && !all) throw new RefusedError(`amount or all=true is needed for ${action}.`)
  if (all && token.address === zeroAddress)
    throw new RefusedError('all=true would leave nothing for gas: give an amount of the native coin.')
  const value = amount ?? balance
  if (value === 0n) throw new RefusedError(`There is nothing to do: the amount is 0 (${token.symbol}).`)
  if (value > balance)
    throw new RefusedError(
      `The wallet holds ${balance} base units of ${token.symbol}, less than the ${value} asked for.`,
    )
  return value
}
