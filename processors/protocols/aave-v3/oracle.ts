import { functions as Oracle } from '../../../abi/aave-v3/AaveOracle.ts'
import { functions as Pool } from '../../../abi/aave-v3/Pool.ts'
import { functions as Provider } from '../../../abi/aave-v3/PoolAddressesProvider.ts'
import { encodeCall } from '../../../abi/words.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import type { StateRead } from '../../protocol.ts'
import { answered, asAddress, asAddresses, asWord } from '../../samples/answers.ts'

export const poolFact = (pool: string) => `LendingPoolDescribed ${pool}`

/** The addresses provider, at which a pool asks for its oracle whenever it weighs an account (Pool.sol: immutable). */
export function readPool(pool: string): StateRead {
  return {
    key: `aave pool ${pool}`,
    isConstant: true,
    calls: [{ to: pool, data: encodeCall(Pool.ADDRESSES_PROVIDER) }],
    events: ([answer]) => {
      const addressesProvider = answered(answer, asAddress)
      if (!addressesProvider) return []
      return [{ type: 'LendingPoolDescribed', contract: pool, data: { addressesProvider } }]
    },
    trouble: ([answer]) =>
      answered(answer, asAddress)
        ? undefined
        : {
            contract: pool,
            reason: 'the pool names no addresses provider: nothing secures its debts as far as is known',
          },
  }
}

/**
 * What the oracle of a pool says of each of its reserves, and whom it asks. Sources are often adapters without logs, so
 * that no feed's answers tell what the pool reckons with.
 * @see GenericLogic.calculateUserAccountData and AaveOracle.getAssetPrice of aave-dao/aave-v3-origin
 */
export function readReservePrices(pool: string, provider: string): StateRead {
  const parts = (answers: readonly (string | undefined)[]) => {
    const [list, named, ...rest] = answers
    const reserves = answered(list, asAddresses) ?? []
    const oracle = answered(named, asAddress)
    const prices = reserves.map((asset, i) => ({
      asset,
      price: oracle ? answered(rest[2 * i], asWord) : undefined,
      source: oracle ? answered(rest[2 * i + 1], asAddress) : undefined,
    }))
    return { oracle, prices }
  }
  return {
    key: `aave prices ${pool}`,
    calls: [
      { to: pool, data: encodeCall(Pool.getReservesList) },
      { to: provider, data: encodeCall(Provider.getPriceOracle) },
    ],
    follow: answers => {
      const { oracle, prices } = parts(answers)
      if (!oracle) return []
      return prices.flatMap(({ asset }) =>
        [Oracle.getAssetPrice, Oracle.getSourceOfAsset].map(fn => ({
          to: oracle,
          data: encodeCall(fn, asset),
        })),
      )
    },
    events: answers => {
      const { oracle, prices } = parts(answers)
      return prices.map(({ asset, price, source }): DomainEvent => {
        // A price of nothing is none: the oracle has no source for the asset.
        const data = { market: asset, asset, oracle: source ?? oracle ?? provider, price: price || undefined }
        return { type: 'OraclePriceSampled', contract: pool, data }
      })
    },
    trouble: answers => {
      const { oracle, prices } = parts(answers)
      if (!oracle)
        return { contract: provider, reason: `the addresses provider of pool ${pool} names no price oracle` }
      const unpriced = prices.filter(({ price }) => !price).map(({ asset }) => asset)
      if (unpriced.length === 0) return undefined
      return {
        contract: oracle,
        reason: `the price oracle of pool ${pool} does not answer for ${unpriced.join(', ')}: what secures debts there is not known`,
      }
    },
  }
}
