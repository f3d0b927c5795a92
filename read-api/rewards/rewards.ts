import type { Address, Hex } from 'viem'
import { withSuffix } from '../../db/attribution.ts'
import { findNetwork } from '../../db/networks.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import { within } from '../../db/process/within.ts'
import { RefusedError } from '../http/errors.ts'
import type { createDryRunner } from '../transactions/dry-run.ts'
import type { PlannedAction, Token } from '../transactions/family.ts'
import type { Bundle } from '../transactions/finish.ts'
import { simulationOf } from '../transactions/finish.ts'
import { revertReason } from '../transactions/revert-reason.ts'
import type { Claim, ClaimGroup, Findings, RewardSource } from './source.ts'

export interface RewardsOptions {
  sources: readonly RewardSource[]
  /** Networks that have an RPC endpoint. */
  networks: readonly string[]
  dryRun: ReturnType<typeof createDryRunner>
  /** Milliseconds that a source may take. Default 5,000. */
  deadlineMs?: number
}

/** All sources as one: a source that is down is named, and the others still answer. */
export function createRewards({ sources, networks, dryRun, deadlineMs = 5_000 }: RewardsOptions) {
  const find = async (user: Address): Promise<Findings> => {
    const findings = await Promise.all(
      sources.map(async (source): Promise<Findings> => {
        try {
          return await within(
            { ms: deadlineMs },
            signal => source.find(user, networks, signal),
            () => {
              throw new UnavailableError(`${source.name} took longer than ${deadlineMs} ms.`)
            },
          )
        } catch (error) {
          log.warn({ source: source.name, error: (error as Error).message }, 'a source of rewards is down')
          return { claims: [], down: [source.name] }
        }
      }),
    )
    return {
      claims: findings.flatMap(({ claims }) => claims),
      down: findings.flatMap(({ down }) => down),
    }
  }

  /** Payloads by network for the claims named. Throws RefusedError where one of them cannot be claimed now. */
  const claim = async (
    user: Address,
    claimIds: readonly string[],
    { suffix, simulate }: { suffix?: Hex | undefined; simulate?: boolean | undefined } = {},
  ): Promise<Record<string, Bundle>> => {
    const { claims, down } = await find(user)
    const known = new Map(claims.map(one => [one.claimId, one]))
    const missing = claimIds.filter(id => !known.has(id))
    if (missing.length > 0) {
      const because = down.length > 0 ? ` These sources do not answer at the moment: ${down.join(', ')}.` : ''
      throw new RefusedError(`Not claimable now: ${missing.join(', ')}.${because}`)
    }
    const wanted = new Map<string, Map<string, { group: ClaimGroup; claims: Claim[] }>>()
    for (const id of new Set(claimIds)) {
      const one = known.get(id)
      if (!one) continue
      const groups = wanted.get(one.network) ?? new Map<string, { group: ClaimGroup; claims: Claim[] }>()
      wanted.set(one.network, groups)
      const entry = groups.get(one.group.key) ?? { group: one.group, claims: [] }
      groups.set(one.group.key, entry)
      entry.claims.push(one)
    }
    const bundles: Record<string, Bundle> = {}
    await Promise.all(
      [...wanted].map(async ([network, groups]) => {
        const actions = [...groups.values()].flatMap(({ group, claims: of }) => group.actions(user, of))
        const tokens = simulate
          ? [...groups.values()].flatMap(({ claims: of }) => of.map(({ token }) => token)).filter(isFirst)
          : []
        const outcome = await run(network, user, actions, tokens)
        const chainId = findNetwork(network)?.chainId ?? 0
        bundles[network] = {
          isSimulated: outcome.status === 'done',
          currentActionIndex: 0,
          actions: actions.map(({ name, to, data }, n) => ({
            name,
            tx: { to, chainId, data: withSuffix(data, suffix) },
            ...(simulate ? { simulation: simulationOf(tokens, outcome, n) } : {}),
          })),
        }
      }),
    )
    return bundles
  }

  const run = async (
    network: string,
    user: Address,
    actions: readonly PlannedAction[],
    tokens: readonly Token[],
  ) => {
    const outcome = await dryRun(network, user, actions, tokens)
    if (outcome.status === 'failed') {
      const to = actions[outcome.action]?.to
      throw new RefusedError(
        `A claim on ${network} would fail on chain (${to}): ${revertReason(outcome.data)}.`,
      )
    }
    return outcome
  }

  return { find, claim }
}

/** Several claims may pay the same token. */
const isFirst = ({ address }: Token, n: number, all: readonly Token[]) =>
  all.findIndex(other => other.address === address) === n

export type Rewards = ReturnType<typeof createRewards>
