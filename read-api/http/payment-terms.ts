import type { Env } from '../../db/process/env.ts'
import { ConfigError } from '../../db/process/errors.ts'
import type { PaymentTerms } from './payments.ts'

/** The terms of payment that the environment sets; undefined where nobody is named to be paid. */
export function readPaymentTerms(env: Env): PaymentTerms | undefined {
  if (!env.X402_PAY_TO) return undefined
  if (!env.X402_FACILITATOR_URL) {
    throw new ConfigError('X402_PAY_TO needs X402_FACILITATOR_URL: who verifies and settles payments?')
  }
  return {
    payTo: env.X402_PAY_TO,
    network: env.X402_NETWORK as PaymentTerms['network'],
    facilitatorUrl: env.X402_FACILITATOR_URL,
    usdPerCredit: env.X402_USD_PER_CREDIT,
    requestsPerMinute: env.X402_REQUESTS_PER_MINUTE,
    publicUrl: env.PUBLIC_URL,
  }
}
