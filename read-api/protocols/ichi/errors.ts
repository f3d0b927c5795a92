import type { RevertWords } from '../../transactions/revert-reason.ts'

const TRY_LATER =
  'the pool was traded in this very block, away from its mean price, and the vault waits for the next one: try again'
const TOO_LARGE = 'the vault takes less than that in one deposit'
const TOO_FEW_LEFT =
  'so few shares would be left in the vault that it refuses: withdraw less, or all there are'

/** The newest vaults say them by number. @see ICHIVault.sol and ICHIVaultDepositGuard.sol */
const MEANINGS: Readonly<Record<string, string>> = {
  'IV.deposit: try later': TRY_LATER,
  IV5: TRY_LATER,
  IV6: TRY_LATER,
  IV7: 'the vault does not take its token0',
  IV8: 'the vault does not take its token1',
  'IV.deposit: deposits too large': TOO_LARGE,
  IV10: TOO_LARGE,
  'IV.deposit: maxTotalSupply': 'the vault is full',
  'IV.withdraw: min shares': TOO_FEW_LEFT,
  IV15: TOO_FEW_LEFT,
  'Invalid vault': 'the guard does not know the vault',
  OLD: "the pool's oracle does not reach back as far as the vault looks",
}

export const errors: RevertWords = {
  strings: Object.fromEntries(
    Object.entries(MEANINGS).map(([reason, meaning]) => [reason, `${meaning} (${reason})`]),
  ),
}
