import beyond from './cases/beyond.ts'
import crashes from './cases/crashes.ts'
import data from './cases/data.ts'
import head from './cases/head.ts'
import hostile from './cases/hostile.ts'
import installation from './cases/installation.ts'
import reorgs from './cases/reorgs.ts'
import rpc from './cases/rpc.ts'
import type { Check, OwnCheck } from './check.ts'

/** Every check, in the order of the table. */
export const suite: (Check | OwnCheck)[] = [
  ...rpc,
  ...data,
  ...reorgs,
  ...crashes,
  ...head,
  ...beyond,
  ...installation,
  ...hostile,
]
