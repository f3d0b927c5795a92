import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { OpenApiDocument } from './document.ts'
import { pythonOperationsOf, pythonTypesOf } from './python.ts'
import { typescriptOf } from './typescript.ts'

const DOCUMENTS = join(import.meta.dirname, '../../docs/openapi')

/** Writes the packages of both languages into a folder, which is emptied: what does not change is copied, types and methods are made. */
export function generateClients(folder: string): void {
  const document = wholeDocument()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const language of ['typescript', 'python'])
    cpSync(join(import.meta.dirname, language), join(folder, language), { recursive: true })
  writeFileSync(join(folder, 'typescript/openapi.d.ts'), typescriptOf(document))
  const python = join(folder, 'python/vaultlog_client')
  writeFileSync(join(python, 'types.py'), pythonTypesOf(document))
  writeFileSync(join(python, 'operations.py'), pythonOperationsOf(document))
}

/** The committed documents of all tiers as one: a schema has one name in all of them. */
function wholeDocument(): OpenApiDocument {
  const documents = ['v2', 'beta', 'alpha'].map(
    tier => JSON.parse(readFileSync(join(DOCUMENTS, `${tier}.json`), 'utf8')) as OpenApiDocument,
  )
  return {
    paths: Object.assign({}, ...documents.map(({ paths }) => paths)) as OpenApiDocument['paths'],
    components: {
      schemas: Object.assign(
        {},
        ...documents.map(({ components }) => components.schemas),
      ) as OpenApiDocument['components']['schemas'],
    },
  }
}

if (process.argv[1] === import.meta.filename) {
  const folder = resolve(process.argv[2] ?? 'dist/clients')
  generateClients(folder)
  process.stdout.write(`The clients are in ${folder}: typescript/ and python/.\n`)
}
