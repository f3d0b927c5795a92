import { defineApiProtocol } from '../../protocol.ts'
import { stakedToken as vaults } from './deposit.ts'

export default defineApiProtocol({ vaults })
