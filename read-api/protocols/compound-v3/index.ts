import { defineApiProtocol } from '../../protocol.ts'
import { compoundV3 as borrow } from './borrow.ts'
import { compoundV3 as vaults } from './deposit.ts'

export default defineApiProtocol({ vaults, borrow })
