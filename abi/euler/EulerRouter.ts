// Generated from EulerRouter.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const ConfigSet: w.EventAbi<{ asset0: string; asset1: string; oracle: string }> = {
  name: 'ConfigSet',
  signature: 'ConfigSet(address,address,address)',
  topic0: '0x4ac83f39568b63f952374c82351889b07aff4f7e261232a20ba5a2a6d82b9ce0',
  topicCount: 4,
  dataLength: 0,
  decode: log => ({
    asset0: w.address(w.topic(log, 1), 2),
    asset1: w.address(w.topic(log, 2), 2),
    oracle: w.address(w.topic(log, 3), 2),
  }),
}

export const FallbackOracleSet: w.EventAbi<{ fallbackOracle: string }> = {
  name: 'FallbackOracleSet',
  signature: 'FallbackOracleSet(address)',
  topic0: '0xef21cd88756d665855f56a2652b7eda229d6f3102988a95975e46964d24d478a',
  topicCount: 2,
  dataLength: 0,
  decode: log => ({
    fallbackOracle: w.address(w.topic(log, 1), 2),
  }),
}

export const ResolvedVaultSet: w.EventAbi<{ vault: string; asset: string }> = {
  name: 'ResolvedVaultSet',
  signature: 'ResolvedVaultSet(address,address)',
  topic0: '0x15beaec71c94ee69b5a824e905ca6d1260da10196b715c38b565b80180f630ce',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    vault: w.address(w.topic(log, 1), 2),
    asset: w.address(w.topic(log, 2), 2),
  }),
}

export const events = [ConfigSet, FallbackOracleSet, ResolvedVaultSet] as const

export const functions = {
  getQuote: { signature: 'getQuote(uint256,address,address)', selector: '0xae68676c', inputs: ['uint256', 'address', 'address'] },
} as const satisfies Record<string, w.FunctionAbi>
