import type { RuleState, StoredRule } from '../../db/webhooks/rules.ts'
import { WINDOWS } from '../catalogue/vault-state.ts'
import { checksumIn } from '../http/amounts.ts'
import { address, choice, network, text, vaultId } from '../http/parameters.ts'
import { z } from '../http/zod.ts'
import { KIND_NAMES, KINDS } from './kinds.ts'

export const MOST_RULES = 10

const lower = (description: string) =>
  text({ description })
    .transform(value => value.toLowerCase())
    .optional()

const decimal = (description: string, example: string) =>
  z
    .string({ error: 'must be a decimal in a text' })
    .max(40, { abort: true, error: 'must have 40 characters at most' })
    .regex(/^\d{1,18}(\.\d{1,18})?$/, { abort: true, error: 'must be a decimal, as "0.05"' })
    .optional()
    .openapi({ description, example })

/** A rule as it is asked for: which fields it has is said by its kind. */
export const Rule = z
  .strictObject({
    kind: choice(KIND_NAMES).openapi({
      description: `What fires it. ${KIND_NAMES.map(name => `${name}: ${KINDS[name].about} (${KINDS[name].needs.join(', ')})`).join('. ')}.`,
    }),
    network: network(),
    vaultId: vaultId().optional(),
    window: choice(WINDOWS).optional(),
    assetAddress: address('The asset.').optional(),
    marketId: lower('marketId of the list of markets.'),
    assetId: lower('assetsData[].marketAssetId of the market.'),
    wallet: address('The wallet.').optional(),
    threshold: decimal('A decimal; of rates and fractions 0.05 is 5 %. Compared exactly.', '0.05'),
    clearThreshold: decimal(
      'The alert is cleared only once the value is back over this one as well, so that a value that wavers about `threshold` does not fire and clear again and again: 1.2 with a health factor below 1.1. The same as `threshold` where absent.',
      '0.06',
    ),
  })
  .superRefine((rule, context) => {
    const needs: readonly string[] = KINDS[rule.kind].needs
    for (const [name, value] of Object.entries(rule)) {
      const takes = name === 'clearThreshold' ? 'threshold' : name
      if (value === undefined || name === 'kind' || name === 'network' || needs.includes(takes)) continue
      context.addIssue({
        code: 'custom',
        path: [name],
        message: `must be left out of a rule of kind ${rule.kind}`,
      })
    }
    for (const name of needs)
      if (rule[name as keyof typeof rule] === undefined)
        context.addIssue({ code: 'custom', path: [name], message: 'is required' })
    const { threshold, clearThreshold } = rule
    if (threshold && clearThreshold && KINDS[rule.kind].isCrossed(clearThreshold, threshold))
      context.addIssue({
        code: 'custom',
        path: ['clearThreshold'],
        message: 'must be a value that does not fire the rule itself',
      })
  })
  .transform(({ network: { name }, ...rest }): StoredRule => {
    const given = Object.entries(rest).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))
    return { ...Object.fromEntries(given), network: name } as StoredRule
  })
  .openapi('AlertRule')

export const RuleShape = z
  .strictObject({
    kind: z.enum(KIND_NAMES),
    network: z.string(),
    vaultId: z.string().optional(),
    window: z.string().optional(),
    assetAddress: z.string().optional(),
    marketId: z.string().optional(),
    assetId: z.string().optional(),
    wallet: z.string().optional(),
    threshold: z.string().optional(),
    clearThreshold: z.string().optional(),
    state: z.enum(['unknown', 'clear', 'crossed']).openapi({
      description:
        'unknown: what it watches is not known, as there are no data, or none any more; that fires nothing and clears nothing.',
    }),
    value: z.string().optional().openapi({
      description:
        'What it watches, as it was last seen; none: it is known that there is nothing, as of a wallet without debt.',
    }),
    alertId: z.string().optional().openapi({ description: 'Of the alert that stands open.' }),
  })
  .openapi('AlertRuleState')

export function ruleOf({ rule, state, value, alertId }: RuleState): z.input<typeof RuleShape> {
  const shown = JSON.parse(checksumIn(JSON.stringify(rule))) as z.input<typeof RuleShape>
  return { ...shown, state, value: value ?? undefined, alertId: alertId ?? undefined }
}
