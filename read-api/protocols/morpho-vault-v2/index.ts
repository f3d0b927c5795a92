import { defineApiProtocol } from '../../protocol.ts'
import { morphoVaultV2 as vaults } from './deposit.ts'

export default defineApiProtocol({ vaults })
