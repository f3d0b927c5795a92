// Generated from EulerEarnFactory.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const CreateEulerEarn: w.EventAbi<{ eulerEarn: string; caller: string; initialOwner: string; initialTimelock: bigint; asset: string; name: string; symbol: string; salt: string }> = {
  name: 'CreateEulerEarn',
  signature: 'CreateEulerEarn(address,address,address,uint256,address,string,string,bytes32)',
  topic0: '0x2ecfce4fdb2055c9639b56f59c2a14eeafce06a51d93d898155bc11b6141896f',
  topicCount: 4,
  dataLength: { min: 224 },
  decode: log => ({
    eulerEarn: w.address(w.topic(log, 1), 2),
    caller: w.address(w.topic(log, 2), 2),
    initialOwner: w.address(log.data, 2),
    initialTimelock: w.uint(log.data, 66, 256),
    asset: w.address(w.topic(log, 3), 2),
    name: w.text(log.data, 130),
    symbol: w.text(log.data, 194),
    salt: w.bytes(log.data, 258, 32),
  }),
}

export const events = [CreateEulerEarn] as const
