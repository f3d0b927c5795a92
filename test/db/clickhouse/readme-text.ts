export interface Described {
  name: string
  /** Of the table; of a view with parameters, which has no columns in the catalogue, with a line for each of them. */
  comment: string
  columns: { name: string; type: string; comment: string }[]
}

const COLUMN_LINE = /^`(\w+)`: (.+)$/gm

/** What is said of a table, and of each of its columns. */
export function commentsOf({ comment, columns }: Described): { text: string; columns: Described['columns'] } {
  const inLines = new Map([...comment.matchAll(COLUMN_LINE)].map(([, name = '', text = '']) => [name, text]))
  return {
    text: comment.replace(COLUMN_LINE, '').trim(),
    columns: columns.map(column => ({
      ...column,
      comment: column.comment || (inLines.get(column.name) ?? ''),
    })),
  }
}

/** The document with the sections of these tables as the database describes them; order, examples and prose stay. */
export function describeIn(readme: string, tables: readonly Described[]): string {
  const [head = '', ...sections] = readme.split(/^(?=### )/m)
  const known = new Map(tables.map(table => [table.name, table]))
  return [
    head,
    ...sections.map(section => {
      const table = known.get(/^### (\w+)/.exec(section)?.[1] ?? '')
      const after = /\n```sql\n/.exec(section)?.index
      if (!table || after === undefined) return section
      const { text, columns } = commentsOf(table)
      const rows = columns.map(({ name, type, comment }) => `| \`${name}\` | ${type} | ${comment} |`)
      return [
        `### ${table.name}`,
        '',
        text,
        '',
        '| column | type | meaning |',
        '|---|---|---|',
        ...rows,
        section.slice(after),
      ].join('\n')
    }),
  ].join('')
}
