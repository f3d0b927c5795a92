import { functions as Vault } from '../../abi/erc4626/Vault.ts'
import { encodeCall } from '../../abi/words.ts'
import type { ShareAmounts, StateCall, VaultFigure, VaultReading } from '../protocol.ts'
import { answered, asWord } from './answers.ts'

const TOTAL_ASSETS = encodeCall(Vault.totalAssets)
const TOTAL_SUPPLY = encodeCall(Vault.totalSupply)
/** An account that holds nothing and that nobody has reasons to treat apart; some vaults refuse the zero address. */
const SOMEBODY = '0x0000000000000000000000000000000000000001'
const MAX_DEPOSIT = encodeCall(Vault.maxDeposit, SOMEBODY)

export const totalSupply = (token: string): StateCall => ({ to: token, data: TOTAL_SUPPLY })

export const balanceOf = (token: string, account: string): StateCall => ({
  to: token,
  data: encodeCall(Vault.balanceOf, account),
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
    ...pricesBy(vault, amounts, shares => encodeCall(Vault.convertToAssets, shares)),
    ['maxDeposit', { to: vault, data: MAX_DEPOSIT }],
    ['idleAssets', balanceOf(asset, vault)],
  ]
}

export const toUint = (answer: string | undefined) => answered(answer, asWord)
