// Generated from AsyncVault.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const DepositRequest: w.EventAbi<{ controller: string; owner: string; requestId: bigint; sender: string; assets: bigint }> = {
  name: 'DepositRequest',
  signature: 'DepositRequest(address,address,uint256,address,uint256)',
  topic0: '0xbb58420bb8ce44e11b84e214cc0de10ce5e7c24d0355b2815c3d758b514cae72',
  topicCount: 4,
  dataLength: 64,
  decode: log => ({
    controller: w.address(w.topic(log, 1), 2),
    owner: w.address(w.topic(log, 2), 2),
    requestId: w.uint(w.topic(log, 3), 2, 256),
    sender: w.address(log.data, 2),
    assets: w.uint(log.data, 66, 256),
  }),
}

export const RedeemRequest: w.EventAbi<{ controller: string; owner: string; requestId: bigint; sender: string; shares: bigint }> = {
  name: 'RedeemRequest',
  signature: 'RedeemRequest(address,address,uint256,address,uint256)',
  topic0: '0x1fdc681a13d8c5da54e301c7ce6542dcde4581e4725043fdab2db12ddc574506',
  topicCount: 4,
  dataLength: 64,
  decode: log => ({
    controller: w.address(w.topic(log, 1), 2),
    owner: w.address(w.topic(log, 2), 2),
    requestId: w.uint(w.topic(log, 3), 2, 256),
    sender: w.address(log.data, 2),
    shares: w.uint(log.data, 66, 256),
  }),
}

export const events = [DepositRequest, RedeemRequest] as const

export const functions = {
  supportsInterface: { signature: 'supportsInterface(bytes4)', selector: '0x01ffc9a7', inputs: ['bytes4'] },
} as const satisfies Record<string, w.FunctionAbi>
