import { defineApiProtocol } from '../../protocol.ts'
import { jupiterLend as svm } from './vault.ts'

export default defineApiProtocol({ svm })
