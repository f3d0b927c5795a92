// Generated from AdaptiveCurveIrm.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const BorrowRateUpdate: w.EventAbi<{ id: string; avgBorrowRate: bigint; rateAtTarget: bigint }> = {
  name: 'BorrowRateUpdate',
  signature: 'BorrowRateUpdate(bytes32,uint256,uint256)',
  topic0: '0x7120161a7b3d31251e01294ab351ef15a41b91659a36032e4641bb89b121e321',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    id: w.topic(log, 1),
    avgBorrowRate: w.uint(log.data, 2, 256),
    rateAtTarget: w.uint(log.data, 66, 256),
  }),
}

export const events = [BorrowRateUpdate] as const
