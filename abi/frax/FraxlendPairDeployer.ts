// Generated from FraxlendPairDeployer.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const LogDeploy: w.EventAbi<{ address_: string; asset: string; collateral: string; name: string; configData: string; immutables: string; customConfigData: string }> = {
  name: 'LogDeploy',
  signature: 'LogDeploy(address,address,address,string,bytes,bytes,bytes)',
  topic0: '0x9303649990c462969a3c46d4e2c758166e92f5a4b18c67f26d3e58d2b0660e67',
  topicCount: 4,
  dataLength: { min: 256 },
  decode: log => ({
    address_: w.address(w.topic(log, 1), 2),
    asset: w.address(w.topic(log, 2), 2),
    collateral: w.address(w.topic(log, 3), 2),
    name: w.text(log.data, 2),
    configData: w.dynamicBytes(log.data, 66),
    immutables: w.dynamicBytes(log.data, 130),
    customConfigData: w.dynamicBytes(log.data, 194),
  }),
}

export const events = [LogDeploy] as const
