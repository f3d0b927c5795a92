import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'

// Has to run before the first schema is made: every schema of the API imports z from here.
extendZodWithOpenApi(z)

export { z }

/**
 * An object with more fields than `base`. Not `base.extend`: a named schema that is extended becomes `allOf` in OpenAPI,
 * and of two closed objects no value can be both.
 */
export function widened<const A extends z.ZodRawShape, const B extends z.ZodRawShape>(
  base: z.ZodObject<A>,
  fields: B,
) {
  return z.strictObject({ ...base.shape, ...fields })
}
