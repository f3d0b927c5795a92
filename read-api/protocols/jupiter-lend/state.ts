import {
  decodeLending,
  type Lending,
  lendingAdmin,
  lendingOf,
  liquidityOf,
  REWARDS_PROGRAM,
} from '../../../abi/jupiter-lend/lending.ts'
import {
  decodeReserve,
  decodeRewardsModel,
  decodeSupplyPosition,
  liquidityAccountOf,
} from '../../../abi/jupiter-lend/liquidity.ts'
import { sharePriceAt, supplyPriceAt, withdrawableAt } from '../../../abi/jupiter-lend/math.ts'
import { associatedTokenAccount } from '../../../abi/svm/addresses.ts'
import { decodeClock } from '../../../abi/svm/clock.ts'
import { CLOCK, type Key } from '../../../abi/svm/programs.ts'
import type { Mint } from '../../../abi/svm/token.ts'
import { DependencyDownError, RefusedError } from '../../http/errors.ts'
import { assetMint, shareMint } from '../../svm/mint-trust.ts'
import type { SolanaNode, SvmAccount } from '../../svm/node.ts'
import type { SvmVault } from '../../svm/vault.ts'
import { tokensIn } from '../../svm/wallet.ts'

/** A vault and a wallet's accounts, all of one slot. */
export interface LendingState {
  slot: bigint
  epoch: bigint
  lending: Lending
  tokenProgram: Key
  asset: Mint
  /** Of a share, and of what lies in the liquidity layer, in 1e12, as the programs would reckon now. */
  price: bigint
  supplyPrice: bigint
  /** Asset base units that can be taken out at once. */
  withdrawable: bigint
  /** Token accounts of the wallet. */
  sharesAt: Key
  assetsAt: Key
  wallet: SvmAccount | undefined
  shares: SvmAccount | undefined
  assets: SvmAccount | undefined
}

export async function readLending(node: SolanaNode, vault: SvmVault, user: Key): Promise<LendingState> {
  const first = await node.accounts([vault.address, vault.asset.mint])
  const [account, mintAccount] = first.accounts
  const is = lendingAt(vault, account)
  const tokenProgram = mintAccount?.owner
  if (!tokenProgram) throw new RefusedError('There is no mint of the asset of the vault any more.')
  const of = (mint: Key, owner = user) => associatedTokenAccount(owner, mint, tokenProgram)
  const [sharesAt, assetsAt] = [of(is.shareMint), of(is.mint)]
  const lentAt = of(is.mint, liquidityAccountOf(liquidityOf(vault.program)))
  const keys = [vault.address, is.mint, is.shareMint, is.reserve, is.supplyPosition, is.rewardsModel]
  const { slot, accounts } = await node.accounts([...keys, lentAt, CLOCK, user, sharesAt, assetsAt])
  const lending = lendingAt(vault, accounts[0])
  // Other accounts were set for it between the two answers.
  if (lending.rewardsModel !== is.rewardsModel) throw new DependencyDownError('Solana')
  const asset = assetMint(accounts[1], tokenProgram)
  const share = shareMint(accounts[2], tokenProgram, lendingAdmin(vault.program))
  const [, , , reserve, position, rewards, lent, clock, wallet, shares, assets] = accounts
  const books = booksOf(vault, lending, { reserve, position, rewards })
  const { epoch, time } = decodeClock(clock?.data) ?? {}
  if (epoch === undefined || time === undefined) throw new DependencyDownError('Solana')
  const supplyPrice = supplyPriceAt(books.reserve, time)
  const price = sharePriceAt(lending, share.supply, books.reserve, books.rewards, time)
  if (supplyPrice === undefined || price === undefined || price === 0n)
    throw new RefusedError(
      'The books of the vault and of the liquidity layer do not fit: no transaction is prepared.',
    )
  const lying = tokensIn(lent)?.amount ?? 0n
  const allowed = withdrawableAt(books.position, supplyPrice, time)
  const withdrawable = lying < allowed ? lying : allowed
  const own = { sharesAt, assetsAt, wallet, shares, assets }
  return { slot, epoch, lending, tokenProgram, asset, price, supplyPrice, withdrawable, ...own }
}

function lendingAt({ address, program, share, asset }: SvmVault, account: SvmAccount | undefined): Lending {
  const lending = account?.owner === program ? decodeLending(account.data) : undefined
  if (
    lending?.mint !== asset.mint ||
    lending.shareMint !== share.mint ||
    lendingOf(program, lending.mint, lending.shareMint) !== address
  )
    throw new RefusedError('The account of the vault is not the lending vault any more that was indexed.')
  return lending
}

/** Accounts of the programs whose they should be. */
function booksOf(
  { program }: SvmVault,
  { mint }: Lending,
  accounts: Record<'reserve' | 'position' | 'rewards', SvmAccount | undefined>,
) {
  const of = (account: SvmAccount | undefined, owner: Key) =>
    account?.owner === owner ? account.data : new Uint8Array()
  const liquidity = liquidityOf(program)
  const reserve = decodeReserve(of(accounts.reserve, liquidity))
  const position = decodeSupplyPosition(of(accounts.position, liquidity))
  const rewards = decodeRewardsModel(of(accounts.rewards, REWARDS_PROGRAM))
  if (reserve?.mint !== mint || !position || rewards?.mint !== mint)
    throw new RefusedError(
      'The vault names accounts that are not of its liquidity layer: no transaction is prepared.',
    )
  return { reserve, position, rewards }
}
