import { findVault } from '../catalogue/find-vault.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { NotFoundError } from '../http/errors.ts'
import { priceSourceOf } from '../on-chain.ts'
import { type NrtFigures, nrtFigures, nrtViews } from './nrt.ts'

/** The near-real-time figures of the vault that a path names, all of one block, which x-as-of-block names. */
export async function readNrt(
  params: Parameters<typeof findVault>[0],
  context: EndpointContext,
): Promise<NrtFigures> {
  const { vault } = findVault(params, context)
  const { onChain } = context.deps
  const bound = await onChain.preparer.bind(onChain.refOf(vault))
  const inputs = {
    vault: { assetDecimals: vault.asset.decimals },
    figures: bound.figures,
    price: priceSourceOf(context.catalogue, vault.asset),
    knownPrice: vault.asset.price,
  }
  const { block, values } = await onChain.reader.read(vault.network.name, nrtViews(inputs))
  context.readAt(vault.network.chainId, block.number)
  return nrtFigures(inputs, values, block.timestamp)
}

/** A figure that the endpoint has to give. Throws NotFoundError where the contract does not answer it. */
export function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new NotFoundError(`The ${what} of this vault cannot be read on chain.`)
  return value
}
