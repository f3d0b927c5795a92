import type { Address } from 'viem'
import type { NetworkId } from '../../db/networks.ts'
import type { AssetInfo } from '../catalogue/assets.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Vault } from '../catalogue/vault.ts'
import { view } from '../chain/view.ts'
import { NotFoundError, RefusedError } from '../http/errors.ts'
import type { OnChain } from '../on-chain.ts'
import { erc20Abi, erc4626Abi } from '../transactions/abis.ts'
import type { ReadViews, Token, VaultRef, VaultTransactions } from '../transactions/family.ts'
import { pinnedReads } from '../transactions/finish.ts'
import { approvalForm, entryForm, exitData } from './entry-forms.ts'
import type { Entry, Exit } from './provider.ts'

/** A token, or a vault, that the index knows on a network. Addresses are lower case. */
export interface Position {
  network: NetworkId
  /** What is held: the token, or the vault's share. */
  token: Token
  /** What it is worth is said in this. */
  asset: AssetInfo
  vault?: { vault: Vault; ref: VaultRef; bound: VaultTransactions }
}

export async function findPosition(
  catalogue: Catalogue,
  onChain: OnChain,
  { network, address }: { network: NetworkId; address: string },
): Promise<Position> {
  const vault = catalogue.find(network.chainId, address)
  if (vault) {
    const ref = onChain.refOf(vault)
    const bound = await onChain.preparer.bind(ref)
    return { network, token: bound.share ?? ref.share, asset: vault.asset, vault: { vault, ref, bound } }
  }
  const asset = catalogue.asset(network.chainId, address)
  if (!asset)
    throw new NotFoundError(`There is no token and no vault ${address} on ${network.name} in the index.`)
  const { symbol, decimals } = asset
  return { network, token: { address: asset.address as Address, symbol, decimals }, asset }
}

/** Base units that an account holds of a token now. */
export async function heldBy(onChain: OnChain, { network, token }: Position, user: Address) {
  const { block, values } = await onChain.reader.read(
    network.name,
    { held: view(erc20Abi, token.address, 'balanceOf', [user]) },
    { age: 'fresh' },
  )
  return { block: block.number, held: values.held ?? 0n }
}

/** What an account lets somebody else take of a token now. */
export async function allowanceOf(
  onChain: OnChain,
  { network, token }: Position,
  user: Address,
  spender: Address,
) {
  const { block, values } = await onChain.reader.read(
    network.name,
    { allowed: view(erc20Abi, token.address, 'allowance', [user, spender]) },
    { age: 'fresh' },
  )
  return { block: block.number, allowed: values.allowed ?? 0n }
}

/** Reads in which some answers are as they will be. By `to` and data of the call. */
function asIf(read: ReadViews, known: ReadonlyMap<string, unknown>): ReadViews {
  return async views => {
    const reading = await read(views)
    const values: Record<string, unknown> = { ...reading.values }
    for (const [name, { to, data }] of Object.entries(views)) {
      const key = `${to.toLowerCase()}${data}`
      if (known.has(key)) values[name] = known.get(key)
    }
    return { block: reading.block, values: values as typeof reading.values }
  }
}

/**
 * How a vault is entered for a user whom the assets have not reached yet: as its family of transactions does it, with a wallet that
 * holds them. Its limits and pauses count, the run on the newest state is left out.
 */
export function entryOf(onChain: OnChain, { network, vault }: Position, user: Address): Entry | undefined {
  if (!vault) return undefined
  const { ref, bound } = vault
  const refuse = () =>
    new RefusedError(
      'The vault credits who calls it, and not whom a deposit is for: no intent can enter it. Move its asset, and deposit with /v2/transactions.',
    )
  return {
    vault: ref.address,
    async calls(assets) {
      const balance = view(erc20Abi, ref.asset.address, 'balanceOf', [user])
      const read = asIf(
        pinnedReads(onChain.reader, network.name, 'fresh'),
        new Map([[`${balance.to.toLowerCase()}${balance.data}`, assets]]),
      )
      const standing = await bound.look(user, read, { valued: false })
      const { actions } = standing.build({ action: 'deposit', amount: { kind: 'assets', value: assets } })
      const [approve, deposit, ...more] = actions
      if (!approve || !deposit || more.length > 0) throw refuse()
      if (!approvalForm(approve.data) || !entryForm(deposit.data, user) || deposit.value) throw refuse()
      return [
        { to: approve.to.toLowerCase() as Address, data: approve.data },
        { to: deposit.to.toLowerCase() as Address, data: deposit.data },
      ]
    },
  }
}

/** How the user's shares are redeemed; tried out from the user's own wallet, where they are now. */
export async function exitOf(
  onChain: OnChain,
  { vault, token }: Position,
  user: Address,
  shares: bigint,
): Promise<Exit | undefined> {
  if (!vault) return undefined
  const { ref } = vault
  const bundle = await onChain.preparer.bundle({
    vault: ref,
    user,
    action: 'redeem',
    assetAddress: token.address,
    amount: shares,
    simulate: true,
  })
  const [only, ...more] = bundle.actions
  const assets =
    only?.simulation?.tokensReceived?.[ref.asset.symbol] ??
    (await worthOf(onChain, vault, shares))?.toString()
  const refuse = () => new RefusedError('The vault pays out only to who calls it: no intent can leave it.')
  if (!only || more.length > 0 || assets === undefined || !exitData(only.tx.data, user, user)) throw refuse()
  return {
    vault: ref.address,
    asset: ref.asset,
    assets: BigInt(assets),
    call: account => {
      const data = exitData(only.tx.data, user, account)
      if (!data) throw refuse()
      return { to: only.tx.to.toLowerCase() as Address, data }
    },
  }
}

type VaultPosition = NonNullable<Position['vault']>

/** Base units of the asset that shares are worth now; undefined where the vault does not say. */
async function worthOf(onChain: OnChain, { ref, bound }: VaultPosition, shares: bigint) {
  const { values } = await onChain.reader.read(
    ref.network,
    { worth: view(erc4626Abi, ref.address, bound.worthBy ?? 'convertToAssets', [shares]) },
    { age: 'fresh' },
  )
  // What does not say is a token that shows its holders the asset, one for one.
  return values.worth ?? (isOneForOne(ref, bound) ? shares : undefined)
}

/** Shares that so much of the asset is now; undefined where the vault does not say. */
export async function sharesOf(onChain: OnChain, { ref, bound }: VaultPosition, assets: bigint) {
  const whole = 10n ** BigInt(ref.share.decimals)
  const { values } = await onChain.reader.read(
    ref.network,
    {
      shares: view(erc4626Abi, ref.address, 'convertToShares', [assets]),
      worth: view(erc4626Abi, ref.address, 'previewRedeem', [whole]),
    },
    { age: 'fresh' },
  )
  if (bound.worthBy) return values.worth ? (assets * whole) / values.worth : undefined
  return values.shares ?? (isOneForOne(ref, bound) ? assets : undefined)
}

const isOneForOne = (ref: VaultRef, { worthBy }: VaultTransactions) =>
  worthBy === undefined && ref.share.decimals === ref.asset.decimals
