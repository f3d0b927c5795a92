import {
  decodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  erc4626Abi,
  type Hex,
  toFunctionSelector,
} from 'viem'
import type { ShareAmounts, StateCall, VaultFigure, VaultReading } from '../protocol.ts'

const TOTAL_ASSETS = toFunctionSelector('totalAssets()')
const TOTAL_SUPPLY = toFunctionSelector('totalSupply()')
/** An account that holds nothing and that nobody has reasons to treat apart; some vaults refuse the zero address. */
const SOMEBODY = '0x0000000000000000000000000000000000000001'
const MAX_DEPOSIT = encodeFunctionData({
  abi: erc4626Abi,
  functionName: 'maxDeposit',
  args: [SOMEBODY],
})

export const totalSupply = (token: string): StateCall => ({ to: token, data: TOTAL_SUPPLY })

export const balanceOf = (token: string, account: string): StateCall => ({
  to: token,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [account as Hex] }),
})

/** Answers that are figures. */
export function figureByFigure(reads: readonly [VaultFigure, StateCall][]): VaultReading {
  return {
    calls: reads.map(([, call]) => call),
    figures: answers => Object.fromEntries(reads.map(([figure], i) => [figure, toUint(answers[i])])),
  }
}

/** The share price as a contract says it of an amount of shares. */
export function pricesBy(
  vault: string,
  { whole, fine }: ShareAmounts,
  asked: (shares: bigint) => string,
): [VaultFigure, StateCall][] {
  const prices: [VaultFigure, StateCall][] = [['sharePrice', { to: vault, data: asked(whole) }]]
  if (fine > whole) prices.push(['finePrice', { to: vault, data: asked(fine) }])
  return prices
}

/** What any ERC-4626 vault says of itself. */
export function figuresOfVault(
  vault: string,
  asset: string,
  amounts: ShareAmounts,
): [VaultFigure, StateCall][] {
  return [
    ['totalAssets', { to: vault, data: TOTAL_ASSETS }],
    ['totalSupply', totalSupply(vault)],
    ...pricesBy(vault, amounts, shares =>
      encodeFunctionData({ abi: erc4626Abi, functionName: 'convertToAssets', args: [shares] }),
    ),
    ['maxDeposit', { to: vault, data: MAX_DEPOSIT }],
    ['idleAssets', balanceOf(asset, vault)],
  ]
}

export function toUint(answer: string | undefined): bigint | undefined {
  if (!answer || answer.length < 66) return undefined
  return decodeAbiParameters([{ type: 'uint256' }], answer as Hex)[0]
}
