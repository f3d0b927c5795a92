import type { BlockEvents, BlockRef } from '../../db/events/event-store.ts'
import type { EventWriter } from '../../db/events/event-writer.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { DAY, HOUR } from '../../db/units.ts'
import type { History } from '../knowledge/history.ts'
import type { KnownContracts } from '../knowledge/known-contracts.ts'
import type { LogBudget } from '../knowledge/log-budget.ts'
import { type Looks, TURN } from '../knowledge/looks.ts'
import type { OlderLogsOfBatch } from '../knowledge/older-logs.ts'
import type { Protocol } from '../protocol.ts'
import { firstBlocks, type Moment } from '../samples/hours.ts'
import type { SampleBudget } from '../samples/sample-budget.ts'
import { Sampler } from '../samples/sampler.ts'
import type { ChainRpc } from '../source/rpc.ts'
import type { BlockLogs } from '../source/rpc-logs.ts'
import { BalanceBudget } from '../vaults/balance-budget.ts'
import { settleByBalances } from '../vaults/balances.ts'
import { Inspections } from '../vaults/inspections.ts'
import { openAhead } from './ahead.ts'
import { attribute, toAttribute } from './attribute.ts'
import { BranchMismatchError, type DeadLetter, type Handled, type SourceBlock } from './block.ts'
import { type Candidate, type ContractView, type DecodedBlock, type Decoder, deadLetter } from './decode.ts'
import { withHeaders } from './headers.ts'

export interface ChainHandlerOptions {
  protocols: readonly Protocol[]
  decoder: Decoder
  contracts: KnownContracts
  /** Absent where a network has only a gateway: nothing can be inspected or sampled then. */
  rpc?: ChainRpc
  samples: boolean
  /** Blocks after which one is final. */
  finality: number
  /** Seconds behind full hours at which hourly samples are due; absent: none. */
  hourOffset?: number
  /** What came before a source was watched. */
  history?: History
  /** What contracts logged long before they were discovered. */
  older?: OlderLogsOfBatch | undefined
  /** How many logs of a contract are taken with the blocks; absent: all. */
  logBudget?: LogBudget | undefined
  /** How many samples vaults cost that nobody listed; absent: all that there is reason for. */
  sampleBudget?: SampleBudget | undefined
  /** How many contracts are looked at; absent: all, as they come up. */
  looks?: Looks | undefined
  /** Vaults that are looked at without waiting for an event of theirs, by protocol. */
  listed?: readonly Candidate[]
  /** Of contracts whose discovery was retracted: their logs that stand, as `<block hash> <log index>`. */
  standingLogs(contracts: readonly string[]): Promise<ReadonlySet<string>>
  /** Accounts that ever had collateral in a contract. */
  collateralHolders(contract: string): Promise<readonly string[]>
  /** Principals of accounts in a contract, as last stored. */
  principals(contract: string): Promise<ReadonlyMap<string, bigint>>
  onDeadLetters(letters: DeadLetter[]): Promise<void>
}

/** Blocks under way. */
interface Batch extends Handled {
  store: EventWriter
  queue: Map<number, SourceBlock>
  /** Of the queue, ascending. */
  numbers: number[]
  last: BlockRef
  /** The next blocks at which contracts that wait are looked at, as far as they are known. */
  turns: BlockRef[]
  /** Contracts that come up for the first time in the next blocks. */
  ahead: ReturnType<typeof openAhead>
}

interface Fresh {
  kind: string
  contract: string
}

/** Seconds of the chain's time after which a listed contract that was no vault yet is looked at again. */
const LOOK_AGAIN = HOUR
/** Turns of those that wait that are looked for at once. */
const TURNS_AHEAD = 8
const TURNS = { span: TURN, offset: 0, delays: [0] }

/**
 * Turns blocks of logs into blocks of events: decodes, inspects contracts seen for the first time and fetches their
 * earlier logs, samples state. Gives what to append, in block order for each contract, and whether more contracts
 * have to be watched than the source was asked for.
 */
export class ChainHandler {
  private readonly options: ChainHandlerOptions
  private readonly sampler: Sampler | undefined
  private readonly balances: BalanceBudget | undefined
  private readonly inspections: Inspections
  /** Listed contracts that did not answer as vaults, by the chain's time at which they were looked at. */
  private readonly unborn = new Map<string, number>()
  watchesMore = false
  /** The newest block that was handled. */
  private newest = -1

  constructor(options: ChainHandlerOptions) {
    this.options = options
    const { rpc, samples, hourOffset, contracts, protocols, collateralHolders: holders, principals } = options
    this.inspections = new Inspections(options)
    const budget = options.sampleBudget
    if (budget) this.balances = new BalanceBudget({ contracts, isListed: vault => budget.isListed(vault) })
    if (rpc && samples)
      this.sampler = new Sampler({ rpc, contracts, protocols, holders, principals, budget, hourOffset })
  }

  async handle(store: EventWriter, blocks: SourceBlock[]): Promise<void> {
    const { contracts } = this.options
    const last = blocks.at(-1)
    if (!last) return
    contracts.begin(store.baseHeight)
    this.newest = Math.max(this.newest, last.ref.number)
    this.watchesMore = false
    const queue = new Map(blocks.map(block => [block.ref.number, block]))
    const numbers = blocks.map(block => block.ref.number)
    const ahead = openAhead(this.options, numbers, queue)
    const batch: Batch = { store, queue, numbers, last: last.ref, output: [], letters: [], turns: [], ahead }
    this.inspections.begin()
    this.options.older?.take(store, last.ref.timestamp)
    this.options.looks?.begin(store.baseHeight)
    this.options.logBudget?.begin(store.baseHeight)
    this.options.sampleBudget?.begin(store.baseHeight)
    await this.addHistory(batch)
    if (this.options.looks?.areAny())
      await this.scheduleTurn(await this.options.rpc?.header(store.parent.height), batch)
    let hasLooked = false
    for (let i = 0; i < numbers.length; i++) {
      const block = queue.get(numbers[i] ?? -1)
      if (!block) continue
      if (store.isStored(block.ref.number, block.ref.hash)) {
        await this.scheduleTurn(block.ref, batch)
        continue
      }
      if (Number.isFinite(block.ref.timestamp)) contracts.setTime(block.ref.timestamp)
      block.logs = this.options.logBudget?.admit(block, batch.letters) ?? block.logs
      const most = this.options.looks?.inOwnBlocks()
      for (const { candidates, ref } of batch.ahead(i, most)) this.inspections.expect(candidates, ref)
      const looks: boolean = !hasLooked && Number.isFinite(block.ref.timestamp)
      const found = looks ? await this.inspectListed(block, batch) : []
      hasLooked ||= looks
      const turned = batch.turns[0]?.number === block.ref.number ? await this.takeTurns(block, batch) : []
      const events = [...found, ...turned, ...(await this.handleBlock(block, batch))]
      await this.scheduleTurn(block.ref, batch)
      if (events.length > 0) batch.output.push({ block: block.ref, events })
    }
    if (this.options.rpc) await settleByBalances(batch, this.options.rpc, this.balances)
    // A source gives no time of blocks below the first one asked for: nothing of ours is in them.
    const timed = blocks.filter(({ ref }) => Number.isFinite(ref.timestamp))
    const newest = timed.at(-1)?.ref
    if (newest) await this.sampler?.add(store, timed[0]?.ref ?? newest, newest, batch)
    if (batch.letters.length > 0) await this.options.onDeadLetters(batch.letters)
    store.append(batch.output)
    store.waitFor(this.attribute(batch))
    this.options.looks?.store(store)
    if (newest) {
      this.settleLogBudget(store, newest)
      store.setHeadTime(newest.timestamp)
      this.sampler?.stood(newest)
    }
  }

  /**
   * Looks at listed vaults, once a batch, at a block of it: what answers as a vault is known from there on, with its
   * earlier logs. One that does not (it may not be born yet) is left to its own events, and looked at again later; no verdict is
   * stored.
   */
  private async inspectListed(block: SourceBlock, batch: Batch): Promise<DomainEvent[]> {
    const { letters } = batch
    const { contracts, rpc, listed } = this.options
    if (!rpc || !listed) return []
    const due = listed.filter(candidate => {
      if (contracts.isInspected(candidate.contract) || contracts.isIgnored(candidate.contract)) return false
      const looked = this.unborn.get(nameOf(candidate))
      return looked === undefined || Math.abs(block.ref.timestamp - looked) >= LOOK_AGAIN
    })
    // Most are not born yet while a chain is indexed from its start, and that is asked of every batch.
    const code = await rpc.haveCode([...new Set(due.map(({ contract }) => contract))], block.ref)
    const born = due.filter(({ contract }) => code.has(contract))
    const hinted = born.map(candidate => this.withHint(candidate))
    const found = await this.inspections.all(hinted, block.ref, letters)
    const verdicts = due.map(candidate => found[born.indexOf(candidate)] ?? [])
    const events: DomainEvent[] = []
    const fresh: Fresh[] = []
    for (const [i, verdict] of verdicts.entries()) {
      const candidate = due[i]
      if (!candidate || contracts.isInspected(candidate.contract)) continue
      if (verdict.every(({ type }) => type === 'VaultRejected')) {
        this.unborn.set(nameOf(candidate), block.ref.timestamp)
        continue
      }
      events.push(...verdict)
      for (const event of verdict) fresh.push(...contracts.learn(event, block.ref.number))
    }
    if (fresh.length > 0) await this.fetchLogsOf(fresh, block, batch, true)
    return events
  }

  private settleLogBudget(store: EventWriter, newest: BlockRef): void {
    const { logBudget, contracts, older } = this.options
    const kindsOf = (contract: string) =>
      contracts.watchedSources().filter(source => source.contract === contract)
    if (logBudget?.store(store, Math.floor(newest.timestamp / DAY), kindsOf)) older?.expect()
  }

  /** The first blocks of the batch after this one in which contracts that wait are looked at, where any do. */
  private async scheduleTurn(after: Moment | undefined, batch: Batch): Promise<void> {
    const { rpc, looks } = this.options
    const { queue, numbers, last } = batch
    batch.turns = batch.turns.filter(({ number }) => after && number > after.number)
    if (!rpc || !after || !Number.isFinite(after.timestamp) || !looks?.areAny()) batch.turns = []
    else if (batch.turns.length === 0) {
      const header = async (height: number) => queue.get(height)?.ref ?? rpc.header(height)
      batch.turns = (await firstBlocks(TURNS, TURNS_AHEAD, after, last, header)).blocks
    }
    const [ref] = batch.turns
    if (!ref || queue.has(ref.number)) return
    queue.set(ref.number, { ref, logs: [] })
    numbers.push(ref.number)
    numbers.sort((a, b) => a - b)
  }

  /** Looks at contracts that waited for it: what is a vault is known from here on, with its earlier logs. */
  private async takeTurns(block: SourceBlock, batch: Batch): Promise<DomainEvent[]> {
    const { contracts, looks } = this.options
    const turns = looks?.due(...batch.turns.map(({ timestamp }) => timestamp)) ?? []
    const openOf = (waiting: readonly Candidate[]) =>
      waiting
        .filter(({ contract }) => !contracts.isInspected(contract))
        .map(candidate => this.withHint(candidate))
    for (const [i, ref] of batch.turns.entries()) this.inspections.expect(openOf(turns[i] ?? []), ref)
    const [due = []] = turns
    const verdicts = await this.inspections.all(openOf(due), block.ref, batch.letters)
    const fresh: Fresh[] = []
    for (const candidate of due) looks?.looked(candidate, block.ref.number)
    for (const verdict of verdicts) {
      for (const event of verdict) fresh.push(...contracts.learn(event, block.ref.number))
    }
    if (fresh.length > 0) await this.fetchLogsOf(fresh, block, batch, true)
    return verdicts.flat()
  }

  /** The candidate with the event of its factory, where it is known which one made it. */
  private withHint(candidate: Candidate): Candidate {
    const hint = this.options.contracts.learnedBy(
      Number.MAX_SAFE_INTEGER,
      `VaultCreated ${candidate.contract}`,
    )
    return hint ? { ...candidate, hint } : candidate
  }

  /** Decodes one block; contracts new in it add their earlier logs to `output` and their later ones to the queue. */
  private async handleBlock(block: SourceBlock, batch: Batch): Promise<DomainEvent[]> {
    const { letters } = batch
    const { contracts } = this.options
    const found: DomainEvent[] = []
    while (true) {
      const decoded = this.decode(block)
      const unknown = new Set<string>()
      const fresh: Fresh[] = []
      let inspected = false
      const admitted = decoded.candidates.filter(candidate => {
        const { looks } = this.options
        if (!looks || looks.admits(candidate, block.ref, letters)) return true
        unknown.add(candidate.contract)
        return false
      })
      for (const [i, verdict] of (await this.inspections.all(admitted, block.ref, letters)).entries()) {
        if (verdict.length === 0) unknown.add(admitted[i]?.contract ?? '')
        inspected ||= verdict.length > 0
        found.push(...verdict)
        for (const event of verdict) fresh.push(...contracts.learn(event, block.ref.number))
      }
      // What a contract emitted counts once it is known what the contract is: then the block is read again.
      if (inspected) {
        if (fresh.length > 0) await this.fetchLogsOf(fresh, block, batch, true)
        continue
      }
      const events = decoded.events.filter(event => !unknown.has(event.contract))
      for (const event of events) fresh.push(...contracts.learn(event, block.ref.number))
      if (fresh.length === 0) {
        letters.push(...decoded.rejected.map(rejected => deadLetter(rejected, block.ref)))
        return [...found, ...events]
      }
      await this.fetchLogsOf(fresh, block, batch)
    }
  }

  /** Says of deposits, redemptions and claims which suffix their transaction bears; the source gave most inputs already. */
  private async attribute({ queue, output }: Omit<Handled, 'letters'>): Promise<void> {
    const { rpc, onDeadLetters } = this.options
    const letters: DeadLetter[] = []
    const callsOf = (block: BlockRef) => queue.get(block.number)?.calls
    const missing = output.flatMap(({ block, events }) =>
      toAttribute(events).filter(hash => !callsOf(block)?.has(hash)),
    )
    const fetched = rpc && missing.length > 0 ? await rpc.transactions(missing) : undefined
    for (const entry of output) {
      for (const hash of toAttribute(entry.events)) {
        const call = callsOf(entry.block)?.get(hash) ?? fetched?.get(hash)
        if (call) {
          const events = attribute(entry.events, hash, call)
          if (events !== entry.events) entry.events = [...events]
        } else {
          const reason = `transaction ${hash} is not to be had: what it did is attributed to nobody`
          letters.push({ stage: 'inspect', block: entry.block, contract: '', reason })
        }
      }
    }
    if (letters.length > 0) await onDeadLetters(letters)
  }

  private decode(block: SourceBlock, view: ContractView = this.options.contracts): DecodedBlock {
    const { contracts, decoder } = this.options
    block.logs = block.logs.filter(({ address }) => !contracts.isIgnored(address))
    block.logs.sort((a, b) => a.logIndex - b.logIndex)
    const decoded = decoder.decodeBlock(block.logs, view)
    decoded.candidates = decoded.candidates.filter(({ contract }) => !contracts.isIgnored(contract))
    return decoded
  }

  /** Stores what is ready of the history of new sources; where it ends, their logs are among the batch's from here on. */
  private async addHistory(batch: Batch): Promise<void> {
    const joining = await this.options.history?.take(batch.store, batch.last.number)
    if (!joining) return
    this.watchesMore = true
    await this.merge(joining, batch)
  }

  /** These contracts as these kinds alone: what they were watched as before has its earlier events already. */
  private viewOf(only: readonly Fresh[]): ContractView {
    const { contracts } = this.options
    const kinds = new Set(only.map(({ kind, contract }) => kind + contract))
    return {
      isWatched: (kind, contract) => kinds.has(kind + contract),
      isInspected: contract => contracts.isInspected(contract),
      vault: contract => contracts.vault(contract),
    }
  }

  /** Adds logs to the blocks of the batch that they are in, each once. */
  private async merge(all: readonly BlockLogs[], { queue, numbers }: Batch): Promise<void> {
    const missing = all.filter(({ number }) => !queue.has(number))
    for (const { ref } of await this.withHeaders(missing)) {
      queue.set(ref.number, { ref, logs: [] })
      numbers.push(ref.number)
    }
    numbers.sort((a, b) => a - b)
    for (const found of all) {
      const block = queue.get(found.number)
      if (block?.ref.hash !== found.hash) throw new BranchMismatchError(found.number)
      const have = new Set(block.logs.map(({ logIndex }) => logIndex))
      block.logs.push(...found.logs.filter(({ logIndex }) => !have.has(logIndex)))
    }
  }

  /** @param isFound somebody's log brought them up, whoever that was and however old they are */
  private async fetchLogsOf(
    fresh: readonly Fresh[],
    block: SourceBlock,
    batch: Batch,
    isFound = false,
  ): Promise<void> {
    const { rpc, contracts, older, logBudget } = this.options
    this.watchesMore = true
    if (!rpc) return
    const began = await Promise.all(
      fresh.map(async source => {
        const vault = contracts.vault(source.contract)
        const deployment = async () => (await rpc.reader(block.ref).deployment(source.contract))?.block
        // Where a vault was discovered without its block of creation, the node could not tell, and is not asked again.
        const created = vault?.deployedBlock ?? (vault && isFound ? undefined : await deployment()) ?? 0
        return older ? older.add(batch.store, source, { created, discovered: block.ref.number }) : created
      }),
    )
    const from = Math.min(...began)
    const address = [...new Set(fresh.map(({ contract }) => contract))]
    const view = this.viewOf(fresh)
    const isCapped = older && isFound && address.every(contract => logBudget?.isCounted(contract))
    const now = isCapped ? Math.max(from, block.ref.number) : from
    const to = batch.last.number
    const [before, since] = await Promise.all([
      isCapped ? older.near(batch.store, fresh, from, block.ref.number) : [],
      isCapped && batch.store.baseHeight === Number.MAX_SAFE_INTEGER
        ? older.since(batch.store, fresh, now, to)
        : rpc.logs({ address, from: now, to }).then(logs => ({ logs, to })),
    ])
    // Above that block the contract's logs are fetched beside the batch: here they would be stored twice.
    for (const later of batch.queue.values())
      if (later.ref.number > since.to)
        later.logs = later.logs.filter(({ address: of }) => !address.includes(of))
    const all = await this.withoutStanding([...before, ...since.logs], address)
    await this.addPast(
      all.filter(({ number }) => number < block.ref.number),
      view,
      batch,
    )
    await this.merge(
      all.filter(({ number }) => number >= block.ref.number),
      batch,
    )
  }

  /** Events of logs from before the discovery of contracts that are known by these kinds. */
  async handlePast(logs: BlockLogs[], sources: readonly Fresh[]): Promise<BlockEvents[]> {
    const { rpc } = this.options
    const past: Handled = { queue: new Map(), output: [], letters: [] }
    const view = this.viewOf(sources)
    const address = sources.map(({ contract }) => contract)
    await this.addPast(await this.withoutStanding(logs, address), view, past)
    if (rpc) await settleByBalances(past, rpc, this.balances)
    if (past.letters.length > 0) await this.options.onDeadLetters(past.letters)
    await this.attribute(past)
    return past.output
  }

  private async addPast(
    blocks: readonly BlockLogs[],
    view: ContractView,
    { output, letters }: Handled,
  ): Promise<void> {
    for (const { ref, logs } of await this.withHeaders(blocks)) {
      const decoded = this.decode({ ref, logs }, view)
      letters.push(...decoded.rejected.map(rejected => deadLetter(rejected, ref)))
      if (decoded.events.length > 0) output.push({ block: ref, events: decoded.events })
    }
  }

  /** Logs of contracts, without those that are stored since the contracts were known before. */
  private async withoutStanding(logs: BlockLogs[], contracts: readonly string[]): Promise<BlockLogs[]> {
    const forgotten = contracts.filter(contract => this.options.contracts.wasForgotten(contract))
    if (forgotten.length === 0) return logs
    const standing = await this.options.standingLogs(forgotten)
    return logs
      .map(found => ({
        ...found,
        logs: found.logs.filter(({ logIndex }) => !standing.has(`${found.hash} ${logIndex}`)),
      }))
      .filter(found => found.logs.length > 0)
  }

  private withHeaders(blocks: readonly BlockLogs[]) {
    return withHeaders(blocks, this.options.rpc, this.newest - this.options.finality)
  }
}

const nameOf = ({ protocol, contract }: Candidate) => `${protocol} ${contract}`
