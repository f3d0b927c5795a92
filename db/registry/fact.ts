import { z } from 'zod'

/**
 * A curated fact: `kind` says what is known of `subject`, `value` is the JSON of it. Subjects are `vault:<chainId>:<address>`,
 * `asset:<chainId>:<address>`, `contract:<chainId>:<address>`, `market:<chainId>:<marketId>`, `protocol:<name>`, `curator:<name>`; addresses in
 * lower case.
 */
export const factSchema = z.strictObject({
  subject: z
    .string()
    .regex(/^(vault|asset|contract|market):\d+:(0x[0-9a-f]{40}|[\w.-]{1,128})$|^(protocol|curator):[\w.-]+$/),
  kind: z.string().regex(/^[a-z][A-Za-z0-9]*$/),
  value: z.json(),
})
export type Fact = z.infer<typeof factSchema>
