import {
  type Address,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseAbi,
} from 'viem'
import { morphoAbi } from './abis.ts'
import { morphoArtifacts, ownArtifacts } from './compile.ts'
import { type Feed, sendDeployment, type Token } from './deploy.ts'
import { multicall3Address } from './multicall.ts'
import type { Call, Node } from './node.ts'

export interface MarketParams {
  loanToken: Address
  collateralToken: Address
  oracle: Address
  irm: Address
  lltv: bigint
}

export interface Market {
  id: Hex
  params: MarketParams
  loan: Token
  collateral: Token
  loanFeed: Feed
  collateralFeed: Feed
}

export interface Morpho {
  address: Address
  irm: Address
  markets: Market[]
}

const wad = 10n ** 18n

/** Morpho Blue with one market per pair; its oracles read the feeds, so a reported price is the market's price. */
export async function deployMorpho(
  node: Node,
  pairs: { loan: Token; collateral: Token; loanFeed: Feed; collateralFeed: Feed; lltv: number }[],
): Promise<Morpho> {
  const admin = node.accounts[0] ?? '0x'
  const { Morpho, IrmMock } = morphoArtifacts()
  const address = await sendDeployment(node, Morpho, [admin], 'deploy Morpho')
  const irm = await sendDeployment(node, IrmMock, [], 'deploy Morpho rate model')
  const call = (data: Hex, label: string): Call => ({ from: admin, to: address, data, label })
  await node.send(
    call(encodeFunctionData({ abi: morphoAbi, functionName: 'enableIrm', args: [irm] }), 'enableIrm'),
  )
  const lltvs = [...new Set(pairs.map(({ lltv }) => lltv))]
  for (const lltv of lltvs) {
    const args = [fractionToWad(lltv)] as const
    await node.send(
      call(encodeFunctionData({ abi: morphoAbi, functionName: 'enableLltv', args }), 'enableLltv'),
    )
  }
  const markets: Market[] = []
  for (const { loan, collateral, loanFeed, collateralFeed, lltv } of pairs) {
    const feeds = [collateralFeed.proxy, loanFeed.proxy, collateral.decimals, loan.decimals]
    const oracle = await sendDeployment(node, ownArtifacts().FeedOracle, feeds, 'deploy market oracle')
    const params = {
      loanToken: loan.address,
      collateralToken: collateral.address,
      oracle,
      irm,
      lltv: fractionToWad(lltv),
    }
    const data = encodeFunctionData({ abi: morphoAbi, functionName: 'createMarket', args: [params] })
    await node.send(call(data, 'createMarket'))
    markets.push({ id: marketId(params), params, loan, collateral, loanFeed, collateralFeed })
  }
  return { address, irm, markets }
}

/** keccak256 of the five words of the parameters. @see MarketParamsLib.sol */
export function marketId(params: MarketParams): Hex {
  return keccak256(
    encodeAbiParameters(
      [
        { type: 'address' },
        { type: 'address' },
        { type: 'address' },
        { type: 'address' },
        { type: 'uint256' },
      ],
      [params.loanToken, params.collateralToken, params.oracle, params.irm, params.lltv],
    ),
  )
}

/** Amounts are in base units of the loan token or, for collateral, of the collateral token. */
export function morphoCalls(morpho: Address) {
  const call = (from: Address, data: Hex, label: string): Call => ({
    from,
    to: morpho,
    data,
    label: `Morpho ${label}`,
  })
  return {
    supply: (from: Address, { params }: Market, assets: bigint, onBehalf = from) =>
      call(
        from,
        encodeFunctionData({
          abi: morphoAbi,
          functionName: 'supply',
          args: [params, assets, 0n, onBehalf, '0x'],
        }),
        'supply',
      ),
    withdraw: (from: Address, { params }: Market, assets: bigint) =>
      call(
        from,
        encodeFunctionData({
          abi: morphoAbi,
          functionName: 'withdraw',
          args: [params, assets, 0n, from, from],
        }),
        'withdraw',
      ),
    withdrawShares: (from: Address, { params }: Market, shares: bigint) =>
      call(
        from,
        encodeFunctionData({
          abi: morphoAbi,
          functionName: 'withdraw',
          args: [params, 0n, shares, from, from],
        }),
        'withdraw all',
      ),
    supplyCollateral: (from: Address, { params }: Market, assets: bigint) =>
      call(
        from,
        encodeFunctionData({
          abi: morphoAbi,
          functionName: 'supplyCollateral',
          args: [params, assets, from, '0x'],
        }),
        'supplyCollateral',
      ),
    withdrawCollateral: (from: Address, { params }: Market, assets: bigint) =>
      call(
        from,
        encodeFunctionData({
          abi: morphoAbi,
          functionName: 'withdrawCollateral',
          args: [params, assets, from, from],
        }),
        'withdrawCollateral',
      ),
    borrow: (from: Address, { params }: Market, assets: bigint) =>
      call(
        from,
        encodeFunctionData({
          abi: morphoAbi,
          functionName: 'borrow',
          args: [params, assets, 0n, from, from],
        }),
        'borrow',
      ),
    repay: (from: Address, { params }: Market, assets: bigint) =>
      call(
        from,
        encodeFunctionData({ abi: morphoAbi, functionName: 'repay', args: [params, assets, 0n, from, '0x'] }),
        'repay',
      ),
    repayShares: (from: Address, { params }: Market, shares: bigint) =>
      call(
        from,
        encodeFunctionData({ abi: morphoAbi, functionName: 'repay', args: [params, 0n, shares, from, '0x'] }),
        'repay all',
      ),
    liquidate: (from: Address, { params }: Market, borrower: Address, repaidShares: bigint) =>
      call(
        from,
        encodeFunctionData({
          abi: morphoAbi,
          functionName: 'liquidate',
          args: [params, borrower, 0n, repaidShares, '0x'],
        }),
        'liquidate',
      ),
    /** Liquidates by collateral taken; all of it leaves the rest of the debt as bad debt. */
    seize: (from: Address, { params }: Market, borrower: Address, collateral: bigint) =>
      call(
        from,
        encodeFunctionData({
          abi: morphoAbi,
          functionName: 'liquidate',
          args: [params, borrower, collateral, 0n, '0x'],
        }),
        'liquidate',
      ),
    setFee: (from: Address, { params }: Market, fee: number) =>
      call(
        from,
        encodeFunctionData({ abi: morphoAbi, functionName: 'setFee', args: [params, fractionToWad(fee)] }),
        'setFee',
      ),
    setFeeRecipient: (from: Address, recipient: Address) =>
      call(
        from,
        encodeFunctionData({ abi: morphoAbi, functionName: 'setFeeRecipient', args: [recipient] }),
        'setFeeRecipient',
      ),
  } as const
}

function fractionToWad(fraction: number): bigint {
  return (BigInt(Math.round(fraction * 1e6)) * wad) / 1_000_000n
}

const multicall3Abi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[])',
])

/** The totals of a market at a block (the newest) with its interest, which the contract itself accrues in the call. */
export async function accruedTotals(
  node: Node,
  morpho: Address,
  { id, params }: Pick<Market, 'id' | 'params'>,
  blockNumber?: bigint,
) {
  const { loanToken, collateralToken, oracle, irm, lltv } = params
  const args = [{ loanToken, collateralToken, oracle, irm, lltv }] as const
  const call = (callData: Hex) => ({ target: morpho, allowFailure: false, callData })
  const { result } = await node.client.simulateContract({
    address: multicall3Address,
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [
      [
        call(encodeFunctionData({ abi: morphoAbi, functionName: 'accrueInterest', args })),
        call(encodeFunctionData({ abi: morphoAbi, functionName: 'market', args: [id] })),
      ],
    ],
    ...(blockNumber === undefined ? {} : { blockNumber }),
  })
  const data = result[1]?.returnData ?? '0x'
  const [totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares] = decodeFunctionResult({
    abi: morphoAbi,
    functionName: 'market',
    data,
  })
  return { totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares }
}
