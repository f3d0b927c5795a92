import type { Key } from '../../abi/svm/programs.ts'
import {
  decodeMint,
  type Mint,
  PERMANENT_DELEGATE,
  TRANSFER_FEE,
  TRANSFER_HOOK,
} from '../../abi/svm/token.ts'
import { RefusedError } from '../http/errors.ts'
import type { SvmAccount } from './node.ts'

/** A share that somebody else than `authority` can mint, or that anybody else can move or take a part of, is none. */
export function shareMint(account: SvmAccount | undefined, tokenProgram: Key, authority: Key): Mint {
  const mint = account && decodeMint(account.owner, account.data)
  if (!mint || account.owner !== tokenProgram)
    throw new RefusedError('The mint of the share is no token of the program that the vault names.')
  if (mint.authority !== authority)
    throw new RefusedError('Another account than the vault may mint its shares: no transaction is prepared.')
  const strange =
    strangeIn(mint) ?? (mint.extensions.includes(TRANSFER_FEE) ? 'a fee of transfers' : undefined)
  if (strange) throw new RefusedError(`The share of the vault has ${strange}: no transaction is prepared.`)
  return mint
}

/** What a vault takes. A fee of transfers is reckoned with; who else may move or stop what wallets hold is not. */
export function assetMint(account: SvmAccount | undefined, tokenProgram: Key): Mint {
  const mint = account && decodeMint(account.owner, account.data)
  if (!mint || account.owner !== tokenProgram)
    throw new RefusedError('The mint of the asset is no token of the program that the vault names.')
  const strange = strangeIn(mint)
  if (strange) throw new RefusedError(`The asset of the vault has ${strange}: no transaction is prepared.`)
  return mint
}

function strangeIn({ extensions }: Mint): string | undefined {
  if (extensions.includes(TRANSFER_HOOK)) return 'a transfer hook'
  return extensions.includes(PERMANENT_DELEGATE) ? 'a permanent delegate' : undefined
}
