import { defineApiProtocol } from '../../protocol.ts'
import { errors } from './errors.ts'
import { pendleV2 as fixedTerm } from './swap.ts'

export default defineApiProtocol({ fixedTerm, errors })
