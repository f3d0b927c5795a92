import { type Address, encodeFunctionData, maxUint256, zeroAddress } from 'viem'
import table from '../../../db/registry/contracts/pendle-v2.json' with { type: 'json' }
import { view } from '../../chain/view.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import type { Plan, PlannedAction, Token } from '../../transactions/family.ts'
import type {
  FixedTermFamily,
  FixedTermRef,
  FixedTermRequest,
  Spent,
} from '../../transactions/fixed-term/family.ts'
import { approvals } from '../../transactions/wallet.ts'
import { routerAbi, syAbi } from './abi.ts'
import { pendleFigures } from './figures.ts'

/** Never asked of a market: a market may be anybody's. */
const ROUTER = table.router as Address

const NO_SWAP = { swapType: 0, extRouter: zeroAddress, extCalldata: '0x', needScale: false } as const
const NO_ORDERS = {
  limitRouter: zeroAddress,
  epsSkipMarket: 0n,
  normalFills: [],
  flashFills: [],
  optData: '0x',
} as const

const BILLION = 10n ** 9n
/** The least that the search for an amount may range on either side of the quote, of a billion. */
const LEAST_RANGE = BILLION / 1_000n

/** Where nothing is known the contract searches everywhere; close to a quote it finds more with fewer steps. */
function approximation(quote: bigint | undefined, slippage: bigint) {
  if (quote === undefined)
    return { guessMin: 0n, guessMax: maxUint256, guessOffchain: 0n, maxIteration: 256n, eps: 10n ** 14n }
  // A range narrower than the slippage would make it revert for a move that the slippage allows.
  const range = slippage > LEAST_RANGE ? slippage : LEAST_RANGE
  return {
    guessMin: (quote * (BILLION - range)) / BILLION,
    guessMax: (quote * (BILLION + range)) / BILLION,
    guessOffchain: quote,
    maxIteration: 30n,
    eps: 10n ** 10n,
  }
}

const lower = (addresses: readonly Address[] | undefined) =>
  (addresses ?? []).map(address => address.toLowerCase() as Address)

/** What comes out need not be the asset: a cooldown or a bridge may stand between. */
function preferred(tokens: readonly Address[], { info, yieldToken }: FixedTermRef): Address | undefined {
  const wished = [info.address, yieldToken].find(address => tokens.some(token => token === address))
  return (wished as Address | undefined) ?? tokens[0]
}

/**
 * Pendle v2 by its router, without aggregators: PT are bought and sold in the market, and redeemed from its expiry on, when PT
 * alone suffice.
 * @see ActionSwapPTV3.sol and ActionMiscV3.sol of @pendle/core-v2 6.11.0
 */
export const pendleV2: FixedTermFamily = {
  protocol: 'pendle-v2',
  router: ROUTER,
  figures: pendleFigures,
  async look(market, user, read) {
    const [asset, pt, sy] = [market.info.address, market.pt.address, market.sy] as [Address, Address, Address]
    const { block, values } = await read({
      tokensIn: view(syAbi, sy, 'getTokensIn', []),
      tokensOut: view(syAbi, sy, 'getTokensOut', []),
      assets: view(erc20Abi, asset, 'balanceOf', [user]),
      pt: view(erc20Abi, pt, 'balanceOf', [user]),
    })
    const hasEnded = block.timestamp >= market.expiry
    return {
      block,
      hasEnded,
      assets: values.assets ?? 0n,
      pt: values.pt ?? 0n,
      tokensIn: lower(values.tokensIn),
      tokenOut: preferred(lower(values.tokensOut), market),
      build: (request, spent, received) => planOf({ market, user, hasEnded }, request, spent, received),
    }
  },
}

interface Trade {
  market: FixedTermRef
  user: Address
  hasEnded: boolean
}

function planOf(trade: Trade, request: FixedTermRequest, spent: Spent, received: Token): Plan {
  const { action, amount, resetAllowance } = request
  const isNative = spent.token.address === zeroAddress
  const isApproved = isNative || spent.allowance >= amount
  const before = isNative
    ? []
    : approvals(spent.token.address, ROUTER, amount, {
        reset: resetAllowance && !isApproved && spent.allowance > 0n,
      })
  const data =
    action === 'swap-in'
      ? buying(trade, request, spent.token.address)
      : selling(trade, request, received.address)
  const last: PlannedAction = { name: action, to: ROUTER, data, ...(isNative ? { value: amount } : {}) }
  return {
    actions: [...before, last],
    currentActionIndex: isApproved ? before.length : 0,
    gains: [received],
  }
}

const leastOf = ({ quote, slippage }: FixedTermRequest) =>
  quote === undefined ? 0n : (quote * (BILLION - slippage)) / BILLION

function buying({ market, user }: Trade, request: FixedTermRequest, token: Address) {
  const { amount, quote, slippage } = request
  const input = {
    tokenIn: token,
    netTokenIn: amount,
    tokenMintSy: token,
    pendleSwap: zeroAddress,
    swapData: NO_SWAP,
  }
  const guess = approximation(quote, slippage)
  return encodeFunctionData({
    abi: routerAbi,
    functionName: 'swapExactTokenForPt',
    args: [user, market.address as Address, leastOf(request), guess, input, NO_ORDERS],
  })
}

function selling({ market, user, hasEnded }: Trade, request: FixedTermRequest, token: Address) {
  const output = {
    tokenOut: token,
    minTokenOut: leastOf(request),
    tokenRedeemSy: token,
    pendleSwap: zeroAddress,
    swapData: NO_SWAP,
  }
  return hasEnded
    ? encodeFunctionData({
        abi: routerAbi,
        functionName: 'redeemPyToToken',
        args: [user, market.yt as Address, request.amount, output],
      })
    : encodeFunctionData({
        abi: routerAbi,
        functionName: 'swapExactPtForToken',
        args: [user, market.address as Address, request.amount, output, NO_ORDERS],
      })
}
