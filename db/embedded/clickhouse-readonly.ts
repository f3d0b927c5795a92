import { nameOf, type Statement, type Token } from './clickhouse-sql.ts'
import { ClickHouseException } from './clickhouse-wire.ts'

/**
 * What the read-only user may name. A list of what is allowed, held against what the engine has: a function that a later
 * engine brings is refused until somebody has looked at it. `readonly = 1` alone does not do, since an embedded engine
 * lets functions read the files of its process.
 */
const CATEGORIES =
  `Aggregate Functions,Arithmetic,Arrays,Bit,Bitmap,Comparison,Conditional,Dates and Times,Distance,
Encoding,Encryption,Financial,Geo,Geo Polygon,Hash,IP Address,JSON,Logical,Map,Mathematical,Null,NumericIndexedVector,
QBit,Random Number,Rounding,String,String Replacement,String Search,String Splitting,Time Window,Tuple,Type Conversion,
URL,UUID`.split(/,\s*/)

/** Of the category `Other`, and of `Internal` what the parser writes for ordinary syntax. */
const NAMES =
  `bar blockNumber byteSize caseWithExpression _CAST colorOKLABToSRGB colorOKLCHToSRGB colorSRGBToOKLAB
colorSRGBToOKLCH countDigits currentDatabase currentSchemas currentUser defaultValueOfArgumentType defaultValueOfTypeName
digits displayName errorCodeToName finalizeAggregation flipCoordinates formatQuery formatQueryOrNull formatQuerySingleLine
formatQuerySingleLineOrNull formatReadableDecimalSize formatReadableQuantity formatReadableSize formatReadableTimeDelta
getSizeOfEnumType getSubcolumn globalVariable highlightQuery icebergBucket icebergTruncate identity ignore indexHint
initializeAggregation isConstant isDecimalOverflow lowCardinalityIndices lowCardinalityKeys MACNumToString MACStringToNum
MACStringToOUI materialize minSampleSizeContinuous minSampleSizeConversion neighbor nested normalizedQueryHash
normalizedQueryHashKeepNames normalizeQuery normalizeQueryKeepNames parseReadableSize parseReadableSizeOrNull
parseReadableSizeOrZero parseTimeDelta queryID revision rowNumberInAllBlocks rowNumberInBlock runningAccumulate
runningDifference runningDifferenceStartingWithFirstValue throwIf toColumnTypeName toTypeName transform uptime
variantElement variantType version visibleWidth
format generateRandom generateSeries generate_series null numbers numbers_mt primes SQLStandardValues values view zeros
zeros_mt`.split(/\s+/)

/** Of allowed categories: what looks a format up by its name, and the engine's way into Python. */
const REFUSED = ['chdb', 'formatRow', 'formatRowNoNewline', 'aggThrow', 'flameGraph']

const list = (names: readonly string[]): string => names.map(name => `'${name}'`).join(', ')

/** The names of the engine's functions and table functions that are not allowed, one a line. */
export const REFUSED_FUNCTIONS = `
  SELECT lower(f.name) AS name FROM system.functions AS f LEFT JOIN system.functions AS original ON original.name = f.alias_to
  WHERE NOT (if(f.alias_to = '', f.categories, original.categories) IN (${list(CATEGORIES)})
    OR if(f.alias_to = '', f.name, f.alias_to) IN (${list(NAMES)}))
    OR if(f.alias_to = '', f.name, f.alias_to) IN (${list(REFUSED)})
  UNION DISTINCT SELECT lower(name) FROM system.table_functions WHERE name NOT IN (${list(NAMES)})
  FORMAT TabSeparatedRaw`

/** What describes the data, and not the server, its files and what others do on it. */
const SYSTEM_TABLES = new Set(
  `aggregate_function_combinators clusters collations columns completions constraints data_skipping_index_types
  data_skipping_indices data_type_families database_engines databases dictionaries documentation formats functions keywords
  licenses numbers numbers_mt one primes settings table_engines table_functions tables time_zones unicode zeros
  zeros_mt`.split(/\s+/),
)

const VERBS = new Set(['SELECT', 'WITH', 'SHOW', 'DESCRIBE', 'DESC', 'EXPLAIN', 'EXISTS', 'FROM', '(', 'SET'])
const SHOWN = new Set(
  `CHANGED COLUMNS CREATE DATABASES DICTIONARIES ENGINES EXTENDED FIELDS FULL FUNCTIONS INDEX INDEXES INDICES KEYS SETTING
  SETTINGS TABLES TEMPORARY`.split(/\s+/),
)

/** Formats that need nothing but the rows: no template, no schema, no file. */
const FORMATS =
  /^(TabSeparated|TSV|TSKV|CSV|CustomSeparated|JSON|NDJSON|Pretty|RowBinary|Native|Values|Vertical|XML|Parquet|Arrow|ORC|Avro$|MsgPack|Markdown$|MD$|LineAsString|Raw|Null$|SQLInsert|Hash$|Buffers$|BSONEachRow|Npy|GeoJSON|Prometheus)/i

/** @throws ClickHouseException where the read-only user may not have this format */
export function allowFormat(format: string): void {
  if (!FORMATS.test(format)) refuse(`Format ${format} is not allowed in readonly mode.`)
}

/** @throws ClickHouseException: of `default`, names are files; of `system`, tables are told one by one; the rest is machinery */
export function allowDatabase(database: string): void {
  if (/^(default|system|.*_internal)$/i.test(database.trim()) || database.includes('/'))
    refuse(`Database ${database} is not allowed in readonly mode.`)
}

/** @throws ClickHouseException where the read-only user may not run this; what is left, `readonly = 1` refuses */
export function allowStatement(statement: Statement, refused: ReadonlySet<string>): void {
  const { verb, tokens } = statement
  if (!VERBS.has(verb)) refuse('Cannot execute query in readonly mode.')
  const second = tokens[1]
  if (verb === 'SHOW' && !(second && SHOWN.has(second.text.toUpperCase())))
    refuse(`SHOW ${second?.text ?? ''} is not allowed in readonly mode.`)
  for (const [i, token] of tokens.entries()) {
    if (token.kind === 'broken') refuse('The query ends within a quotation.')
    if (token.kind !== 'word' && token.kind !== 'quoted') continue
    const name = nameOf(token)
    if (refused.has(name))
      refuse(`Function ${name} is not allowed in readonly mode; rename a column that is called so.`)
    if (name === 'default' || (token.kind === 'quoted' && /^\.{0,2}\/|:\/\//.test(name)))
      refuse(`Database or table ${name} is not allowed in readonly mode.`)
    if (name.endsWith('_internal') && isDot(tokens[i + 1])) allowDatabase(name)
    if (name === 'system' && isDot(tokens[i + 1])) {
      const table = tokens[i + 2]
      if (!table || !SYSTEM_TABLES.has(nameOf(table)))
        refuse('This table of system is not allowed in readonly mode.')
    }
    // Its name would come by a parameter, past all of this.
    if (name === 'identifier' && tokens[i - 1]?.text === ':')
      refuse('Parameters of type Identifier are not allowed in readonly mode.')
    if (name === 'outfile' || name === 'infile') refuse('Files are not available in readonly mode.')
  }
  if (statement.format) allowFormat(statement.format)
}

const isDot = (token: Token | undefined): boolean => token?.kind === 'punct' && token.text === '.'

function refuse(why: string): never {
  throw ClickHouseException.of(164, 'READONLY', why)
}

export interface Allowance {
  atOnce: number
  queriesPerHour: number
  secondsPerHour: number
}

/** The read-only user's share: a few queries at one time, and so much an hour. */
export class Turnstile {
  readonly #allowance: Allowance
  #inside = 0
  #hour = { began: 0, queries: 0, seconds: 0 }

  constructor(allowance: Allowance) {
    this.#allowance = allowance
  }

  /** @returns what to call at the end @throws ClickHouseException, which is answered with 429 */
  enter(now = performance.now()): (now?: number) => void {
    const { atOnce, queriesPerHour, secondsPerHour } = this.#allowance
    if (now - this.#hour.began >= 3_600_000 || this.#hour.began === 0)
      this.#hour = { began: now, queries: 0, seconds: 0 }
    const hour = this.#hour
    if (hour.queries >= queriesPerHour || hour.seconds >= secondsPerHour)
      throw ClickHouseException.of(
        201,
        'QUOTA_EXCEEDED',
        `Quota has been exceeded: ${queriesPerHour} queries or ${secondsPerHour} s an hour. Ask again within the hour.`,
      )
    if (this.#inside >= atOnce)
      throw ClickHouseException.of(
        202,
        'TOO_MANY_SIMULTANEOUS_QUERIES',
        `Too many simultaneous queries of this user: ${atOnce} at most. Ask again when one has ended.`,
      )
    this.#inside++
    hour.queries++
    return (end = performance.now()) => {
      this.#inside--
      hour.seconds += (end - now) / 1000
    }
  }
}
