import { fromBase58 } from '../../db/base58.ts'
import { type EventType, vocabulary } from '../../db/events/vocabulary.ts'
import { misspelt } from '../../db/process/nearest.ts'
import { choice, names } from '../http/parameters.ts'
import { z } from '../http/zod.ts'
import { idOfChain, noChain } from './chains.ts'
import type { Message } from './message.ts'

/** Values of one filter. */
const MOST = 200

const TYPES = Object.keys(vocabulary).filter(type => !/^(Fact|BlockRetracted)/.test(type)) as EventType[]

/** A list of which every value is read by itself; what is wrong is said of the first that is. */
function each<T>(options: { description: string; example: string[] }, read: (text: string) => T | string) {
  return names(options)
    .transform((texts, context): T[] | undefined => {
      if (texts === undefined) return undefined
      const values: T[] = []
      for (const text of texts) {
        const value = read(text)
        if (typeof value === 'string') {
          context.addIssue({ code: 'custom', message: value })
          return z.NEVER
        }
        values.push(value)
      }
      if (values.length > MOST) {
        context.addIssue({ code: 'custom', message: `must have ${MOST} values at most` })
        return z.NEVER
      }
      return values
    })
    .openapi({ type: 'array', items: { type: 'string' }, ...options })
}

const NO_ADDRESS = 'must be addresses: 0x and 40 hexadecimal digits, or base58 of Solana'

/** As it is stored. An object, as a text would be a complaint. */
function readAddress(text: string): { hex: string } | string {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return { hex: text.toLowerCase() }
  const hex = text.startsWith('0x') ? undefined : fromBase58(text)
  return hex ? { hex } : NO_ADDRESS
}

function readType(text: string): { type: EventType } | string {
  const known = TYPES.find(type => type.toLowerCase() === text.toLowerCase())
  if (known) return { type: known }
  const meant = misspelt(text, TYPES)
  return `must be types of events: there is no ${text}${meant ? `; did you mean ${meant}?` : `; /documentation lists them at this parameter`}`
}

export const filterParameters = {
  networks: each(
    {
      description: 'Names or CAIP-2 identifiers of networks, or solana; all where absent.',
      example: ['mainnet', 'base'],
    },
    text => idOfChain(/^\d+$/.test(text) ? '' : text) ?? `must be networks: ${noChain(text)}`,
  ),
  vaults: each(
    { description: 'Events of these contracts, or of state read from them.', example: [] },
    readAddress,
  ),
  wallets: each(
    { description: 'Events that name one of these addresses, in whatever part.', example: [] },
    readAddress,
  ),
  types: each(
    { description: `Types of events: ${TYPES.join(', ')}.`, example: ['Deposited', 'Redeemed'] },
    readType,
  ),
  mode: choice(['instant', 'finalized'])
    .optional()
    .transform(value => value ?? 'instant')
    .openapi({
      type: 'string',
      enum: ['instant', 'finalized'],
      default: 'instant',
      description:
        'instant: as soon as an event is stored; a message of kind retraction names the positions that a fork takes back. finalized: what no fork replaces any more; nothing is taken back, and what an operator takes back below finality comes again at new positions.',
    }),
}

export interface Filter {
  follows(chainId: number): boolean
  /** Retractions always do: whoever has nothing of what they name has nothing to take back. */
  takes(message: Message): boolean
}

export function filterOf(query: {
  networks?: readonly number[] | undefined
  vaults?: readonly { hex: string }[] | undefined
  wallets?: readonly { hex: string }[] | undefined
  types?: readonly { type: EventType }[] | undefined
}): Filter {
  const chains = query.networks && new Set(query.networks)
  const types = query.types && new Set(query.types.map(({ type }) => type))
  const vaults = query.vaults?.map(({ hex }) => hex)
  const wallets = query.wallets?.map(({ hex }) => hex)
  return {
    follows: chainId => chains?.has(chainId) ?? true,
    takes: ({ isRetraction, type, contracts, addresses }) =>
      isRetraction ||
      ((types?.has(type) ?? true) &&
        (vaults?.some(vault => contracts.has(vault)) ?? true) &&
        (wallets?.some(wallet => addresses.has(wallet)) ?? true)),
  }
}
