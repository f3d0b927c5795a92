import { defineApiProtocol } from '../../protocol.ts'
import { eulerEvk as borrow } from './borrow.ts'
import { eulerEvk as vaults } from './deposit.ts'

export default defineApiProtocol({ vaults, borrow })
