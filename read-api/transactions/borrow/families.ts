import { aaveV3 } from '../../protocols/aave-v3/borrow.ts'
import { compoundV3 } from '../../protocols/compound-v3/borrow.ts'
import { eulerEvk } from '../../protocols/euler-v2/borrow.ts'
import { morphoBlue } from '../../protocols/morpho-blue/borrow.ts'
import type { BorrowFamily } from './family.ts'

/** One module a family; the market of the index names its protocol. */
export const borrowFamilies: readonly BorrowFamily[] = [morphoBlue, aaveV3, compoundV3, eulerEvk]
