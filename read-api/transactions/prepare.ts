import { type Address, type Hex, zeroAddress } from 'viem'
import { NATIVE_ADDRESS } from '../chain/native-coins.ts'
import type { ChainReader } from '../chain/reader.ts'
import { RefusedError } from '../http/errors.ts'
import { createDryRunner } from './dry-run.ts'
import type { ActionName, Amount, Standing, Token, TransactionFamily, VaultRef } from './family.ts'
import { createFamilyFinder } from './family-finder.ts'
import { type Bundle, createFinisher, pinnedReads } from './finish.ts'

/** Addresses that stand for the chain's own coin. */
const nativeAddresses = new Set<string>([zeroAddress, NATIVE_ADDRESS])

export interface BundleRequest {
  vault: VaultRef
  user: Address
  action: ActionName
  /** Lower case: the vault's asset, its share token, or the native coin. Says what `amount` is an amount of. */
  assetAddress: Address
  amount?: bigint
  all?: boolean
  simulate?: boolean
  /** Appended to the payload of every action. */
  suffix?: Hex
}

/**
 * Makes payloads that land. Every bundle is run on the newest state before it is handed out; where it would revert,
 * or would take something and give nothing, the answer is a RefusedError with the reason.
 */
export function createPreparer(reader: ChainReader, known?: readonly TransactionFamily[]) {
  const findFamily = createFamilyFinder(reader, known)
  const dryRun = createDryRunner(reader.rpc)
  const finish = createFinisher(dryRun)

  const bind = async (vault: VaultRef) => {
    const bound = await findFamily(vault)
    if (!bound) throw new RefusedError('No transactions can be prepared for this vault.')
    return bound
  }

  const look = async (vault: VaultRef, user: Address, valued: boolean): Promise<Standing> =>
    (await bind(vault)).look(user, pinnedReads(reader, vault.network, 'fresh'), { valued })

  const bundle = async (request: BundleRequest): Promise<Bundle & { block: bigint }> => {
    const { vault, user, action } = request
    const { share = vault.share, worthBy } = await bind(vault)
    const { amount, native } = amountOf(request, share)
    const standing = await look(vault, user, false)
    return finish({
      ...request,
      network: vault.network,
      chainId: vault.chainId,
      block: standing.block.number,
      tokens: vault.asset.address === share.address ? [vault.asset] : [vault.asset, share],
      plan: options => standing.build({ action, amount, native, ...options }),
      user,
      worth: { vault: vault.address, asset: vault.asset, share, by: worthBy },
    })
  }

  return { look, bundle, bind, dryRun }
}

function amountOf(request: BundleRequest, share: Token): { amount: Amount | undefined; native: boolean } {
  const { vault, assetAddress, amount, all } = request
  if (amount !== undefined && all) throw new RefusedError('amount and all=true exclude each other.')
  const isNative = nativeAddresses.has(assetAddress)
  if (isNative && vault.asset.address !== vault.wrappedNative) {
    throw new RefusedError(
      `The vault does not take the chain's own coin, its asset is ${vault.asset.symbol}.`,
    )
  }
  // A vault whose share is a contract of its own may stand for it: that is the address a reader of the catalogue knows.
  const isShare =
    (assetAddress === share.address || assetAddress === vault.address) && assetAddress !== vault.asset.address
  if (!isNative && !isShare && assetAddress !== vault.asset.address) {
    throw new RefusedError(
      `assetAddress must be the vault's asset ${vault.asset.address} (${vault.asset.symbol}) or its share token ${share.address}.`,
    )
  }
  if (all) return { amount: { kind: 'all' }, native: isNative }
  if (amount === undefined) return { amount: undefined, native: isNative }
  return { amount: { kind: isShare ? 'shares' : 'assets', value: amount }, native: isNative }
}
