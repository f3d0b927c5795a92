/**
 * What the HTTP interface has to know of a statement before the engine sees it. Rules of tokens follow ClickHouse's
 * own lexer (src/Parsers/Lexer.cpp), tried against the engine: comments nest, `#` opens one only before a space or
 * `!`, typographic quotes quote, `$tag$` is a here document.
 *
 * Statements are given as latin-1 strings: one character is one byte, so that offsets hold for the bytes of a body.
 */
export interface Token {
  kind: 'word' | 'quoted' | 'string' | 'punct' | 'broken'
  text: string
  start: number
  end: number
  /** Of brackets around the token. */
  depth: number
}

export interface Statement {
  kind: 'empty' | 'query' | 'insert-select' | 'insert-data' | 'insert-input'
  /** First word in upper case; `(` for a parenthesised SELECT. */
  verb: string
  /** Format named in the text. */
  format: string | undefined
  /** Offset of the first byte of the data; only for insert-data and insert-input. */
  dataStart: number | undefined
  /** Offset of the FORMAT or VALUES that introduces the data; only where there is `dataStart`. */
  clauseStart: number | undefined
  /** A second statement follows a semicolon. */
  isMulti: boolean
  /** Reads or writes files on the client's side, which an HTTP interface does not have. */
  fileClause: 'INTO OUTFILE' | 'FROM INFILE' | undefined
  /** Names followed by `(` or given to APPLY, in lower case: functions, table functions, tables. */
  calls: ReadonlySet<string>
  /** End of the statement without a closing semicolon. */
  end: number
  tokens: readonly Token[]
}

const wordStart = /[A-Za-z_\x80-\xff]/
const wordPart = /[A-Za-z0-9_$\x80-\xff]/

/** One token from `at` on, or undefined at the end of the text. `depth` is filled in by the caller. */
function nextToken(sql: string, from: number): Token | undefined {
  let at = from
  for (;;) {
    while (at < sql.length && /[\s\0]/.test(sql.charAt(at))) at++
    if (at >= sql.length) return undefined
    if (sql.startsWith('--', at) || sql.startsWith('# ', at) || sql.startsWith('#!', at)) {
      const newline = sql.indexOf('\n', at)
      at = newline < 0 ? sql.length : newline
    } else if (sql.startsWith('/*', at)) {
      const end = commentEnd(sql, at)
      if (end === undefined) return broken(sql, at)
      at = end
    } else break
  }
  const char = sql.charAt(at)
  const token = (kind: Token['kind'], end: number): Token => ({
    kind,
    text: sql.slice(at, end),
    start: at,
    end,
    depth: 0,
  })
  if (char === "'") return quoted(sql, at, "'", 'string')
  if (char === '"' || char === '`') return quoted(sql, at, char, 'quoted')
  if (sql.startsWith('\xe2\x80\x98', at)) return until(sql, at, '\xe2\x80\x99', 'string')
  if (sql.startsWith('\xe2\x80\x9c', at)) return until(sql, at, '\xe2\x80\x9d', 'quoted')
  if (char === '$') {
    const tag = /^\$[A-Za-z0-9_]*\$/.exec(sql.slice(at, at + 256))?.[0]
    const end = tag ? sql.indexOf(tag, at + tag.length) : -1
    if (tag && end >= 0) return token('string', end + tag.length)
    return token('punct', at + 1)
  }
  if (wordStart.test(char) || /[0-9]/.test(char)) {
    let end = at + 1
    const isNumber = !wordStart.test(char)
    while (end < sql.length && (wordPart.test(sql.charAt(end)) || (isNumber && sql.charAt(end) === '.')))
      end++
    return token('word', end)
  }
  return token('punct', at + 1)
}

function commentEnd(sql: string, start: number): number | undefined {
  let open = 1
  let at = start + 2
  while (open > 0) {
    const close = sql.indexOf('*/', at)
    if (close < 0) return undefined
    const nested = sql.indexOf('/*', at)
    if (nested >= 0 && nested < close) {
      open++
      at = nested + 2
    } else {
      open--
      at = close + 2
    }
  }
  return at
}

function quoted(sql: string, start: number, quote: string, kind: Token['kind']): Token {
  let at = start + 1
  while (at < sql.length) {
    const char = sql.charAt(at)
    if (char === '\\') at += 2
    else if (char !== quote) at++
    else if (sql.charAt(at + 1) === quote) at += 2
    else return { kind, text: sql.slice(start, at + 1), start, end: at + 1, depth: 0 }
  }
  return broken(sql, start)
}

function until(sql: string, start: number, close: string, kind: Token['kind']): Token {
  const end = sql.indexOf(close, start)
  if (end < 0) return broken(sql, start)
  return { kind, text: sql.slice(start, end + close.length), start, end: end + close.length, depth: 0 }
}

function broken(sql: string, start: number): Token {
  return { kind: 'broken', text: sql.slice(start), start, end: sql.length, depth: 0 }
}

/** The name that a word or quoted identifier stands for, lower case. */
export function nameOf(token: Token): string {
  const bare =
    token.kind === 'quoted'
      ? token.text.replace(/^(["`]|\xe2\x80\x9c)|(["`]|\xe2\x80\x9d)$/g, '').replace(/\\(.)/gs, '$1')
      : token.text
  return bare.toLowerCase()
}

const isWord = (token: Token | undefined, word: string): boolean =>
  token?.kind === 'word' && token.text.toUpperCase() === word
const isPunct = (token: Token | undefined, text: string): boolean =>
  token?.kind === 'punct' && token.text === text

/**
 * Reads a statement up to its end, or for an INSERT with data up to the data.
 *
 * @param sql latin-1 text; may be the head of a longer body, of which only data are missing
 */
export function parseStatement(sql: string): Statement {
  const tokens: Token[] = []
  const calls = new Set<string>()
  let depth = 0
  let at = 0
  let isMulti = false
  let end: number | undefined
  let fileClause: Statement['fileClause']
  let insertTarget: 'before' | 'inside' | 'after' = 'before'
  let isInsertSelect = false

  const statement = (
    kind: Statement['kind'],
    format?: string,
    data?: { clauseStart: number; dataStart: number },
  ): Statement => ({
    kind,
    verb: tokens[0]?.kind === 'word' ? tokens[0].text.toUpperCase() : (tokens[0]?.text ?? ''),
    format,
    dataStart: data?.dataStart,
    clauseStart: data?.clauseStart,
    isMulti,
    fileClause,
    calls,
    end: end ?? sql.length,
    tokens,
  })

  for (let token = nextToken(sql, at); token; token = nextToken(sql, at)) {
    at = token.end
    if (end !== undefined) {
      if (!isPunct(token, ';')) isMulti = true
      continue
    }
    if (isPunct(token, ';')) {
      end = token.start
      continue
    }
    if (token.kind === 'punct' && ')]}'.includes(token.text)) depth--
    token.depth = depth
    if (token.kind === 'punct' && '([{'.includes(token.text)) depth++
    const previous = tokens.at(-1)
    tokens.push(token)

    if (isWord(token, 'OUTFILE') && isWord(previous, 'INTO')) fileClause = 'INTO OUTFILE'
    if (isWord(token, 'INFILE') && isWord(previous, 'FROM')) fileClause = 'FROM INFILE'
    if (isPunct(token, '(') && previous && (previous.kind === 'word' || previous.kind === 'quoted')) {
      calls.add(nameOf(previous))
    }
    if (token.kind === 'word' || token.kind === 'quoted') {
      const beforeBracket = isPunct(previous, '(') ? tokens.at(-3) : previous
      if (isWord(beforeBracket, 'APPLY')) calls.add(nameOf(token))
    }

    if (!isWord(tokens[0], 'INSERT')) continue
    if (insertTarget !== 'after') {
      insertTarget = targetState(token, previous, tokens.length, insertTarget)
      if (insertTarget !== 'after') continue
    }
    if (token.depth !== 0 || token.kind !== 'word') continue
    if (isWord(token, 'SELECT') || isWord(token, 'WITH')) isInsertSelect = true
    if (isWord(token, 'VALUES') && !isInsertSelect) {
      return statement('insert-data', 'Values', { clauseStart: token.start, dataStart: token.end })
    }
    if (isWord(token, 'FORMAT') && (!isInsertSelect || calls.has('input'))) {
      const format = nextToken(sql, token.end)
      if (format?.kind !== 'word') continue
      tokens.push(format)
      const data = { clauseStart: token.start, dataStart: dataAfter(sql, format.end) }
      return statement(isInsertSelect ? 'insert-input' : 'insert-data', format.text, data)
    }
  }
  if (tokens.length === 0) return statement('empty')
  if (isWord(tokens[0], 'INSERT')) return statement('insert-select')
  return statement('query', formatClause(tokens))
}

/** The name of the table must not be taken for a keyword: INSERT [INTO] [TABLE] [FUNCTION] name[.name]. */
function targetState(token: Token, previous: Token | undefined, count: number, state: 'before' | 'inside') {
  if (count === 1) return 'before'
  if (state === 'before') {
    const isIntroduction = ['INTO', 'TABLE', 'FUNCTION'].some(word => isWord(token, word))
    return isIntroduction && !isWord(previous, token.text.toUpperCase()) ? 'before' : 'inside'
  }
  return isPunct(token, '.') || isPunct(previous, '.') ? 'inside' : 'after'
}

/** Data begin after blanks and one line break, as in ClickHouse's parser of INSERT. */
function dataAfter(sql: string, formatEnd: number): number {
  let at = formatEnd
  while (at < sql.length && ' \t\f'.includes(sql.charAt(at))) at++
  if (sql.charAt(at) === '\r') at++
  if (sql.charAt(at) === '\n') at++
  return at
}

function formatClause(tokens: readonly Token[]): string | undefined {
  for (let i = tokens.length - 2; i > 0; i--) {
    const name = tokens[i + 1]
    const after = tokens[i + 2]
    if (!isWord(tokens[i], 'FORMAT') || tokens[i]?.depth !== 0 || name?.kind !== 'word') continue
    if (after === undefined || isWord(after, 'SETTINGS') || isWord(after, 'INTO')) return name.text
  }
  return undefined
}

/**
 * The same INSERT, reading its data from a file: the engine then parses them in parallel, in any format, into one
 * block, and nothing of the body passes through a string.
 *
 * @param path absolute, without the glob characters * ? { }
 */
export function insertFromFile(sql: string, statement: Statement, path: string): string {
  const format = statement.format ?? 'Values'
  const quotedPath = `'${path.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const clauseStart = statement.clauseStart ?? sql.length
  if (statement.kind === 'insert-input') {
    const at = statement.tokens.findIndex(
      (t, i) => isWord(t, 'INPUT') && isPunct(statement.tokens[i + 1], '('),
    )
    const input = statement.tokens[at]
    const bracket = statement.tokens[at + 1]
    if (input && bracket) {
      const tail = sql.slice(bracket.end, clauseStart)
      return `${sql.slice(0, input.start)}file(${quotedPath}, '${format}', ${tail}`
    }
  }
  const settings = statement.tokens.find(t => t.depth === 0 && t.start < clauseStart && isWord(t, 'SETTINGS'))
  const head = sql.slice(0, settings?.start ?? clauseStart)
  const tail = settings ? sql.slice(settings.start, clauseStart) : ''
  return `${head} FROM INFILE ${quotedPath} COMPRESSION 'none' ${tail} FORMAT ${format}`
}
