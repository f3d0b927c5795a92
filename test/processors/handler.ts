import { ChainHandler, type ChainHandlerOptions } from '../../processors/handling/chain-handler.ts'
import { createDecoder } from '../../processors/handling/decode.ts'

/** A handler of a chain of which nothing is stored yet. */
export function handlerOf(
  options: Pick<ChainHandlerOptions, 'protocols' | 'contracts'> & Partial<ChainHandlerOptions>,
): ChainHandler {
  return new ChainHandler({
    decoder: createDecoder(options.protocols, 'mainnet'),
    samples: false,
    finality: 0,
    standingLogs: async () => new Set(),
    collateralHolders: async () => [],
    principals: async () => new Map(),
    onDeadLetters: async () => {},
    ...options,
  })
}
