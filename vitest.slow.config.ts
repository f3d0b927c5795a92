import { defineConfig } from 'vitest/config'
import { SLOW, settings } from './vitest.config.ts'

/** Tests that take minutes because they start and kill processes: `npm run test:slow`. */
export default defineConfig({ test: { ...settings, include: SLOW } })
