import fc from 'fast-check'

/** The same on every machine, so that a failure is of the change; another one when asked for. */
fc.configureGlobal({ seed: Number(process.env['TEST_SEED'] ?? 20_250_101) })
