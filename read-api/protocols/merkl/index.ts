import { defineApiProtocol } from '../../protocol.ts'
import { merkl as rewards } from './rewards.ts'

export default defineApiProtocol({ rewards })
