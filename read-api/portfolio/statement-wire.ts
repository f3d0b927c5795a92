import { groupBy } from '../../db/group-by.ts'
import { networkOfChain } from '../../db/networks.ts'
import { SOLANA } from '../../db/streams.ts'
import { assetAt } from '../catalogue/assets.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { identityOf } from '../catalogue/wire.ts'
import { checksum, checksumIn } from '../http/amounts.ts'
import type { z } from '../http/zod.ts'
import type { StatedSvm } from '../svm/statement.ts'
import { SOLANA_CAIP, statementAsset, vaultWire } from '../svm/wire.ts'
import type { StatedStake } from './read-stakes.ts'
import type { StatedPosition } from './read-statement.ts'
import { type Account, type Figures, totalOf, usdText } from './statement.ts'
import type { Statement } from './statement-schemas.ts'

type Wire = z.input<typeof Statement>

/** A position of a statement, and what sums are made of. */
export interface Line {
  asset: Wire['data'][number]['asset']
  network: Wire['data'][number]['network']
  account: Account
  wire: Wire['data'][number]
}

export function networkOf(chain: number): Wire['data'][number]['network'] | undefined {
  if (chain === SOLANA.id) return { name: SOLANA.name, networkCaip: SOLANA_CAIP }
  const network = networkOfChain(chain)
  return network && { name: network.name, chainId: network.chainId, networkCaip: network.networkCaip }
}

export function vaultLine({ vault, ...shares }: StatedPosition): Line[] {
  const { vaultId, address, name } = identityOf(vault)
  const asset = assetAt(vault.asset, undefined)
  return lineOf(vault.state.chainId, asset, shares, {
    kind: 'vault',
    vaultId,
    address,
    name,
    protocol: vault.protocol,
  })
}

export function svmLine({ vault, ...shares }: StatedSvm, catalogue: Catalogue): Line[] {
  const { address, name, protocol = { name: vault.protocol } } = vaultWire(vault, catalogue)
  const known = { ...protocol, protocolId: vault.protocol }
  const place = { kind: 'vault' as const, vaultId: address, address, name, protocol: known }
  return lineOf(SOLANA.id, statementAsset(vault, catalogue), shares, place)
}

export function stakeLine({ place, ...units }: StatedStake): Line[] {
  const { kind, chainId, id, address, name, protocol, asset } = place
  const shares = { ...units, openingShares: units.openingUnits, closingShares: units.closingUnits }
  const which = kind === 'amm' || kind === 'fixed-term' ? 'vaultId' : 'marketId'
  const where = { kind, [which]: checksumIn(id), address: checksum(address), name, protocol }
  return lineOf(chainId, assetAt(asset, undefined), shares, where)
}

function lineOf(
  chain: number,
  asset: Line['asset'],
  stated: { accounts: readonly string[]; openingShares: bigint; closingShares: bigint; account: Account },
  place: Pick<Line['wire'], 'kind' | 'vaultId' | 'marketId' | 'address' | 'name' | 'protocol'>,
): Line[] {
  const network = networkOf(chain)
  if (!network) return []
  const { accounts, openingShares, closingShares, account } = stated
  const wire = {
    ...place,
    accounts: accounts.map(checksum),
    network,
    asset,
    shares: { opening: openingShares.toString(), closing: closingShares.toString() },
    native: nativeWire(account.native),
    usd: usdWire(account.usd),
    unknown: account.unknown,
  }
  return [{ asset, network, account, wire }]
}

/** All positions of one asset together. */
export function assetsWire(lines: readonly Line[]): Wire['assets'] {
  const byAsset = groupBy(lines, ({ asset }) => asset.assetCaip)
  return [...byAsset.values()].flatMap(of => {
    const [first] = of
    return first
      ? [
          {
            asset: { ...first.asset, network: first.network },
            native: nativeWire(totalOf(of.map(({ account }) => account.native))),
            usd: usdWire(totalOf(of.map(({ account }) => account.usd))),
          },
        ]
      : []
  })
}

const figuresWire = (of: Figures, write: (amount: bigint | undefined) => string) => ({
  opening: write(of.opening),
  deposits: write(of.deposits),
  withdrawals: write(of.withdrawals),
  transfersIn: write(of.transfersIn),
  transfersOut: write(of.transfersOut),
  gain: write(of.gain),
  yield: write(of.yield),
  priceEffect: write(of.priceEffect),
  closing: write(of.closing),
  realised: write(of.realised),
  unrealisedOpening: write(of.unrealisedOpening),
  unrealisedClosing: write(of.unrealisedClosing),
})

const nativeWire = (of: Figures) => figuresWire(of, amount => amount?.toString() ?? '')
export const usdWire = (of: Figures) => figuresWire(of, usdText)
