import { defineApiProtocol } from '../../protocol.ts'
import { pendleV2 as fixedTerm } from './swap.ts'

export default defineApiProtocol({ fixedTerm })
