/**
 * The schema on a cluster: every table of a migration becomes a replicated table `<name>_local` on each node and a
 * Distributed table `<name>` over them, so that every query, view and INSERT ... SELECT goes on under the same names.
 * Rows are sharded by the first column of the order key after the chain (vault, market or account): what merges
 * together lies together, and a question about one vault or account goes to one shard.
 */
export function onCluster(statement: string, cluster: string): string[] {
  const [, kind, name = ''] = /^CREATE (TABLE|VIEW) IF NOT EXISTS ((?:internal\.)?\w+)/.exec(statement) ?? []
  if (!kind) return altered(statement, cluster)
  if (kind === 'VIEW') return [acrossShards(everywhere(statement, name, cluster))]
  const parts =
    /^(?<columns>.*)\) ENGINE = (?<engine>\w*MergeTree)(?:\((?<version>\w+)\))?\n(?<rest>.*)$/s.exec(
      statement,
    )?.groups
  const columns = parts?.columns?.slice(parts.columns.indexOf('(') + 1)
  const order = /ORDER BY \(?([\w, ]+)\)?/.exec(parts?.rest ?? '')?.[1]?.split(/, */) ?? []
  const key = order.find(column => !['chain_id', 'stream'].includes(column))
  if (!parts || columns === undefined || !key) throw new TypeError(`no table for a cluster: ${statement}`)
  const { engine, version, rest = '' } = parts
  const place = ["'/clickhouse/tables/{uuid}/{shard}'", "'{replica}'", ...(version ? [version] : [])]
  return [
    `CREATE TABLE IF NOT EXISTS ${localName(name)} ON CLUSTER ${cluster} (${columns}) ` +
      `ENGINE = Replicated${engine}(${place.join(', ')})\n` +
      rest.replace('non_replicated_deduplication_window', 'replicated_deduplication_window'),
    `CREATE TABLE IF NOT EXISTS ${name} ON CLUSTER ${cluster} (${withoutIndexes(columns)}) ` +
      `ENGINE = Distributed('${cluster}', currentDatabase(), '${localName(name)}', cityHash64(${key}))${/\nCOMMENT '.*$/s.exec(rest)?.[0] ?? ''}`,
  ]
}

/** The part of a table that lies on each node of a cluster. */
export function localName(table: string): string {
  return `${table}_local`
}

/** A Distributed table has no parts, of which settings and indexes are; a column is of both. */
function altered(statement: string, cluster: string): string[] {
  const [, name = '', what] =
    /^ALTER TABLE (\w+)\s+(MODIFY SETTING|ADD INDEX|ADD COLUMN)?/.exec(statement) ?? []
  const tables = what === 'ADD COLUMN' ? [localName(name), name] : [what ? localName(name) : name]
  return tables.map(table => statement.replace(/(?<=^ALTER TABLE )\w+/, `${table} ON CLUSTER ${cluster}`))
}

const everywhere = (statement: string, name: string, cluster: string) =>
  statement.replace(name, `${name} ON CLUSTER ${cluster}`)

/**
 * The other side of a join, and the set of an IN, are made once and sent to the shards. The server does that by itself
 * where they are Distributed tables, but not where they are views upon them.
 */
export function acrossShards(sql: string): string {
  return sql
    .replace(/\b((?:NOT )?IN \(\s*(?:SELECT|WITH)\b)/g, 'GLOBAL $1')
    .replace(/\b((?:ASOF |ANY )?(?:LEFT|INNER) JOIN (?!LATERAL))/g, 'GLOBAL $1')
}

/** Data skipping indexes belong to the parts, of which a Distributed table has none. */
const withoutIndexes = (columns: string) => columns.replace(/,\s*INDEX [^\n]*?(?=,?\n)/g, '')

/**
 * What every statement on a cluster is sent with. Views join tables whose rows lie on other shards, a batch is not
 * done before its rows are on their shards and on most of their replicas, and readers ask the same replica first, so
 * that they see what the checkpoint says is there.
 */
export const CLUSTER_SETTINGS = {
  distributed_product_mode: 'global',
  distributed_foreground_insert: 1,
  // A batch's rows follow from those of all shards: no shard may make them from its own alone.
  parallel_distributed_insert_select: '0',
  insert_quorum: 'auto',
  load_balancing: 'in_order',
  max_replica_delay_for_distributed_queries: '5',
  fallback_to_stale_replicas_for_distributed_queries: 0,
} as const
