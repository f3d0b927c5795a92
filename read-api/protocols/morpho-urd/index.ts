import { defineApiProtocol } from '../../protocol.ts'
import { morphoUrd as rewards } from './rewards.ts'

export default defineApiProtocol({ rewards })
