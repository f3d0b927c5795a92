import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const shape = z.object({
  /** ClickHouse's user `default`. */
  clickhouse: z.string().min(1),
  /** The superuser of Postgres, for its start alone. */
  postgresAdmin: z.string().min(1),
  /** The owner of the event store. */
  postgres: z.string().min(1),
  /** The reader of the GraphQL server. */
  graphql: z.string().min(1),
})
export type Passwords = z.infer<typeof shape>

/**
 * Of the embedded databases of this folder: drawn at the first start, in a file for its owner's eyes. The servers listen
 * on loopback, which every user of the machine reaches.
 */
export function passwordsOf(folder: string): Passwords {
  const file = join(folder, 'passwords.json')
  const draw = () => randomBytes(24).toString('base64url')
  const drawn: Passwords = { clickhouse: draw(), postgresAdmin: draw(), postgres: draw(), graphql: draw() }
  const draft = `${file}.${process.pid}.${draw()}`
  try {
    return shape.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  writeFileSync(draft, JSON.stringify(drawn, null, 2), { mode: 0o600 })
  try {
    // Whole or not at all, and the first of two starts at one time.
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  return shape.parse(JSON.parse(readFileSync(file, 'utf8')))
}
