// Generated from MarketFactory.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const CreateNewMarket: w.EventAbi<{ market: string; PT: string; scalarRoot: bigint; initialAnchor: bigint; lnFeeRateRoot: bigint }> = {
  name: 'CreateNewMarket',
  signature: 'CreateNewMarket(address,address,int256,int256,uint256)',
  topic0: '0xae811fae25e2770b6bd1dcb1475657e8c3a976f91d1ebf081271db08eef920af',
  topicCount: 3,
  dataLength: 96,
  decode: log => ({
    market: w.address(w.topic(log, 1), 2),
    PT: w.address(w.topic(log, 2), 2),
    scalarRoot: w.int(log.data, 2, 256),
    initialAnchor: w.int(log.data, 66, 256),
    lnFeeRateRoot: w.uint(log.data, 130, 256),
  }),
}

export const CreateNewMarket_2: w.EventAbi<{ market: string; PT: string; scalarRoot: bigint; initialAnchor: bigint }> = {
  name: 'CreateNewMarket',
  signature: 'CreateNewMarket(address,address,int256,int256)',
  topic0: '0x166ae5f55615b65bbd9a2496e98d4e4d78ca15bd6127c0fe2dc27b76f6c03143',
  topicCount: 3,
  dataLength: 64,
  decode: log => ({
    market: w.address(w.topic(log, 1), 2),
    PT: w.address(w.topic(log, 2), 2),
    scalarRoot: w.int(log.data, 2, 256),
    initialAnchor: w.int(log.data, 66, 256),
  }),
}

export const events = [CreateNewMarket, CreateNewMarket_2] as const
