// Generated from VaultFactory.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const NewVault: w.EventAbi<{ vault_address: string; asset: string }> = {
  name: 'NewVault',
  signature: 'NewVault(address,address)',
  topic0: '0x4241302c393c713e690702c4a45a57e93cef59aa8c6e2358495853b3420551d8',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    vault_address: w.address(w.topic(log, 1), 2),
    asset: w.address(w.topic(log, 2), 2),
  }),
}

export const events = [NewVault] as const
