import { defineApiProtocol } from '../../protocol.ts'
import { errors } from './errors.ts'
import { ichi as amm } from './vault.ts'

export default defineApiProtocol({ amm, errors })
