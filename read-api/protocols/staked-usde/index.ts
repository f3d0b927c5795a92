import { defineApiProtocol } from '../../protocol.ts'
import { stakedUsde as vaults } from './deposit.ts'

export default defineApiProtocol({ vaults })
