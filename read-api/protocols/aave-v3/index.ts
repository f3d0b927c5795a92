import { defineApiProtocol } from '../../protocol.ts'
import { aaveV3 as borrow } from './borrow.ts'
import { aaveV3 as vaults } from './deposit.ts'

export default defineApiProtocol({ vaults, borrow })
