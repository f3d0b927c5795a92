import { randomBytes } from 'node:crypto'
import { type ClickHouse, openClickHouse } from '../../db/clickhouse/client.ts'
import { dropClickHouse, migrateClickHouse } from '../../db/clickhouse/migrate.ts'

/** A migrated ClickHouse database for one history of events. */
export class Engine {
  readonly house: ClickHouse
  readonly client: ClickHouse['client']

  private constructor(house: ClickHouse) {
    this.house = house
    this.client = house.client
  }

  static async create(url: string, open: typeof openClickHouse = openClickHouse): Promise<Engine> {
    const house = open({ url, database: `vaultlog_test_${randomBytes(6).toString('hex')}` })
    await migrateClickHouse(house)
    return new Engine(house)
  }

  async drop(): Promise<void> {
    await dropClickHouse(this.house)
    await this.house.close()
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
