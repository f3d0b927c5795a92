import { defineApiProtocol } from '../../protocol.ts'
import { stakedUsde as vaults } from './deposit.ts'
import { errors } from './errors.ts'

export default defineApiProtocol({ vaults, errors })
