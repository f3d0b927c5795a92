import { defineApiProtocol } from '../../protocol.ts'
import { kamino as svm } from './vault.ts'

export default defineApiProtocol({ svm })
