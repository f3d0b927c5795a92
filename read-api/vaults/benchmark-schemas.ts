import { Apy4 } from '../http/shapes.ts'
import { z } from '../http/zod.ts'

export const BenchmarkPoint = z
  .strictObject({
    apy: Apy4.omit({ '1hour': true })
      .nullable()
      .openapi({ description: 'null where no vault is large enough.' }),
    timestamp: z.int(),
  })
  .openapi('BenchmarkPoint')
