import { functions as erc4626 } from '../../abi/erc4626/Vault.ts'
import { functions as erc7540 } from '../../abi/erc7540/AsyncVault.ts'
import { functions as stakedUsde } from '../../abi/staking/StakedUSDeV2.ts'
import { encodeCall } from '../../abi/words.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { ContractReader } from '../protocol.ts'
import { asAddress, asDecimals, asWord, answered as read } from '../samples/answers.ts'
import { discovered, rejected } from './verdict.ts'

/** 10^77 is the largest power of ten in a uint256: a vault of more decimals cannot say what one share is worth. */
const MAX_DECIMALS = 77

/** Interface ids of ERC-7540, as the argument of supportsInterface. */
const ASYNC_DEPOSITS = '0xce3bbe50'.padEnd(66, '0')
const ASYNC_REDEMPTIONS = '0x620ee8e4'.padEnd(66, '0')

/**
 * Asks a contract whether it is an ERC-4626 vault, at the reader's block: it has to name an asset that is a token,
 * to say its decimals, its total assets and what one share is worth. `hint`: the event that brought it up.
 */
export async function inspectVault(
  vault: string,
  reader: ContractReader,
  hint?: DomainEvent,
): Promise<DomainEvent[]> {
  const reject = (reason: string) => rejected(vault, reason)
  const ask = (fn: Parameters<typeof encodeCall>[0], ...args: (bigint | string)[]) =>
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

  const supports = async (id: string) => read(await ask(erc7540.supportsInterface, id), asWord) === 1n
  const [
    worth,
    assetDecimalsAnswer,
    name,
    symbol,
    assetName,
    assetSymbol,
    deposits,
    redemptions,
    cooldown,
    deployment,
  ] = await Promise.all([
    ask(erc4626.convertToAssets, 10n ** BigInt(decimals)),
    reader.call(asset, encodeCall(erc4626.decimals)),
    ask(erc4626.name),
    ask(erc4626.symbol),
    reader.call(asset, encodeCall(erc4626.name)),
    reader.call(asset, encodeCall(erc4626.symbol)),
    supports(ASYNC_DEPOSITS),
    supports(ASYNC_REDEMPTIONS),
    ask(stakedUsde.cooldownDuration),
    reader.deployment(vault),
  ])
  if (read(worth, asWord) === undefined) return reject('convertToAssets() of one share does not answer')
  const assetDecimals = read(assetDecimalsAnswer, asDecimals)
  if (assetDecimals === undefined) return reject(`its asset ${asset} does not say its decimals`)

  return discovered(
    vault,
    {
      protocol: hint?.type === 'VaultCreated' ? hint.data.protocol : 'erc-4626',
      decimals,
      asset,
      assetDecimals,
      ...(deposits ? { asyncDeposits: true } : {}),
      ...(redemptions ? { asyncRedemptions: true } : {}),
      hasCooldown: read(cooldown, asWord) !== undefined,
    },
    { name, symbol, assetName, assetSymbol },
    deployment,
  )
}
