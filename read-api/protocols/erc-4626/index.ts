import { defineApiProtocol } from '../../protocol.ts'
import { erc4626 as vaults } from './deposit.ts'

export default defineApiProtocol({ vaults })
