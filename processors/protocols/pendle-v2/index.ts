import * as Market from '../../../abi/pendle-v2/Market.ts'
import * as MarketFactory from '../../../abi/pendle-v2/MarketFactory.ts'
import * as PrincipalToken from '../../../abi/pendle-v2/PrincipalToken.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { MalformedLogError } from '../../../db/process/errors.ts'
import table from '../../../db/registry/contracts/pendle-v2.json' with { type: 'json' }
import { ZERO_ADDRESS } from '../../../db/units.ts'
import { on } from '../../handling/decoder.ts'
import { addressesByNetwork } from '../../knowledge/address-tables.ts'
import { defineProtocol, type Wanted } from '../../protocol.ts'
import { readDescriptions, readState, readTokens } from './state.ts'

function asTime(seconds: bigint): number {
  if (seconds > BigInt(Number.MAX_SAFE_INTEGER)) throw new MalformedLogError(`${seconds} is no time`)
  return Number(seconds)
}

function wants(event: DomainEvent): Wanted | undefined {
  switch (event.type) {
    case 'FixedTermMarketCreated':
      return { lessons: [readTokens(event.data.market)] }
    case 'FixedTermTokensNamed':
      return { subjects: [event.data.market], lessons: [readDescriptions(event.data)] }
    case 'PrincipalSwapped':
    case 'PoolLiquidityAdded':
    case 'PoolLiquidityRemoved': {
      const market = event.contract
      return {
        subjects: [market],
        lessons: [{ ...readTokens(market), unless: `FixedTermTokensNamed ${market}` }],
      }
    }
    case 'PrincipalTransferred':
      // What is redeemed or made outside of a market changes what its PT are worth together.
      return event.data.from === ZERO_ADDRESS || event.data.to === ZERO_ADDRESS
        ? { subjects: [event.contract] }
        : undefined
    default:
      return undefined
  }
}

/**
 * Pendle v2: markets are found by the factories of all its versions alone, since anybody can deploy what looks like one. A
 * pool's state follows from its logs; what its SY is worth in the asset no log tells: that is read with it at the end of each block with a
 * trade, and hourly. The SY is anybody's code: its word is kept as such.
 * @see MarketMathCore.sol, PendleMarketV7.sol, PendleMarketFactory.sol (first version) and IStandardizedYield.sol
 */
export default defineProtocol({
  name: 'pendle-v2',
  sources: [
    {
      kind: 'pendle-v2-factory',
      at: addressesByNetwork({ source: table.source, networks: table.factories }),
      decoders: [
        on(MarketFactory.CreateNewMarket, 'FixedTermMarketCreated', a => ({ market: a.market, pt: a.PT })),
        on(MarketFactory.CreateNewMarket_2, 'FixedTermMarketCreated', a => ({ market: a.market, pt: a.PT })),
      ],
    },
    {
      kind: 'pendle-v2-market',
      at: 'discovered',
      decoders: [
        on(Market.UpdateImpliedRate, 'ImpliedRateUpdated', a => ({
          lnRateWad: a.lnLastImpliedRate,
          at: asTime(a.timestamp),
        })),
        on(Market.Swap, 'PrincipalSwapped', a => ({
          caller: a.caller,
          receiver: a.receiver,
          ptOut: a.netPtOut,
          syOut: a.netSyOut,
          syFee: a.netSyFee,
          syToReserve: a.netSyToReserve,
        })),
        on(Market.Mint, 'PoolLiquidityAdded', a => ({
          receiver: a.receiver,
          lp: a.netLpMinted,
          sy: a.netSyUsed,
          pt: a.netPtUsed,
        })),
        on(Market.Burn, 'PoolLiquidityRemoved', a => ({
          receiverSy: a.receiverSy,
          receiverPt: a.receiverPt,
          lp: a.netLpBurned,
          sy: a.netSyOut,
          pt: a.netPtOut,
        })),
      ],
    },
    {
      kind: 'pendle-v2-pt',
      at: 'discovered',
      decoders: [
        on(PrincipalToken.Transfer, 'PrincipalTransferred', a => ({
          from: a.from,
          to: a.to,
          amount: a.value,
        })),
      ],
    },
  ],
  assets: event => (event.type === 'FixedTermMarketDescribed' ? [event.data.asset] : []),
  teaches: ['FixedTermMarketCreated', 'FixedTermTokensNamed'],
  remembers: ['FixedTermTokensNamed'],
  watches: event =>
    event.type === 'FixedTermMarketCreated'
      ? [
          { kind: 'pendle-v2-market', contract: event.data.market },
          { kind: 'pendle-v2-pt', contract: event.data.pt },
        ]
      : [],
  samples: event => {
    if (event.type !== 'FixedTermTokensNamed') return []
    const read = readState(event.data)
    return [event.data.market, event.data.pt].map(subject => ({ subject, read }))
  },
  wants,
})
