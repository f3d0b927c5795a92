import { aaveV3 } from './aave-v3.ts'
import { compoundV3 } from './compound-v3.ts'
import { eulerEvk } from './euler-evk.ts'
import type { BorrowFamily } from './family.ts'
import { morphoBlue } from './morpho-blue.ts'

/** One module a family; the market of the index names its protocol. */
export const borrowFamilies: readonly BorrowFamily[] = [morphoBlue, aaveV3, compoundV3, eulerEvk]
