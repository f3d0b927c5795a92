import type { Key } from '../../abi/svm/programs.ts'
import type { BlockEvents } from '../../db/events/event-store.ts'
import type { DomainEvent, EventData } from '../../db/events/vocabulary.ts'
import type { SvmBlock, SvmInstruction, SvmTransaction } from './block.ts'
import type { FarmActs, Stake, SvmProgram, Told } from './program.ts'
import type { Vaults } from './vaults.ts'

/** What did not read as published. */
export interface SvmDeadLetter {
  block: SvmBlock
  transaction: SvmTransaction
  instruction: SvmInstruction
  reason: string
}

export interface Handled {
  blocks: BlockEvents[]
  deadLetters: SvmDeadLetter[]
  /** Vaults that something happened to. */
  touched: Set<Key>
  /** Stakes of which something was moved. */
  stakes: Stake[]
  /** Farms of which all stakes are another amount now. */
  revalued: Key[]
}

/** Facts that follow from a transaction's balances come after those of its instructions. */
const BALANCES = 128
const PLACES = 256

/** Makes events of blocks, and lets `vaults` know what they tell of. */
export function handleBlocks(
  blocks: readonly SvmBlock[],
  programs: readonly SvmProgram[],
  vaults: Vaults,
): Handled {
  const deadLetters: SvmDeadLetter[] = []
  const touched = new Set<Key>()
  const revalued: Key[] = []
  const byProgram = new Map(programs.flatMap(each => each.programs.map(id => [id, each] as const)))
  const byFarm = new Map(
    programs.flatMap(each => (each.farms?.programs ?? []).map(id => [id, each] as const)),
  )
  const made = blocks.map(block => {
    const events: DomainEvent[] = []
    for (const transaction of block.transactions) {
      const found: DomainEvent[] = []
      const each = (act: (instruction: SvmInstruction) => void) => {
        for (const instruction of transaction.instructions)
          try {
            act(instruction)
          } catch (error) {
            if (!(error instanceof TypeError) && !(error instanceof RangeError)) throw error
            deadLetters.push({ block, transaction, instruction, reason: error.message })
          }
      }
      each(instruction => {
        const program = byProgram.get(instruction.program)
        const told = program?.decode(instruction, transaction)
        if (!program || !told) return
        touched.add(told.vault)
        found.push(...eventsOf(program, told, vaults, transaction, instruction.place))
      })
      // Shares are taken out of a farm before the first instruction that says of which vault they are.
      each(instruction => {
        const program = byFarm.get(instruction.program)
        const acts = program?.farms?.decode(instruction, transaction)
        if (!program || !acts) return
        found.push(...farmEventsOf(program.name, acts, vaults, placeOf(transaction, instruction.place)))
        if (acts.isRevalued) revalued.push(acts.farm)
      })
      found.sort((a, b) => (a.logIndex ?? 0) - (b.logIndex ?? 0))
      events.push(...found, ...balancesOf(transaction, vaults))
    }
    return { block: { number: block.slot, hash: block.hash, timestamp: block.time }, events }
  })
  const stakes = made.flatMap(({ events }) => events.flatMap(event => stakeOf(event) ?? []))
  return { blocks: made, deadLetters, touched, stakes, revalued }
}

const placeOf = ({ index, signature }: SvmTransaction, place: number) => ({
  logIndex: index * PLACES + place,
  transactionHash: signature,
})

function eventsOf(
  { name }: SvmProgram,
  { vault, accounts, events }: Told,
  vaults: Vaults,
  transaction: SvmTransaction,
  place: number,
): DomainEvent[] {
  const at = placeOf(transaction, place)
  const identified: DomainEvent | undefined = accounts && {
    type: 'SvmVaultIdentified',
    protocol: name,
    contract: vault,
    ...at,
    data: accounts,
  }
  const isNew = identified !== undefined && vaults.learn(identified)
  return [...(isNew ? [identified] : []), ...events.map(event => ({ ...event, ...at }))]
}

/** The stake that an event tells of. */
const stakeOf = (event: Pick<DomainEvent, 'type' | 'contract' | 'data'>): Stake | undefined => {
  if (event.type !== 'SvmStakeChanged') return undefined
  const { farm, stakeAccount, owner } = event.data as EventData<'SvmStakeChanged'>
  return { mint: event.contract, farm, stakeAccount, owner } as Stake
}

/** What happened in a farm to shares of a vault that is known. */
function farmEventsOf(
  protocol: string,
  { mint: named, farm, stakes, isRevalued }: FarmActs,
  vaults: Vaults,
  at: ReturnType<typeof placeOf>,
): DomainEvent[] {
  const mint = named ?? vaults.mintOfFarm(farm)
  if (!mint || vaults.protocolOfMint(mint) !== protocol) return []
  const common = { protocol, contract: mint, ...at }
  const revalued: DomainEvent = { type: 'SvmStakesRevalued', ...common, data: { farm } }
  // Anybody may do so any number of times: where nobody said that all stakes were read, it is no news.
  const isNews = isRevalued && vaults.learn(revalued)
  return [
    ...stakes.map((stake): DomainEvent => ({ type: 'SvmStakeChanged', ...common, data: { farm, ...stake } })),
    ...(isNews ? [revalued] : []),
  ]
}

/** Token accounts of shares, in the order of their addresses: sources give them in orders of their own. */
function balancesOf(transaction: SvmTransaction, vaults: Vaults): DomainEvent[] {
  const events: DomainEvent[] = []
  const sorted = [...transaction.balances].sort((a, b) => (a.account < b.account ? -1 : 1))
  for (const { account, before, after } of sorted) {
    for (const mint of new Set([before?.mint, after?.mint])) {
      const protocol = mint && vaults.protocolOfMint(mint)
      if (!protocol) continue
      const [was, is] = [before?.mint === mint ? before : undefined, after?.mint === mint ? after : undefined]
      const owner = is?.owner ?? was?.owner
      if (!owner || (was && is && was.owner === is.owner && was.amount === is.amount)) continue
      events.push({
        type: 'SvmShareAccountChanged',
        protocol,
        contract: mint,
        ...placeOf(transaction, Math.min(BALANCES + events.length, PLACES - 1)),
        data: {
          tokenAccount: account,
          owner,
          ...(was && is && was.owner !== is.owner && { previousOwner: was.owner }),
          amount: is?.amount ?? 0n,
        },
      })
    }
  }
  return events
}
