import { groupBy } from '../../../db/group-by.ts'

interface Column {
  table: string
  name: string
  type: string
}

/** The module of these columns, in their order: several a line. Time zones and dictionaries of values are the table's own affair. */
export function columnsFile(columns: readonly Column[]): string {
  const tables = [...groupBy(columns, ({ table }) => table)].map(([table, of]) => {
    const lines: string[] = []
    for (const { name, type } of of) {
      const plain = type.replace(/LowCardinality\((\w+)\)/, '$1').replace("('UTC')", '')
      const [last = '', entry] = [lines.at(-1), `${name}: '${plain}',`]
      if (last && last.length + entry.length < 95) lines[lines.length - 1] = `${last} ${entry}`
      else lines.push(entry)
    }
    return `  ${table}: {\n${lines.map(line => `    ${line}\n`).join('')}  },\n`
  })
  return `/** Written from the tables by \`npx vitest run test/db/clickhouse/readme.int.test.ts -u\`. */
export const COLUMNS = {
${tables.join('')}} as const
`
}
