import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { seededRandom } from '../chain/random.ts'
import { hex } from './movements.ts'
import type { Positioned } from './streams.ts'

/** What a chain of Solana's kind tells, whether or not anybody could afford it. */
function svmActs(random: () => number): DomainEvent[] {
  const int = (below: number) => Math.floor(random() * below)
  const pick = <T>(values: readonly T[]): T => values[int(values.length)] as T
  const key = (kind: string, n: number) => hex(kind, n, 64)
  const n = int(3)
  const told = { protocol: 'spl-stake-pool', contract: key('vault', n) }
  const at = pick([
    { instructionIndex: 0, path: '0' },
    { instructionIndex: 2, path: '2.1' },
  ])
  const place = { logIndex: int(40) * 256 + int(64), transactionHash: hex('sig', int(1e6), 128) }
  const [account, other] = [key('who', int(5)), key('who', int(5))]
  const [assets, shares] = [BigInt(int(2 ** 40)), BigInt(int(2 ** 40))]
  const mint = { protocol: 'spl-stake-pool', contract: key('mint', n) }
  const farm = int(2)
  const staker = int(5)
  const stake = {
    farm: key('farm', 10 * n + farm),
    stakeAccount: key('stake', 100 * n + 10 * farm + staker),
    owner: key('who', staker),
  }
  const choices: (() => DomainEvent)[] = [
    () => ({
      type: 'SvmVaultIdentified',
      ...told,
      ...place,
      data: {
        program: key('program', 0),
        shareMint: mint.contract,
        asset: key('sol', 0),
        authority: key('pda', n),
        ...pick([{}, { reserve: key('reserve', n) }]),
      },
    }),
    () => ({
      type: 'SvmMintDescribed',
      ...mint,
      data: {
        tokenProgram: key('token', 0),
        decimals: 9,
        ...pick([{}, { mintAuthority: key('pda', n), name: 'A "pool"', symbol: 'P' }]),
      },
    }),
    () => ({
      type: 'SvmDeposited',
      ...told,
      ...place,
      data: { account, sender: other, shares, ...at, ...pick([{}, { assets }]) },
    }),
    () => ({
      type: 'SvmWithdrawn',
      ...told,
      ...place,
      data: { account, receiver: other, shares, ...at, ...pick([{}, { assets }]) },
    }),
    () => ({
      type: 'SvmShareAccountChanged',
      ...mint,
      ...place,
      data: {
        tokenAccount: key('tokens', int(8)),
        owner: account,
        amount: pick([0n, shares]),
        ...pick([{}, { previousOwner: other }]),
      },
    }),
    () => ({
      type: 'SvmShareAccountSampled',
      ...mint,
      data: { tokenAccount: key('tokens', int(8)), owner: account, amount: shares },
    }),
    () => ({
      type: 'SvmHoldersListed',
      ...mint,
      data: { holders: int(1000), ...pick([{}, { farm: stake.farm }]) },
    }),
    () => ({
      type: 'SvmStakeChanged',
      ...mint,
      ...place,
      data: { ...stake, change: pick([shares, -shares]) },
    }),
    () => ({ type: 'SvmStakeSampled', ...mint, data: { ...stake, amount: pick([0n, assets]) } }),
    () => ({
      type: 'SvmFarmNamed',
      ...mint,
      data: { vault: told.contract, farm: stake.farm, farmVault: key('tokens', 10 * n + farm) },
    }),
    () => ({
      type: 'SvmVaultSampled',
      ...told,
      data: {
        reason: 'hourly',
        totalAssets: assets,
        totalSupply: shares,
        ...pick([{}, { priceAssets: 10n ** 12n + assets / 1000n, priceShares: 10n ** 12n, idleAssets: 5n }]),
        decimals: 9,
        assetDecimals: 9,
        ...pick([{}, { epoch: 700, updatedEpoch: 699 }]),
      },
    }),
  ]
  // Samples come often enough for one of the hour before to be there.
  choices.push(...choices.slice(-1))
  const acts = Array.from({ length: 1 + int(4) }, () => pick(choices)())
  const price: DomainEvent = {
    type: 'SvmPriceUpdated',
    ...told,
    ...place,
    data: { priceAssets: 10n ** 12n + shares, priceShares: 10n ** 12n },
  }
  return acts.some(({ type }) => type === 'SvmWithdrawn') ? [price, ...acts] : acts
}

/** So many slots of such a chain, some of them in one second, some days apart. */
export function svmHistory(seed: number, slots: number): Positioned[] {
  const { next } = seededRandom(seed)
  const log: Positioned[] = []
  let [slot, timestamp] = [250_000_000, 1_700_000_000]
  for (let i = 0; i < slots; i++) {
    slot += 1 + Math.floor(next() * 3)
    timestamp += [0, 1, 600, 1800, 3600, 3600, 7200, 9000][Math.floor(next() * 8)] ?? 0
    const block = { number: slot, hash: hex('slot', slot, 64), timestamp }
    for (const event of svmActs(next)) log.push({ position: log.length + 1, block, event })
  }
  return log
}
