// Generated from AaveOracle.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const AssetSourceUpdated: w.EventAbi<{ asset: string; source: string }> = {
  name: 'AssetSourceUpdated',
  signature: 'AssetSourceUpdated(address,address)',
  topic0: '0x22c5b7b2d8561d39f7f210b6b326a1aa69f15311163082308ac4877db6339dc1',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    source: w.address(w.topic(log, 2), 2),
  }),
}

export const events = [AssetSourceUpdated] as const

export const functions = {
  getAssetPrice: { signature: 'getAssetPrice(address)', selector: '0xb3596f07', inputs: ['address'] },
  getSourceOfAsset: { signature: 'getSourceOfAsset(address)', selector: '0x92bf2be0', inputs: ['address'] },
} as const satisfies Record<string, w.FunctionAbi>
