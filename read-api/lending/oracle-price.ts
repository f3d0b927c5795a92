import type { FeedAnswer, SampledPrice } from './queries.ts'

/**
 * What an oracle says now: its last sample, or the answer of the feed that it asks where that came later; undefined where
 * it did not answer, or nothing above zero, which no protocol takes for a price.
 */
export function oraclePriceOf(
  sample: SampledPrice | undefined,
  answers: ReadonlyMap<string, FeedAnswer>,
  oracle: string | undefined = sample?.oracle,
): bigint | undefined {
  const answer = answers.get(oracle ?? '')
  const isSampleNewer =
    sample?.oracle === oracle && sample !== undefined && sample.position >= (answer?.position ?? 0)
  const told = isSampleNewer ? sample.price : answer?.answer
  const price = told === undefined || told === null ? 0n : BigInt(told)
  return price > 0n ? price : undefined
}
