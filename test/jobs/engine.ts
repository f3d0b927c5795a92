import { randomBytes } from 'node:crypto'
import type { ClickHouse, openClickHouse } from '../../db/clickhouse/client.ts'
import { dropClickHouse, migrateClickHouse } from '../../db/clickhouse/migrate.ts'
import { createClickHouse, type TestClickHouse } from '../databases.ts'

/** A migrated ClickHouse database for one history of events. */
export class Engine {
  readonly house: ClickHouse
  readonly client: ClickHouse['client']
  readonly drop: () => Promise<void>

  private constructor({ house, drop }: TestClickHouse) {
    this.house = house
    this.client = house.client
    this.drop = drop
  }

  /** On the test run's server. */
  static async create(): Promise<Engine> {
    return new Engine(await createClickHouse())
  }

  /** On a server of one's own. */
  static async on(url: string, open: typeof openClickHouse): Promise<Engine> {
    const house = open({ url, database: `vaultlog_test_${randomBytes(6).toString('hex')}` })
    await migrateClickHouse(house)
    const drop = async () => {
      await dropClickHouse(house)
      await house.close()
    }
    return new Engine({ house, drop })
  }

  /** Rows of a query; 64-bit integers as numbers. */
  async rows<T = Record<string, unknown>>(
    query: string,
    query_params?: Record<string, unknown>,
  ): Promise<T[]> {
    const answer = await this.client.query({
      query,
      query_params,
      format: 'JSONEachRow',
      clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
    })
    return answer.json<T>()
  }
}
