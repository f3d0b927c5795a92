// Generated from Configurator.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const CometDeployed: w.EventAbi<{ cometProxy: string; newComet: string }> = {
  name: 'CometDeployed',
  signature: 'CometDeployed(address,address)',
  topic0: '0x3da528dfe78562a1f409134989443b5f21ee92023a64b90dedeb2002415189b6',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    cometProxy: w.address(w.topic(log, 1), 2),
    newComet: w.address(w.topic(log, 2), 2),
  }),
}

export const events = [CometDeployed] as const
