import { type Key, WRAPPED_SOL } from '../../abi/svm/programs.ts'
import { decodeMint, decodeTokenAccount } from '../../abi/svm/token.ts'
import { toBase58 } from '../../db/base58.ts'
import { NotFoundError } from '../http/errors.ts'
import type { SolanaNode } from './node.ts'
import type { SvmAsset } from './vault.ts'

export interface IdleAsset {
  asset: SvmAsset
  balance: bigint
}

/** What a wallet holds of assets, over all of its token accounts; SOL itself counts as wrapped SOL. `slot`: the oldest it was read at. */
export async function readIdleAssets(
  node: SolanaNode,
  user: Key,
  assets: readonly SvmAsset[],
): Promise<{ slot: bigint; idle: IdleAsset[] }> {
  const [wallet, ...held] = await Promise.all([
    node.accounts([user]),
    ...assets.map(asset => tokensOf(node, user, asset)),
  ])
  const coin = wallet.accounts[0]?.lamports ?? 0n
  return {
    slot: held.reduce((least, { slot }) => (slot < least ? slot : least), wallet.slot),
    idle: held.map(({ asset, balance }) => ({
      asset,
      balance: asset.mint === WRAPPED_SOL ? balance + coin : balance,
    })),
  }
}

async function tokensOf(node: SolanaNode, user: Key, asset: SvmAsset) {
  const { slot, accounts } = await node.tokenAccounts(user, asset.mint)
  const balance = accounts.reduce((sum, { owner, data }) => {
    const account = decodeTokenAccount(owner, data)
    return account?.owner === user && account.mint === asset.mint ? sum + account.amount : sum
  }, 0n)
  return { slot, asset, balance }
}

/** A token that no vault takes, as far as its mint says what it is: name and symbol are empty. */
export async function readStrangeAsset(node: SolanaNode, mint: Key): Promise<SvmAsset> {
  const { accounts } = await node.accounts([mint])
  const [account] = accounts
  const found = account && decodeMint(account.owner, account.data)
  if (!found) throw new NotFoundError(`${toBase58(mint)} is no token on Solana.`)
  return { mint, name: '', symbol: '', decimals: found.decimals, logo: undefined, price: undefined }
}
