import { defineApiProtocol } from '../../protocol.ts'
import { morphoBlue as borrow } from './borrow.ts'

export default defineApiProtocol({ borrow })
