import { Apy4 } from './shapes.ts'
import { z } from './zod.ts'

export const BenchmarkPoint = z
  .strictObject({
    apy: Apy4.omit({ '1hour': true })
      .nullable()
      .openapi({ description: 'null where no vault is large enough.' }),
    timestamp: z.int(),
  })
  .openapi('BenchmarkPoint')
