// Empties dist/, or the folder that is named, and puts there what the code reads beside it; tsc adds the JavaScript: `npm run build`,
// for `npm pack`.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const dist = process.argv[2] ?? join(root, 'dist')

rmSync(dist, { recursive: true, force: true })
for (const folder of ['abi', 'db', 'jobs', 'processors', 'read-api'])
  cpSync(join(root, folder), join(dist, folder), { recursive: true, filter: path => !path.endsWith('.ts') })
