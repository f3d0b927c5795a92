import { readFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)
export const readText = (path: string) => readFileSync(new URL(path, root), 'utf8')

export interface Documented {
  name: string
  type: string
  labels: string[]
  process: string
}

/** The table of docs/operations.md. */
export function documentedMetrics(): Documented[] {
  return [
    ...readText('docs/operations.md').matchAll(
      /^\| `(vaultlog_\w+)` \| (\w+) \| ([\w, ]*)\| (\w+) \| (.+) \|$/gm,
    ),
  ].map(([, name = '', type = '', labels = '', process = '']) => ({
    name,
    type,
    labels: labels
      .split(',')
      .map(label => label.trim())
      .filter(Boolean)
      .sort(),
    process,
  }))
}

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** The text format of Prometheus 0.0.4: types and help by name, and the samples. */
export function parseExposition(text: string) {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]))
  const help = new Map([...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, words]) => [name, words]))
  const samples: Sample[] = [...text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name = '', labels = '', value = '']) => ({
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, content]) => [key, content]),
      ),
      value: Number(value),
    }),
  )
  return { types, help, samples }
}

/** What a histogram's name becomes in queries. */
export const baseName = (name: string) => name.replace(/_(bucket|sum|count)$/, '')
