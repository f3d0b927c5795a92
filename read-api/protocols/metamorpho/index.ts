import { defineApiProtocol } from '../../protocol.ts'
import { metamorpho as vaults } from './deposit.ts'

export default defineApiProtocol({ vaults })
