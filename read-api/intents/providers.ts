import type pg from 'pg'
import type { Env } from '../../db/process/env.ts'
import type { ChainReader } from '../chain/reader.ts'
import { biconomy } from './biconomy/provider.ts'
import { NotConfiguredError } from './errors.ts'
import { createExecutor, type Executor } from './execute.ts'
import type { IntentProvider } from './provider.ts'
import { createQuoteBook } from './quote-book.ts'
import { rhinestone } from './rhinestone/provider.ts'

export const PROVIDERS = ['biconomy', 'rhinestone'] as const
export type ProviderName = (typeof PROVIDERS)[number]

/** Settings without which a provider is not asked. */
export const SETTINGS = {
  biconomy: ['BICONOMY_URL', 'BICONOMY_KEY'],
  rhinestone: ['RHINESTONE_URL', 'RHINESTONE_KEY'],
} as const satisfies Record<ProviderName, readonly (keyof Env)[]>

type Setting = (typeof SETTINGS)[ProviderName][number]

export type IntentSettings = { readonly [S in Setting]?: string | undefined } & {
  readonly BICONOMY_EXPLORER_URL?: string | undefined
}

export interface Intents {
  /** @throws NotConfiguredError */
  provider(name: ProviderName): IntentProvider
  /** Of quotes that callers were given. */
  execute: Executor
}

/** Where it publishes what became of executed quotes. */
const BICONOMY_EXPLORER = 'https://network.biconomy.io'

/** `timeoutMs`: that an answer of a provider may take. */
export function createIntents(
  settings: IntentSettings,
  { pool, reader, timeoutMs }: { pool: pg.Pool; reader: ChainReader; timeoutMs?: number },
): Intents {
  const made: Partial<Record<ProviderName, IntentProvider>> = {}
  if (settings.BICONOMY_URL && settings.BICONOMY_KEY) {
    made.biconomy = biconomy({
      baseUrl: settings.BICONOMY_URL,
      explorerUrl: settings.BICONOMY_EXPLORER_URL ?? BICONOMY_EXPLORER,
      key: settings.BICONOMY_KEY,
      reader,
      timeoutMs,
    })
  }
  if (settings.RHINESTONE_URL && settings.RHINESTONE_KEY) {
    made.rhinestone = rhinestone({
      baseUrl: settings.RHINESTONE_URL,
      key: settings.RHINESTONE_KEY,
      timeoutMs,
    })
  }
  return {
    execute: createExecutor(createQuoteBook(pool), reader),
    provider(name) {
      const provider = made[name]
      if (provider) return provider
      throw new NotConfiguredError(
        name,
        SETTINGS[name].filter(setting => !settings[setting]),
      )
    },
  }
}
