// Generated from MetaMorphoFactory.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const CreateMetaMorpho: w.EventAbi<{ metaMorpho: string; caller: string; initialOwner: string; initialTimelock: bigint; asset: string; name: string; symbol: string; salt: string }> = {
  name: 'CreateMetaMorpho',
  signature: 'CreateMetaMorpho(address,address,address,uint256,address,string,string,bytes32)',
  topic0: '0xed8c95d05909b0f217f3e68171ef917df4b278d5addfe4dda888e90279be7d1d',
  topicCount: 4,
  dataLength: { min: 224 },
  decode: log => ({
    metaMorpho: w.address(w.topic(log, 1), 2),
    caller: w.address(w.topic(log, 2), 2),
    initialOwner: w.address(log.data, 2),
    initialTimelock: w.uint(log.data, 66, 256),
    asset: w.address(w.topic(log, 3), 2),
    name: w.text(log.data, 130),
    symbol: w.text(log.data, 194),
    salt: w.bytes(log.data, 258, 32),
  }),
}

export const events = [CreateMetaMorpho] as const
