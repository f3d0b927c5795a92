import type { RevertWords } from '../../transactions/revert-reason.ts'

/** @see Errors.sol of @aave/core-v3: the pool reverts with these numbers. */
export const errors: RevertWords = {
  strings: {
    '24': 'the amount is too small to be minted',
    '25': 'the amount is too small to be burnt',
    '26': 'the amount must be greater than 0',
    '27': 'the reserve is inactive',
    '28': 'the reserve is frozen',
    '29': 'the reserve is paused',
    '30': 'borrowing is not enabled',
    '32': 'not enough available user balance',
    '34': 'the collateral balance is 0',
    '35': 'the health factor would fall below the liquidation threshold',
    '36': 'there is not enough collateral to cover a new borrow',
    '39': 'there is no debt of this kind',
    '43': 'nothing of the asset is supplied',
    '50': 'the borrow cap is exceeded',
    '51': 'the supply cap is exceeded',
    '53': 'the debt ceiling is exceeded',
    '57': 'collateral without an LTV has to be withdrawn first',
    '58': 'the asset is not of the eMode category of the account',
    '59': 'the price oracle sentinel does not allow it now',
    '60': 'the asset is not borrowable in isolation mode',
    '62': 'the account is in isolation mode, or the LTV of the asset is 0',
    '89': 'a siloed asset can only be borrowed by itself',
  },
}
