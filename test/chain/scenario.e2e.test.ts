import { createHash } from 'node:crypto'
import { decodeEventLog, toEventSelector, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { aaveAbi, erc20, feedAbi, morphoAbi } from './abis.ts'
import { keepBusy, type LiveAct } from './live.ts'
import { type Log, type Node, startNode } from './node.ts'
import { runScenario, type Scenario } from './scenario.ts'
import { balancesOf, vaultView } from './views.ts'

const isPresent = <T>(value: T | undefined): value is T => value !== undefined

function found<T>(value: T | undefined): T {
  expect(value).toBeDefined()
  return value as T
}

describe('the scenario of 130 days', () => {
  let node: Node
  let scenario: Scenario
  let logs: Log[]

  beforeAll(async () => {
    node = await startNode()
    scenario = await runScenario(node)
    logs = await node.logs()
  })
  afterAll(() => node?.stop())

  const checkpoint = (name: string) => found(scenario.checkpoints.find(point => point.name === name)).block
  const vault = (symbol: string) => found(scenario.vaults.find(each => each.symbol === symbol))
  const withTopic = (address: string, signature: string) =>
    logs.filter(log => log.address === address && log.topics[0] === toEventSelector(signature))

  test('lasts at least 120 days in fewer than 6,000 blocks', async () => {
    const head = await node.head()
    expect(head.timestamp - scenario.start).toBeGreaterThanOrEqual(120 * 86_400)
    expect(head.number).toBeLessThan(6000)
    expect(scenario.end).toBe(head.timestamp)
    expect(scenario.users.length).toBeGreaterThanOrEqual(40)
  })

  test('has a block in every hour of the last 30 days', async () => {
    const hours = new Set<number>()
    const { number } = await node.head()
    for (let block = checkpoint('before the crash'); block <= number; block++) {
      const { timestamp } = z
        .object({ timestamp: z.string() })
        .parse(await node.rpc('eth_getBlockByNumber', [toHex(block), false]))
      hours.add(Math.floor(Number(timestamp) / 3600))
    }
    const last = Math.floor(scenario.end / 3600)
    const missing = Array.from({ length: 30 * 24 }, (_, i) => last - i).filter(hour => !hours.has(hour))
    expect(missing).toEqual([])
  })

  test('has vaults of the decimals that matter', () => {
    const decimals = scenario.vaults.map(
      ({ kind, asset, decimals }) => `${kind} ${asset.decimals} ${decimals}`,
    )
    expect(decimals).toEqual([
      'openzeppelin 6 6',
      'openzeppelin 6 18',
      'openzeppelin 18 18',
      'openzeppelin 8 8',
      'self-ledger 18 18',
      'nested 18 18',
      'openzeppelin 6 6',
    ])
    expect(vault('dvdvUSDT').asset.address).toBe(vault('dvUSDT').address)
  })

  test('the balances of the known holders are the total supply, at every checkpoint', async () => {
    for (const each of scenario.vaults) {
      for (const { block } of scenario.checkpoints.filter(point => point.block >= each.deployedBlock)) {
        const { totalSupply } = await vaultView(node, each, block)
        const balances = await balancesOf(node, each.address, scenario.holders, block)
        const sum = [...balances.values()].reduce((total, balance) => total + balance, 0n)
        expect(sum, `${each.symbol} at ${block}`).toBe(totalSupply)
      }
    }
  })

  test('a replay of share transfers gives the contracts’ balances, except where mints have none', async () => {
    for (const each of scenario.vaults) {
      const ledger = new Map<string, bigint>()
      const move = (holder: string, amount: bigint) => ledger.set(holder, (ledger.get(holder) ?? 0n) + amount)
      for (const log of withTopic(each.address, 'Transfer(address,address,uint256)')) {
        const { args } = decodeEventLog({ abi: erc20, eventName: 'Transfer', ...log })
        move(args.from.toLowerCase(), -args.value)
        move(args.to.toLowerCase(), args.value)
      }
      const balances = await balancesOf(node, each.address, scenario.holders)
      const differing = scenario.holders.filter(holder => (ledger.get(holder) ?? 0n) !== balances.get(holder))
      if (each.kind === 'self-ledger') expect(differing.length).toBeGreaterThan(20)
      else expect(differing, each.symbol).toEqual([])
    }
  })

  test('one vault loses 12 % and gets a part of it back', async () => {
    const weth = vault('dvWETH')
    const before = await vaultView(node, weth, checkpoint('before the loss'))
    const after = await vaultView(node, weth, checkpoint('after the loss'))
    const end = await vaultView(node, weth)
    const ratio = (a: bigint, b: bigint) => Number((a * 1_000_000n) / b) / 1_000_000
    expect(ratio(after.sharePrice, before.sharePrice)).toBeGreaterThan(0.875)
    expect(ratio(after.sharePrice, before.sharePrice)).toBeLessThan(0.89)
    expect(ratio(end.sharePrice, after.sharePrice)).toBeGreaterThan(1.03)
    expect(end.sharePrice).toBeLessThan(before.sharePrice)
  })

  test('the other vaults only gain, the nested one too', async () => {
    for (const symbol of ['dvUSDC', 'dvUSDT', 'dvWBTC', 'dsDAI', 'dvdvUSDT']) {
      const first = await vaultView(node, vault(symbol), checkpoint('a quarter'))
      const last = await vaultView(node, vault(symbol))
      expect(last.sharePrice, symbol).toBeGreaterThan(first.sharePrice)
    }
  })

  test('the brief vault ends without shares, and those who left hold nothing', async () => {
    expect((await vaultView(node, vault('bvUSDC'))).totalSupply).toBe(0n)
    expect(scenario.tally['full exit']).toBe(6)
    const left = [3, 11, 19, 27, 35, 43].map(i => scenario.users[i]).filter(isPresent)
    for (const each of scenario.vaults) {
      const balances = await balancesOf(node, each.address, left)
      expect([...balances.values()], each.symbol).toEqual(left.map(() => 0n))
    }
  })

  test('loans are liquidated on Morpho, one with bad debt', () => {
    const signature = 'Liquidate(bytes32,address,address,uint256,uint256,uint256,uint256,uint256)'
    const args = withTopic(scenario.morpho.address, signature).map(
      log => decodeEventLog({ abi: morphoAbi, eventName: 'Liquidate', ...log }).args,
    )
    expect(args.length).toBe(3)
    expect(args.every(({ repaidAssets, seizedAssets }) => repaidAssets > 0n && seizedAssets > 0n)).toBe(true)
    expect(args.filter(({ badDebtAssets }) => badDebtAssets > 0n).length).toBe(1)
  })

  test('loans are liquidated on Aave', () => {
    const signature = 'LiquidationCall(address,address,address,uint256,uint256,address,bool)'
    const args = withTopic(scenario.aave.pool, signature).map(
      log => decodeEventLog({ abi: aaveAbi, eventName: 'LiquidationCall', ...log }).args,
    )
    expect(args.length).toBe(2)
    expect(
      args.every(
        ({ debtToCover, liquidatedCollateralAmount }) => debtToCover * liquidatedCollateralAmount > 0n,
      ),
    ).toBe(true)
  })

  test.each([
    ['morpho', morphoAbi],
    ['aave', aaveAbi],
  ] as const)('every kind of lending event occurs: %s', (protocol, abi) => {
    const address = protocol === 'morpho' ? scenario.morpho.address : scenario.aave.pool
    const seen = new Set(logs.filter(log => log.address === address).map(log => log.topics[0]))
    const missing = abi.filter(item => item.type === 'event' && !seen.has(toEventSelector(item)))
    expect(missing).toEqual([])
  })

  test('an Aave withdrawal below the interest accrued makes the aToken mint', () => {
    const mint = toEventSelector('Mint(address,address,uint256,uint256,uint256)')
    const minting = new Set(logs.filter(log => log.topics[0] === mint).map(log => log.transactionHash))
    const withdrawals = withTopic(scenario.aave.pool, 'Withdraw(address,address,address,uint256)')
    expect(withdrawals.filter(log => minting.has(log.transactionHash)).length).toBeGreaterThan(2)
    expect(withdrawals.filter(log => !minting.has(log.transactionHash)).length).toBeGreaterThan(20)
  })

  test('feeds report at least daily and answer through their proxies', async () => {
    for (const feed of scenario.feeds) {
      const reports = withTopic(feed.aggregator, 'AnswerUpdated(int256,uint256,uint256)').map(
        log => decodeEventLog({ abi: feedAbi, eventName: 'AnswerUpdated', ...log }).args,
      )
      expect(reports.length).toBeGreaterThanOrEqual(130)
      const read = { address: feed.proxy, abi: feedAbi } as const
      const [, answer] = await node.client.readContract({ ...read, functionName: 'latestRoundData' })
      const aggregator = await node.client.readContract({ ...read, functionName: 'aggregator' })
      expect(answer).toBe(reports.at(-1)?.current)
      expect(aggregator.toLowerCase()).toBe(feed.aggregator)
    }
  })

  test('impostors emit logs of a vault’s shape, and logs that fit nothing', () => {
    const shapes = (address: string) =>
      logs
        .filter(log => log.address === address)
        .map(log => `${log.topics.length} ${log.data.length / 2 - 1}`)
    const thrice = (list: string[]) => [...list, ...list, ...list]
    expect(shapes(scenario.deployments.notAVault)).toEqual(thrice(['3 64', '4 64']))
    expect(shapes(scenario.deployments.anyLog)).toEqual(thrice(['1 128', '3 32', '3 64', '0 16']))
  })

  test('several deposits of one user share a transaction', () => {
    const perTransaction = new Map<string, number>()
    for (const { address } of scenario.vaults) {
      for (const log of withTopic(address, 'Deposit(address,address,uint256,uint256)')) {
        const key = `${log.transactionHash} ${log.topics[2]}`
        perTransaction.set(key, (perTransaction.get(key) ?? 0) + 1)
      }
    }
    expect([...perTransaction.values()].filter(n => n > 1).length).toBeGreaterThan(50)
  })

  // Last, for it adds blocks.
  test('life goes on after the scenario, a block an act', async () => {
    const { number } = await node.head()
    const seen: LiveAct[] = []
    const failures: unknown[] = []
    const end = keepBusy(node, scenario, {
      seconds: 0.02,
      onAct: act => seen.push(act),
      onError: error => failures.push(error),
    })
    await expect.poll(() => seen.length).toBeGreaterThanOrEqual(10)
    await end()
    expect(failures).toEqual([])
    expect(seen.map(({ block }) => block)).toEqual(seen.map((_, i) => number + 1 + i))
  })
})

test('the same seed plays the same: transactions, logs and times', async () => {
  const play = async (seed: number) => {
    const node = await startNode()
    try {
      const { start, end, ...scenario } = await runScenario(node, { days: 20, seed })
      const digest = createHash('sha256')
      for (const { blockHash, ...log } of await node.logs()) digest.update(JSON.stringify(log))
      return {
        start,
        end,
        checkpoints: scenario.checkpoints,
        stats: scenario.stats,
        logs: digest.digest('hex'),
      }
    } finally {
      await node.stop()
    }
  }
  const [first, second, other] = await Promise.all([play(7), play(7), play(8)])
  expect(second).toEqual(first)
  expect(other.logs).not.toBe(first.logs)
})
