import { defineApiProtocol } from '../../protocol.ts'
import { erc7540 as vaults } from './deposit.ts'

export default defineApiProtocol({ vaults })
