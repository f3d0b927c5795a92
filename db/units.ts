/** Units that more than one part reckons in. Constants of a contract stand beside its arithmetic (`abi/<slug>/math.ts`). */

/** A fraction with 18 decimals. */
export const WAD = 10n ** 18n
/** A fraction with 27 decimals. */
export const RAY = 10n ** 27n

/** Seconds. */
export const HOUR = 3_600
export const DAY = 86_400
export const WEEK = 7 * DAY
/** Of 365 days, as rates a year are reckoned. */
export const YEAR = 365 * DAY

/** Shares that come from it were minted, those that go to it burnt. */
export const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'
