import { defineApiProtocol } from '../../protocol.ts'

/** A bridge has neither vaults nor markets: what the API does with it are endpoints of its own (alpha/transactions). */
export default defineApiProtocol({})
