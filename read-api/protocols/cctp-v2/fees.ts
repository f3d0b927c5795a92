import { z } from 'zod'

/** A rate in hundredths of a percent, exactly as it was written: 1.3 is 13 / 10. */
export interface Bps {
  text: string
  numerator: bigint
  denominator: bigint
}

const decimal = z
  .union([z.number(), z.string()])
  .transform(String)
  .pipe(z.string().regex(/^\d{1,12}(\.\d{1,12})?$/))

const bps = decimal.transform((text): Bps => {
  const [whole = '0', fraction = ''] = text.split('.')
  return { text, numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) }
})

const baseUnits = z.union([z.number().int().nonnegative(), z.string().regex(/^\d{1,30}$/)]).transform(BigInt)

/**
 * What transfers between two domains cost, as the service answers.
 * @see developers.circle.com, GET /v2/burn/USDC/fees/{sourceDomainId}/{destDomainId}
 */
export const feesAnswer = z
  .array(
    z.object({
      finalityThreshold: z.number().int(),
      minimumFee: bps,
      forwardFee: z.object({ high: baseUnits }).nullish(),
    }),
  )
  .transform((entries): Fees => {
    const of = (threshold: number) => entries.find(({ finalityThreshold }) => finalityThreshold === threshold)
    const [fast, standard] = [of(1000), of(2000)]
    return {
      fast: fast && { bps: fast.minimumFee, forwarding: fast.forwardFee?.high },
      standard: standard && { bps: standard.minimumFee, forwarding: standard.forwardFee?.high },
    }
  })

/** What one kind of transfer costs; forwarding: base units, undefined where it is not offered. */
export interface Fee {
  bps: Bps
  forwarding: bigint | undefined
}

/** A kind of transfer that is not offered between the two is undefined. */
export interface Fees {
  fast: Fee | undefined
  standard: Fee | undefined
}

const ceil = (numerator: bigint, denominator: bigint) => (numerator + denominator - 1n) / denominator

/**
 * The most that may be kept of `amount`: nothing of a standard transfer, of a fast one its fee and a tenth of it for what it may have
 * become until the transaction lands; the fee of forwarding where it is asked for; and what the contract itself demands.
 */
export function maxFeeOf(
  amount: bigint,
  options: { fast?: Bps | undefined; forwarding?: bigint | undefined; least: bigint },
): bigint {
  const { fast, forwarding = 0n, least } = options
  const fee = fast ? ceil(amount * fast.numerator, 10_000n * fast.denominator) : 0n
  const most = fee + ceil(fee, 10n) + forwarding
  return most > least ? most : least
}
