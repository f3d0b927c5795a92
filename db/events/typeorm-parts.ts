import { TypeormDatabase, type TypeormDatabaseOptions } from '@subsquid/typeorm-store'
import pg from 'pg'
import { DataSource, type EntityManager } from 'typeorm'

/** A block as the library knows it. */
interface HashAndHeight {
  height: number
  hash: string
}

/**
 * What TypeormDatabase is made of beyond what it offers, which a test holds it to. Its own `connect` reads the address of the
 * database from the environment and compiled entities from lib/model, and makes tables, which a processor's role may not.
 */
declare class OpenedDatabase {
  constructor(options: TypeormDatabaseOptions)
  protected con?: DataSource | undefined
  readonly supportsHotBlocks: boolean
  disconnect(): Promise<void>
  /** The cursor, and the blocks above it from the lowest up. @throws AssertionError where they are no chain */
  protected getState(em: EntityManager): Promise<HashAndHeight & { top: HashAndHeight[]; nonce: number }>
  protected insertHotBlock(em: EntityManager, block: HashAndHeight): Promise<void>
  protected deleteHotBlocks(em: EntityManager, upTo: number): Promise<void>
  protected updateStatus(em: EntityManager, nonce: number, next: HashAndHeight): Promise<void>
  /** Runs `work` in a transaction of the chosen isolation; serialization failures are tried again. */
  protected submit(work: (em: EntityManager) => Promise<void>): Promise<void>
  transact(
    info: { prevHead: HashAndHeight; nextHead: HashAndHeight },
    handle: () => Promise<void>,
  ): Promise<void>
  transactHot2(
    info: { finalizedHead: HashAndHeight; baseHead: HashAndHeight; newBlocks: HashAndHeight[] },
    handle: () => Promise<void>,
  ): Promise<void>
}

export const OpenTypeormDatabase = TypeormDatabase as unknown as typeof OpenedDatabase

/** The connection that a transaction of TypeORM runs on. */
export function connectionOf(em: EntityManager): Promise<pg.PoolClient> {
  if (!em.queryRunner) throw new TypeError('no transaction is open')
  return em.queryRunner.connect()
}

/** TypeORM over a pool that is there, whose settings and connections are kept; destroying it leaves the pool open. */
export function openDataSource(pool: pg.Pool): Promise<DataSource> {
  class Lent {
    connect = pool.connect.bind(pool)
    on() {}
    end(done: () => void) {
      done()
    }
  }
  return new DataSource({ type: 'postgres', driver: { ...pg, Pool: Lent } }).initialize()
}
