import { functions as erc4626 } from '../../abi/erc4626/Vault.ts'
import { encodeCall } from '../../abi/words.ts'
import type { DomainEvent, EventData } from '../../db/events/vocabulary.ts'
import type { ContractReader } from '../protocol.ts'
import { asAddress, asDecimals, asText, asWord, answered as read } from '../samples/answers.ts'

/** 10^77 is the largest power of ten in a uint256: a vault of more decimals cannot say what one share is worth. */
const MAX_DECIMALS = 77

/**
 * Asks a contract whether it is an ERC-4626 vault, at the reader's block: it has to name an asset that is a token,
 * to say its decimals, its total assets and what one share is worth. `hint`: the event that brought it up.
 */
export async function inspectVault(
  vault: string,
  reader: ContractReader,
  hint?: DomainEvent,
): Promise<DomainEvent[]> {
  const reject = (reason: string): DomainEvent[] => [
    { type: 'VaultRejected', contract: vault, data: { vault, reason } },
  ]
  const ask = (fn: Parameters<typeof encodeCall>[0], ...args: bigint[]) =>
    reader.call(vault, encodeCall(fn, ...args))

  const [assetAnswer, decimalsAnswer, totalAnswer] = await Promise.all([
    ask(erc4626.asset),
    ask(erc4626.decimals),
    ask(erc4626.totalAssets),
  ])
  const asset = read(assetAnswer, asAddress)
  if (asset === undefined) return reject('asset() does not answer an address')
  if (asset === vault) return reject('asset() is the vault itself')
  const decimals = read(decimalsAnswer, asDecimals)
  if (decimals === undefined) return reject('decimals() does not answer a number')
  if (decimals > MAX_DECIMALS) return reject(`decimals() is ${decimals}: one share does not fit a uint256`)
  if (read(totalAnswer, asWord) === undefined) return reject('totalAssets() does not answer')

  const [worth, assetDecimalsAnswer, name, symbol, assetName, assetSymbol, deployment] = await Promise.all([
    ask(erc4626.convertToAssets, 10n ** BigInt(decimals)),
    reader.call(asset, encodeCall(erc4626.decimals)),
    ask(erc4626.name),
    ask(erc4626.symbol),
    reader.call(asset, encodeCall(erc4626.name)),
    reader.call(asset, encodeCall(erc4626.symbol)),
    reader.deployment(vault),
  ])
  if (read(worth, asWord) === undefined) return reject('convertToAssets() of one share does not answer')
  const assetDecimals = read(assetDecimalsAnswer, asDecimals)
  if (assetDecimals === undefined) return reject(`its asset ${asset} does not say its decimals`)

  const data: EventData<'VaultDiscovered'> = {
    vault,
    protocol: hint?.type === 'VaultCreated' ? hint.data.protocol : 'erc4626',
    name: asText(name),
    symbol: asText(symbol),
    decimals,
    asset,
    assetName: asText(assetName),
    assetSymbol: asText(assetSymbol),
    assetDecimals,
    ...(deployment ? { deployedBlock: deployment.block, deployedAt: deployment.timestamp } : {}),
  }
  return [{ type: 'VaultDiscovered', contract: vault, data }]
}
