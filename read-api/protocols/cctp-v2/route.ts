import type { Address } from 'viem'
import { messageTransmitterAbi, tokenMessengerAbi, tokenMinterAbi } from '../../../abi/cctp-v2/calls.ts'
import {
  type Domain,
  domainOfChain,
  MESSAGE_TRANSMITTER,
  TOKEN_MESSENGER,
} from '../../../abi/cctp-v2/domains.ts'
import { asWord, ZERO_WORD } from '../../../abi/cctp-v2/message.ts'
import type { NetworkId } from '../../../db/networks.ts'
import type { ChainReader } from '../../chain/reader.ts'
import { view } from '../../chain/view.ts'
import { RefusedError } from '../../http/errors.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import { pinnedReads } from '../../transactions/finish.ts'

/** From where to where. */
export interface Route {
  source: Domain
  destination: Domain
}

/** @throws RefusedError for networks that the bridge does not reach, and the same one twice */
export function routeOf(source: NetworkId, destination: NetworkId): Route {
  const domainOf = ({ name, chainId }: NetworkId): Domain => {
    const domain = domainOfChain(chainId)
    if (!domain) throw new RefusedError(`The bridge does not reach ${name}.`)
    return domain
  }
  if (source.chainId === destination.chainId)
    throw new RefusedError(`Source and destination are the same network, ${source.name}.`)
  return { source: domainOf(source), destination: domainOf(destination) }
}

/** @throws RefusedError for any token but the USDC of the source */
export function assertUsdc({ source }: Route, asset: string): void {
  if (asset !== source.usdc)
    throw new RefusedError(`Only USDC is bridged: on ${source.network} assetAddress must be ${source.usdc}.`)
}

/** What the source says of a wallet and of the way, all of one block. Undefined: it did not answer. */
export async function readSource(reader: ChainReader, { source, destination }: Route, user: Address) {
  const read = pinnedReads(reader, source.network, 'fresh')
  const usdc = source.usdc
  const first = await read({
    balance: view(erc20Abi, usdc, 'balanceOf', [user]),
    allowance: view(erc20Abi, usdc, 'allowance', [user, TOKEN_MESSENGER]),
    symbol: view(erc20Abi, usdc, 'symbol', []),
    name: view(erc20Abi, usdc, 'name', []),
    decimals: view(erc20Abi, usdc, 'decimals', []),
    minter: view(tokenMessengerAbi, TOKEN_MESSENGER, 'localMinter', []),
    remote: view(tokenMessengerAbi, TOKEN_MESSENGER, 'remoteTokenMessengers', [destination.domain]),
    denied: view(tokenMessengerAbi, TOKEN_MESSENGER, 'isDenylisted', [user]),
    paused: view(messageTransmitterAbi, MESSAGE_TRANSMITTER, 'paused', []),
  })
  const { minter } = first.values
  const second = minter
    ? await read({
        limit: view(tokenMinterAbi, minter, 'burnLimitsPerMessage', [usdc]),
        stopped: view(tokenMinterAbi, minter, 'paused', []),
      })
    : undefined
  return { block: first.block, ...first.values, ...second?.values }
}

export type SourceStanding = Awaited<ReturnType<typeof readSource>>

/** @throws RefusedError with the reason why nothing can be burnt there now */
export function assertOpen({ source, destination }: Route, standing: SourceStanding): void {
  const { remote, denied, paused, stopped, limit } = standing
  if (remote === undefined || limit === undefined)
    throw new RefusedError(`The contracts of the bridge do not answer on ${source.network}.`)
  if (remote !== asWord(TOKEN_MESSENGER))
    throw new RefusedError(
      remote === ZERO_WORD
        ? `The bridge has no way from ${source.network} to ${destination.network} now.`
        : `The bridge's way from ${source.network} to ${destination.network} leads to a contract that is not known here.`,
    )
  if (paused || stopped) throw new RefusedError(`The bridge is paused on ${source.network}.`)
  if (denied) throw new RefusedError('The bridge refuses this wallet: it is on its denylist.')
}
