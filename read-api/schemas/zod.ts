import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'

// Has to run before the first schema is made: every schema of the API imports z from here.
extendZodWithOpenApi(z)

export { z }
