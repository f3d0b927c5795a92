import { type Address, getAddress, type Hex } from 'viem'
import { expect } from 'vitest'
import { erc20 } from '../../chain/abis.ts'
import type { Node } from '../../chain/node.ts'
import { MORPHO_MARKET } from '../lending-world.ts'
import * as w from '../world.ts'

/** Calls a tool and gives its answer. */
export type Agent = (tool: string, given: Record<string, unknown>) => Promise<unknown>

export interface Question {
  asked: string
  /** The chain of tools that answers it, held to what the world or a contract says. */
  answer(ask: Agent, node: Node): Promise<void>
}

const world = w.makeWorld()
const alice = { userAddress: w.ALICE }
const steady = { network: 'mainnet', vaultId: w.USD_VAULT }
const lower = (text: string) => text.toLowerCase()

interface Vault {
  address: string
  name: string
  network: { name: string }
  asset: { address: string; symbol: string; decimals: number }
  apy: { '7day': { total: number } }
  tvl: { usd: string; native: string }
  flags: { content: string }[]
}
interface Page<T> {
  data: T[]
  nextPage: number | null
}

/** Shares of an account after the moves up to a moment, by the list of what happened. */
function sharesOf(account: string, vault: string, until = Number.POSITIVE_INFINITY): bigint {
  let held = 0n
  for (const { at, vault: of, from, to, shares } of world.moves) {
    if (of !== vault || at > until) continue
    if (to === account) held += shares
    if (from === account) held -= shares
  }
  return held
}

const samplesOf = (vault: string) => world.samples.filter(sample => sample.vault === vault)

export const questions: Question[] = [
  {
    asked: 'Which vault takes WETH, and what does it earn?',
    async answer(ask) {
      const { data } = (await ask('find_vaults', { allowedAssets: ['weth'] })) as Page<Vault>
      const [found] = data
      expect(data.map(({ address }) => lower(address))).toEqual([w.ETH_VAULT])
      const one = (await ask('get_vault', {
        network: found?.network.name,
        vaultId: found?.address,
      })) as Vault
      // Seven days of 0.002 a day in a price that a tenth was taken from on the twentieth.
      const prices = samplesOf(w.ETH_VAULT)
      const last = prices.at(-1)
      const before = prices.filter(({ at }) => at <= (last?.at ?? 0) - 7 * w.DAY).at(-1)
      const grown = Number(last?.price) / Number(before?.price)
      expect(one.apy['7day'].total).toBeCloseTo(grown ** (365 / 7) - 1, 2)
    },
  },
  {
    asked: 'Which is the largest vault, and who holds it?',
    async answer(ask) {
      const { data } = (await ask('find_vaults', { sortOrder: 'desc', perPage: 1 })) as Page<Vault>
      const vaultId = lower(data[0]?.address ?? '')
      const page = (await ask('get_vault_holders', { network: 'mainnet', vaultId })) as Page<{
        address: string
        shares?: string
      }>
      const expected = [w.ALICE, w.BOB, w.CAROL]
        .map(account => ({ account, shares: sharesOf(account, vaultId) }))
        .filter(({ shares }) => shares > 0n)
        .sort((a, b) => (a.shares < b.shares ? 1 : -1))
      expect(JSON.stringify(page.data)).toContain(String(expected[0]?.shares))
      expect(page.data).toHaveLength(expected.length)
    },
  },
  {
    asked: 'What do I have, and where?',
    async answer(ask) {
      const { data } = (await ask('get_positions', alice)) as Page<
        Vault & { lpToken: { balanceNative: string } }
      >
      const expected = world.vaults
        .map(({ vault }) => [vault, String(sharesOf(w.ALICE, vault))])
        .filter(([, shares]) => shares !== '0')
      expect(data.map(({ address, lpToken }) => [lower(address), lpToken.balanceNative]).sort()).toEqual(
        expected.sort(),
      )
    },
  },
  {
    asked: 'What did I have on the third of January?',
    async answer(ask) {
      const timestamp = w.START + 2 * w.DAY
      const answer = JSON.stringify(await ask('get_balances_at', { ...alice, timestamp }))
      for (const { vault } of world.vaults) {
        const shares = sharesOf(w.ALICE, vault, timestamp)
        if (shares > 0n) expect(answer).toContain(`"${shares}"`)
      }
      expect(sharesOf(w.ALICE, w.NESTED_VAULT, timestamp)).toBe(100n * 10n ** 18n)
    },
  },
  {
    asked: 'How much did the vault earn me, and when did I put it there?',
    async answer(ask) {
      const events = (await ask('get_vault_position', {
        ...alice,
        ...steady,
        figure: 'events',
      })) as { items: number; data: { eventType: string; timestamp: number; assetAmount?: string }[] }
      const deposit = world.moves.find(({ to, vault }) => to === w.ALICE && vault === w.USD_VAULT)
      expect(events.data[0]?.timestamp).toBe(w.START + (w.blockAt(deposit?.at ?? 0) - 1) * 600)
      expect(JSON.stringify(events.data[0])).toContain(`"${deposit?.assets}"`)
      const returns = await ask('get_vault_position', { ...alice, ...steady, figure: 'totalReturns' })
      // 5,000 whole units from 1 to 1.0001 ** 39.96 each, in units of a millionth.
      const last = samplesOf(w.USD_VAULT).at(-1)
      const earned = 5_000n * (last?.price ?? 0n) - (deposit?.assets ?? 0n)
      const native = /"returnsNative":"(-?\d+)"/.exec(JSON.stringify(returns))?.[1]
      expect(Math.abs(Number(BigInt(native ?? '0') - earned))).toBeLessThanOrEqual(2)
    },
  },
  {
    asked: 'How did the share price go in a week of January?',
    async answer(ask) {
      const prices: number[] = []
      // On the first day nobody was in yet, and there was no price.
      const first = w.START + w.DAY
      const window = { fromTimestamp: first, toTimestamp: first + 6 * w.DAY, granularity: '1day' }
      // Page by page, as an agent does.
      for (let page: number | null = 0; page !== null; ) {
        const part = (await ask('get_vault_history', {
          ...steady,
          ...window,
          figure: 'sharePrice',
          perPage: 3,
          page,
        })) as Page<{ sharePrice: number | string }>
        prices.push(...part.data.map(({ sharePrice }) => Number(sharePrice)))
        page = part.nextPage
      }
      expect(prices).toHaveLength(7)
      const firsts = Array.from(
        { length: 7 },
        (_, day) => samplesOf(w.USD_VAULT).find(({ at }) => at >= first + day * w.DAY)?.price,
      )
      expect(prices).toEqual(firsts.map(price => Number(price) / 1e6))
    },
  },
  {
    asked: 'Did people take their money out?',
    async answer(ask) {
      const { data } = (await ask('get_vault_flows', {
        ...steady,
        fromDate: '2025-01-01',
        toDate: '2025-02-10',
        perPage: 100,
      })) as Page<Record<string, unknown>>
      const redeemed = world.moves.filter(({ vault, kind }) => vault === w.USD_VAULT && kind === 'redeem')
      expect(redeemed).toHaveLength(1)
      const day = data.filter(item => JSON.stringify(item).includes(`"${redeemed[0]?.assets}"`))
      expect(day).toHaveLength(1)
    },
  },
  {
    asked: 'Is it dangerous?',
    async answer(ask) {
      const vault = { network: 'mainnet', vaultId: w.ETH_VAULT }
      const { flags } = (await ask('get_vault', vault)) as Vault
      expect(flags.map(({ content }) => content)).toEqual(['Lost a tenth once.'])
      const risk = (await ask('analyze_vault', { ...vault, select: { maxDrawdown: true } })) as {
        maxDrawdown: { mdd90days: number }
      }
      let peak = 0
      let fall = 0
      for (const { price } of samplesOf(w.ETH_VAULT)) {
        peak = Math.max(peak, Number(price))
        fall = Math.max(fall, 1 - Number(price) / peak)
      }
      expect(Math.abs(risk.maxDrawdown.mdd90days)).toBeCloseTo(fall, 6)
    },
  },
  {
    asked: 'Where could I borrow dollars, at what rate?',
    async answer(ask) {
      const markets = (await ask('get_lending_markets', { allowedBorrowAssets: ['USDX'] })) as Page<{
        network: { name: string }
        marketId: string
        assetsData: { marketAssetId: string }[]
      }>
      const [asset] = markets.data.flatMap(({ network, marketId, assetsData }) =>
        assetsData
          .filter(({ marketAssetId }) => lower(marketAssetId) === `${w.USD_ASSET}-loan`)
          .map(({ marketAssetId }) => ({ network: network.name, marketId, assetId: marketAssetId })),
      )
      expect(asset?.marketId).toBe(MORPHO_MARKET)
      const { data } = (await ask('get_lending_history', { ...asset, granularity: '1day' })) as Page<unknown>
      expect(data.length).toBeGreaterThan(0)
      expect(await ask('get_transaction_options', { kind: 'lending', ...alice, ...asset })).toBeTypeOf(
        'object',
      )
    },
  },
  {
    asked: 'Put a hundred of my idle dollars to work.',
    async answer(ask, node) {
      const idle = (await ask('get_idle_assets', alice)) as Page<{
        address: string
        symbol: string
        balanceNative: string
      }>
      const dollars = idle.data.find(({ symbol }) => symbol === 'USDX')
      const balanceOf = (token: string, of: string) =>
        node.client.readContract({
          address: token as Address,
          abi: erc20,
          functionName: 'balanceOf',
          args: [of as Address],
        })
      expect(dollars?.balanceNative).toBe(String(await balanceOf(w.USD_ASSET, w.ALICE)))
      const options = JSON.stringify(await ask('get_deposit_options', { ...alice, allowedAssets: ['USDX'] }))
      expect(options).toContain(getAddress(w.USD_VAULT))
      const { depositSteps } = (await ask('get_transaction_options', { ...alice, ...steady })) as {
        depositSteps: { name: string }[]
      }
      const bundle = (await ask('prepare_transaction', {
        ...alice,
        ...steady,
        action: depositSteps[0]?.name,
        assetAddress: dollars?.address,
        amount: '100000000',
      })) as {
        currentActionIndex: number
        actions: { tx: { to: Address; data: Hex; value?: string } }[]
      }
      const before = await balanceOf(w.USD_VAULT, w.ALICE)
      // Nothing was sent: the user does that.
      for (const { tx } of bundle.actions.slice(bundle.currentActionIndex)) {
        await node.send({ from: w.ALICE as Address, to: tx.to, data: tx.data, gas: 3_000_000n })
        await node.mine()
      }
      expect(await balanceOf(w.USD_ASSET, w.ALICE)).toBe(BigInt(dollars?.balanceNative ?? 0) - 100_000_000n)
      expect(await balanceOf(w.USD_VAULT, w.ALICE)).toBeGreaterThan(before)
    },
  },
]
