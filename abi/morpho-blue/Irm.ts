// Generated from Irm.json by abi/generate.ts. Do not edit.
import type * as w from '../words.ts'

export const functions = {
  borrowRateView: { signature: 'borrowRateView((address,address,address,address,uint256),(uint128,uint128,uint128,uint128,uint128,uint128))', selector: '0x8c00bf6b', inputs: ['tuple', 'tuple'] },
} as const satisfies Record<string, w.FunctionAbi>
