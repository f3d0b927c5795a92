import type pg from 'pg'

/** Roles that processes may sign in as, each with what its process does and no more; commands and migrations are the owner's. */
export const ROLES = ['processor', 'worker', 'api', 'graphql'] as const
type Role = (typeof ROLES)[number]

const READ = 'SELECT'
const ADD = 'SELECT, INSERT'
const KEEP = 'SELECT, INSERT, UPDATE'
const ALL = 'SELECT, INSERT, UPDATE, DELETE'
const ofProcessors = { processor: ALL, worker: READ, api: READ }
const ofWorkers = { processor: READ, worker: ALL, api: READ }

/** By table and view. A test holds it to those that there are. */
export const RIGHTS: Readonly<Record<string, Partial<Record<Role, string>>>> = {
  migration: { processor: READ, worker: READ, api: READ, graphql: READ },
  stream: { processor: KEEP, worker: READ, api: READ },
  event_log: { processor: ADD, worker: READ, api: READ },
  event: { processor: READ, worker: READ, api: READ, graphql: READ },
  hot_block: ofProcessors,
  completeness: ofProcessors,
  watched_source: ofProcessors,
  older_logs: ofProcessors,
  teaching_type: ofProcessors,
  teaching_event: ofProcessors,
  waiting_contract: ofProcessors,
  log_budget: ofProcessors,
  sampling_round: ofProcessors,
  dead_letter: { processor: KEEP, worker: KEEP, api: READ },
  checkpoint: ofWorkers,
  projection: ofWorkers,
  replay: ofWorkers,
  verification: ofWorkers,
  // Who finds the read models wanting writes it down.
  read_models: { processor: READ, worker: KEEP, api: KEEP },
  api_plan: { api: READ },
  api_key: { api: READ },
  api_usage: { api: KEEP },
  rate_limit: { api: ALL },
  payment_taken: { api: ALL },
  intent_quote: { api: ALL },
  webhook: { api: ALL },
  webhook_cursor: { api: ALL },
  webhook_rule: { api: ALL },
  webhook_message: { api: ALL },
  webhook_old_secret: { api: ALL },
}

/** Gives `vaultlog_<role>` its rights, where an operator has made it. */
export async function grantRoles(tx: pg.PoolClient): Promise<void> {
  const { rows } = await tx.query<{ name: string; schema: string }>(
    'SELECT rolname AS name, current_schema() AS schema FROM pg_roles WHERE rolname = ANY ($1)',
    [ROLES.map(role => `vaultlog_${role}`)],
  )
  const { rows: tables } = await tx.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v')",
  )
  const there = new Set(tables.map(({ name }) => name))
  for (const { name, schema } of rows) {
    const role = name.replace('vaultlog_', '') as Role
    const grants = Object.entries(RIGHTS).flatMap(([table, rights]) =>
      rights[role] && there.has(table)
        ? [`GRANT ${rights[role]} ON ${tx.escapeIdentifier(table)} TO ${name}`]
        : [],
    )
    const rest = role === 'processor' ? [`GRANT EXECUTE ON FUNCTION register_stream TO ${name}`] : []
    await tx.query(
      [`GRANT USAGE ON SCHEMA ${tx.escapeIdentifier(schema)} TO ${name}`, ...grants, ...rest].join(';\n'),
    )
  }
}
