// Generated from VaultV2Factory.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const CreateVaultV2: w.EventAbi<{ owner: string; asset: string; salt: string; newVaultV2: string }> = {
  name: 'CreateVaultV2',
  signature: 'CreateVaultV2(address,address,bytes32,address)',
  topic0: '0x341ce009267aa0d78cc12b34155e223904a51ed49d144beb6eb8be87813edb4e',
  topicCount: 4,
  dataLength: 32,
  decode: log => ({
    owner: w.address(w.topic(log, 1), 2),
    asset: w.address(w.topic(log, 2), 2),
    salt: w.bytes(log.data, 2, 32),
    newVaultV2: w.address(w.topic(log, 3), 2),
  }),
}

export const events = [CreateVaultV2] as const
