import { defineApiProtocol } from '../../protocol.ts'
import { splStakePool as svm } from './pool.ts'

export default defineApiProtocol({ svm })
