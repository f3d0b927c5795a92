import { AccountRole, address, type Instruction } from '@solana/kit'
import type { TestChain } from './chain.ts'

const ROUTER = address('Router1111111111111111111111111111111111111')

/** The same, carried out by a program that passes it on; `depth` times to itself before. */
export function routed(chain: TestChain, instruction: Instruction, depth = 0): Instruction {
  chain.addProgram(ROUTER, 'router')
  return {
    programAddress: ROUTER,
    accounts: [
      { address: instruction.programAddress, role: AccountRole.READONLY },
      ...(instruction.accounts ?? []),
      { address: ROUTER, role: AccountRole.READONLY },
    ],
    data: Buffer.concat([Buffer.of(depth), Buffer.from(instruction.data ?? [])]),
  }
}
