import type { Address, Hex } from 'viem'
import { networkOfChain } from '../../../db/networks.ts'
import type { ChainReader } from '../../chain/reader.ts'
import { RefusedError } from '../../http/errors.ts'
import { borrowFamilies } from '../../load-protocols.ts'
import type { createDryRunner } from '../dry-run.ts'
import { type Bundle, createFinisher, pinnedReads } from '../finish.ts'
import { tokenOf } from './bounds.ts'
import type {
  AssetFigures,
  BorrowAction,
  BorrowFamily,
  BorrowStanding,
  MarketAssetRef,
  MarketRef,
} from './family.ts'

export interface BorrowBundleRequest {
  market: MarketRef
  asset: MarketAssetRef
  user: Address
  action: BorrowAction
  amount?: bigint | undefined
  all?: boolean | undefined
  simulate?: boolean | undefined
  /** Appended to the payload of every action. */
  suffix?: Hex | undefined
}

/** Payloads for lending markets that land, and what the markets say of themselves now. */
export function createBorrowPreparer(
  reader: ChainReader,
  dryRun: ReturnType<typeof createDryRunner>,
  known: readonly BorrowFamily[] = borrowFamilies,
) {
  const finish = createFinisher(dryRun)
  const networkOf = ({ chainId }: MarketRef) => networkOfChain(chainId)?.name ?? ''

  const familyOf = ({ protocol }: MarketRef): BorrowFamily => {
    const family = known.find(of => of.protocol === protocol)
    if (!family) throw new RefusedError(`Markets of ${protocol} are not read on chain.`)
    return family
  }

  const look = (market: MarketRef, asset: MarketAssetRef, user: Address): Promise<BorrowStanding> =>
    familyOf(market).look(market, asset, user, pinnedReads(reader, networkOf(market), 'fresh'))

  const bundle = async (request: BorrowBundleRequest): Promise<Bundle & { block: bigint }> => {
    const { market, asset, user, action, amount, all, simulate, suffix } = request
    if (amount !== undefined && all) throw new RefusedError('amount and all=true exclude each other.')
    const standing = await look(market, asset, user)
    return finish({
      network: networkOf(market),
      chainId: market.chainId,
      user,
      action,
      block: standing.block.number,
      tokens: [tokenOf(asset)],
      plan: options => standing.build({ action, amount: all ? 'all' : amount, ...options }),
      simulate,
      suffix,
    })
  }

  /** From a block no older than the time between two. */
  const figures = (market: MarketRef, asset: MarketAssetRef): Promise<AssetFigures | undefined> =>
    familyOf(market).figures(market, asset, pinnedReads(reader, networkOf(market), 'cached'))

  return { look, bundle, figures }
}
