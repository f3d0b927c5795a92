import type { Face } from '../../db/faces.ts'
import { HOUR } from '../../db/units.ts'
import type { StoredRule } from '../../db/webhooks/rules.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { legsOf } from '../catalogue/prices.ts'
import type { AnswerReading } from '../catalogue/reading.ts'
import type { Vault } from '../catalogue/vault.ts'
import type { Window } from '../catalogue/vault-state.ts'
import { decimalString } from '../http/amounts.ts'
import { lendingMarkets } from '../lending/book.ts'
import { readWallet } from '../lending/positions.ts'
import { ask, defineQuery, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN } from '../moment/visible.ts'
import { decimalOf, exactly, isAbove, isBelow, quotientOf } from './decimal.ts'

type Parameter = 'vaultId' | 'window' | 'assetAddress' | 'marketId' | 'assetId' | 'wallet' | 'threshold'

/** In place of a figure where it is known that there is none, as the health factor of who owes nothing. */
export const NOTHING = 'none'

/** What a rule may watch. */
export interface Kind {
  /** In a sentence, for the document. */
  about: string
  needs: readonly Parameter[]
  /** The family of read models that it stands on, besides the core. */
  face?: Face
  /** Chains that the figure is made of besides the rule's own. */
  alsoOn?(rule: StoredRule, catalogue: Catalogue, chainId: number): number[]
  /** The figure as of the catalogue's moment, a decimal, or NOTHING; undefined: not known. */
  find?(rule: StoredRule, catalogue: Catalogue, chainId: number): string | undefined
  /** The same where the catalogue does not have it. */
  read?(rule: StoredRule, reading: AnswerReading, chainId: number): Promise<string | undefined>
  isCrossed(value: string, threshold: string): boolean
}

const dayAgo = defineQuery({
  name: 'alert_assets_a_day_ago',
  sql: `SELECT toString(assumeNotNull(hours.total_assets)) AS assets FROM vault_hourly AS hours
    WHERE ${VISIBLE_ON_CHAIN} AND vault = {vault:String} AND hours.total_assets IS NOT NULL
      AND hour <= toDateTime({at:UInt32}, 'UTC') AND hour > toDateTime({at:UInt32} - 86400, 'UTC')
    ORDER BY hour DESC, position DESC LIMIT 1`,
  row: z.object({ assets: z.string() }),
})

const ratioOf = (value: number | undefined) =>
  value === undefined || !Number.isFinite(value) ? undefined : decimalString(value)

/** a less b of figures as they are shown, exactly. */
function differenceOf(a: number | undefined, b: number | undefined): string | undefined {
  const [first, second] = [ratioOf(a), ratioOf(b)]
  return first === undefined || second === undefined ? undefined : decimalOf(exactly(first) - exactly(second))
}

/** A sample that is older says nothing of a day. */
const FRESH = 6 * HOUR

/** A figure of a vault that the catalogue has. */
const ofVault =
  (figure: (vault: Vault, rule: StoredRule) => string | undefined): Kind['find'] =>
  (rule, catalogue, chainId) => {
    const vault = catalogue.find(chainId, rule['vaultId'] ?? '')
    return vault && figure(vault, rule)
  }

/** What the price of a rule's asset is made of. */
function legsOfAsset(rule: StoredRule, catalogue: Catalogue, chainId: number) {
  const plan = catalogue.asset(chainId, rule['assetAddress'] ?? '')?.plan
  return plan ? legsOf(plan) : []
}

/** By which fraction a price is below the highest one. */
function fallOf(price: number, high: number): string | undefined {
  const fell = exactly(decimalString(high)) - exactly(decimalString(price))
  return quotientOf(fell > 0n ? fell : 0n, exactly(decimalString(high)))
}

export const KINDS = {
  'apy-below': {
    about: 'the APY of a vault over `window`, without rewards, is below `threshold`',
    needs: ['vaultId', 'window', 'threshold'],
    find: ofVault((vault, rule) => ratioOf(vault.apy[rule['window'] as Window])),
    isCrossed: isBelow,
  },
  'apy-fell': {
    about:
      'the APY of a vault over `window`, without rewards, is more than `threshold` below that over 30 days, as a difference',
    needs: ['vaultId', 'window', 'threshold'],
    find: ofVault(({ apy }, rule) => differenceOf(apy['30day'], apy[rule['window'] as Window])),
    isCrossed: isAbove,
  },
  'tvl-outflow': {
    about: 'the assets of a vault are by more than the fraction `threshold` less than a day before',
    needs: ['vaultId', 'threshold'],
    async read(rule, { catalogue, deps, signal }, chainId) {
      const vault = catalogue.find(chainId, rule['vaultId'] ?? '')
      const chain = catalogue.chain(chainId)
      const now = vault?.state.sample?.totalAssets
      const at = vault?.state.sample?.at ?? 0
      if (!vault || !chain || now === undefined || at <= chain.blockTime - FRESH) return undefined
      const [then] = await ask(
        deps.clickhouse,
        dayAgo,
        { chain: chainId, p: chain.position, vault: vault.state.address, at: chain.blockTime - 86_400 },
        signal,
      )
      return then && quotientOf(BigInt(then.assets) - now, BigInt(then.assets))
    },
    isCrossed: isAbove,
  },
  paused: {
    about: 'a vault is paused (the value is 1)',
    needs: ['vaultId'],
    find(rule, catalogue, chainId) {
      const vault = catalogue.find(chainId, rule['vaultId'] ?? '')
      if (!vault || catalogue.moment.filling.get(chainId)?.has('vault_setting')) return undefined
      return vault.isPaused ? '1' : '0'
    },
    isCrossed: value => value === '1',
  },
  'share-price-fell': {
    about:
      'the share price of a vault is by more than the fraction `threshold` below its highest of seven days',
    needs: ['vaultId', 'threshold'],
    find: ofVault(({ state: { sample, range } }) =>
      sample?.sharePrice === undefined || !range || range.high <= 0
        ? undefined
        : fallOf(sample.sharePrice, range.high),
    ),
    isCrossed: isAbove,
  },
  depeg: {
    about: 'the price of an asset is by more than `threshold` USD away from 1 USD',
    needs: ['assetAddress', 'threshold'],
    alsoOn: (rule, catalogue, chainId) => legsOfAsset(rule, catalogue, chainId).map(leg => leg.chainId),
    find(rule, catalogue, chainId) {
      const asset = catalogue.asset(chainId, rule['assetAddress'] ?? '')
      // What is a dollar by decree has no price of its own.
      if (legsOfAsset(rule, catalogue, chainId).length === 0) return undefined
      return differenceOf(asset?.price, 1)?.replace('-', '')
    },
    isCrossed: isAbove,
  },
  'utilization-above': {
    about: 'of an asset of a lending market more than the fraction `threshold` of what was supplied is lent',
    needs: ['marketId', 'assetId', 'threshold'],
    face: 'lending',
    async read(rule, reading, chainId) {
      const market = (await lendingMarkets(reading, chainId)).find(({ id }) => id === rule['marketId'])
      const asset = market?.assets.find(({ id }) => id === rule['assetId'])
      return asset && quotientOf(asset.borrowed, asset.supplied)
    },
    isCrossed: isAbove,
  },
  'health-factor-below': {
    about:
      'the health factor of a wallet in a lending market, of its own account or of another that it has there, is below `threshold`',
    needs: ['marketId', 'wallet', 'threshold'],
    face: 'lending',
    async read(rule, reading, chainId) {
      const market = (await lendingMarkets(reading, chainId)).find(({ id }) => id === rule['marketId'])
      if (!market) return undefined
      const positions = await readWallet([market], rule['wallet'] ?? '', reading)
      // Who owes nothing is in no danger; of a debt without a price nothing is known.
      const owing = positions.filter(({ assets }) => assets.some(({ borrowed }) => borrowed > 0n))
      if (owing.some(({ healthFactor }) => healthFactor === undefined)) return undefined
      return owing.length === 0
        ? NOTHING
        : decimalString(Math.min(...owing.map(({ healthFactor = 0 }) => healthFactor)))
    },
    isCrossed: isBelow,
  },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof KINDS
export const KIND_NAMES = Object.keys(KINDS) as [KindName, ...KindName[]]
export const kindOf = (name: string): Kind | undefined => (KINDS as Record<string, Kind>)[name]
