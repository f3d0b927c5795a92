import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Address, concatHex, encodeAbiParameters, type Hex, keccak256, type LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readOwnerFlows } from '../../../jobs/flows.ts'
import { loadProtocols } from '../../../processors/load-protocols.ts'
import { BundleShape } from '../../../read-api/transactions/schemas.ts'
import { deployFeed, deployVault, type Feed, type Vault } from '../../chain/deploy.ts'
import { differencesFromChain, follower, indexTo } from '../../pipeline.ts'
import { contract } from '../artifacts.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import { startProofServer } from '../rewards/proof-server.ts'
import { openStage, type Stage, startStage } from './stage.ts'

const EventsShape = z.object({
  items: z.number(),
  data: z.array(
    z.object({
      eventType: z.string(),
      assetAmountNative: z.string(),
      lpTokenAmount: z.string(),
      transactionHash: z.string(),
      sharePrice: z.number().optional(),
    }),
  ),
})
const ClaimableShape = z.object({
  claimable: z.record(z.string(), z.array(z.object({ claimId: z.string() }))),
})

describe('what our payloads do, indexed and attributed', () => {
  let stage: Stage
  let api: ApiHarness
  let server: Server
  let proofs: Awaited<ReturnType<typeof startProofServer>>
  let baseUrl: string
  let vault: Vault
  let feed: Feed
  let merkl: Address
  let user: LocalAccount
  let stranger: LocalAccount
  const hashes: Record<string, Hex> = {}

  beforeAll(async () => {
    stage = await startStage()
    proofs = await startProofServer()
    vault = await deployVault(stage.node, { assetDecimals: 6, offset: 12 })
    feed = await deployFeed(stage.node, { description: 'USDX / USD', price: 2 })
    merkl = await stage.deploy(contract('MerklLike'))
    await stage.mint(vault.asset, merkl, 1_000n)
    api = await startApi({
      rpcUrl: stage.node.rpcUrl,
      services: { merkl: proofs.baseUrl },
      rewardContracts: { merkl: { mainnet: merkl } },
    })
    server = createServer(api.app)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    user = await stage.newUser()
    stranger = await stage.newUser()
    for (const who of [user, stranger]) await stage.mint(vault.asset, who.address, 10_000_000n)
    await api.recordFacts(
      [{ subject: `asset:1:${vault.asset.address}`, kind: 'feed', value: { feed: feed.proxy, decimals: 8 } }],
      1_700_000_000,
    )
    // Without a key: a bundle of the same families, which nobody is named in.
    const anonymous = await openStage(stage.node)
    await anonymous.perform(
      {
        network: 'mainnet',
        chainId: 1,
        address: vault.address,
        asset: vault.asset,
        share: { address: vault.address, symbol: vault.symbol, decimals: vault.decimals },
      },
      stranger,
      'deposit',
      { amount: 4_000_000n },
    )
    await index()
  }, 120_000)
  afterAll(async () => {
    server?.closeAllConnections()
    server?.close()
    await api?.stop()
    await proofs?.stop()
    await stage?.node.stop()
  })

  async function index() {
    const { number } = await stage.node.head()
    await indexTo(follower(api.pool, await loadProtocols()), number, {
      rpcUrl: stage.node.rpcUrl,
      contracts: { 'merkl-distributor': [merkl], 'chainlink-feed': [feed.proxy] },
    })
    await api.catchUp()
  }
  async function get<S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>> {
    const response = await fetch(`${baseUrl}${path}`, { headers: { 'x-api-key': api.apiKey } })
    const body: unknown = await response.json()
    expect(response.status, JSON.stringify(body)).toBe(200)
    return schema.parse(body)
  }
  async function send(name: string, bundle: z.output<typeof BundleShape>) {
    for (const { tx } of bundle.actions.slice(bundle.currentActionIndex)) {
      const { landed, hash } = await stage.sign(user, {
        ...tx,
        to: tx.to as Address,
        data: (tx.data ?? '0x') as Hex,
      })
      expect(landed).toBe(true)
      hashes[name] = hash
    }
  }
  const act = async (name: string, action: string, wish: string) =>
    send(
      name,
      await get(
        `/v2/transactions/${action}/${user.address}/mainnet/${vault.address}?assetAddress=${vault.asset.address}&${wish}`,
        BundleShape,
      ),
    )

  /** The distributor owes the user, in the vault's own asset. */
  async function owe(amount: bigint) {
    const leaf = keccak256(
      encodeAbiParameters(
        [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }],
        [user.address, vault.asset.address, amount],
      ),
    )
    const other = keccak256('0x02')
    const [low, high] = BigInt(leaf) < BigInt(other) ? [leaf, other] : [other, leaf]
    await stage.act(merkl, contract('MerklLike').abi, 'update', keccak256(concatHex([low, high])), 0)
    proofs.answers.set(`/v4/users/${user.address.toLowerCase()}/rewards`, [
      {
        chain: { id: 1, name: 'Ethereum' },
        rewards: [
          {
            root: '0x',
            recipient: user.address,
            amount: String(amount),
            claimed: '0',
            pending: '0',
            proofs: [other],
            token: { ...vault.asset, chainId: 1 },
            breakdowns: [],
          },
        ],
      },
    ])
  }

  test('deposit, claim and withdrawal are in the portfolio events; the flows are the key owner’s', async () => {
    await act('deposit', 'deposit', 'amount=3000000')
    await owe(777n)
    const { claimable } = await get(`/v2/transactions/rewards/context/${user.address}`, ClaimableShape)
    const [claim] = claimable['mainnet'] ?? []
    const bundles = await get(
      `/v2/transactions/rewards/claim/${user.address}?claimIds=${claim?.claimId}`,
      z.record(z.string(), BundleShape),
    )
    if (!bundles['mainnet']) throw new Error('nothing to claim')
    await send('claim', bundles['mainnet'])
    await act('withdrawal', 'redeem', 'amount=1000000')
    await index()

    const { items, data } = await get(
      `/v2/portfolio/events/${user.address}/mainnet/${vault.address}`,
      EventsShape,
    )
    expect(items).toBe(3)
    expect(data).toMatchObject([
      {
        eventType: 'deposit',
        assetAmountNative: '3000000',
        lpTokenAmount: '3000000000000000000',
        transactionHash: hashes['deposit'],
      },
      {
        eventType: 'claim',
        assetAmountNative: '777',
        lpTokenAmount: '0',
        transactionHash: hashes['claim'],
      },
      {
        eventType: 'withdrawal',
        assetAmountNative: '1000000',
        lpTokenAmount: '1000000000000000000',
        transactionHash: hashes['withdrawal'],
        sharePrice: 1,
      },
    ])

    const { number } = await stage.node.head()
    const differences = await differencesFromChain(api.pool, stage.node.rpcUrl, number, {
      'merkl-distributor': [merkl],
    })
    expect(differences).toEqual([])
    const flows = await readOwnerFlows(
      { pool: api.pool, clickhouse: api.house },
      { from: '1970-01-01', to: '2149-06-06' },
    )
    const { timestamp } = await stage.node.head()
    expect(flows).toEqual([
      {
        owner: 'test',
        code: (await api.deps.verifyKey(api.apiKey))?.code,
        day: new Date(timestamp * 1000).toISOString().slice(0, 10),
        network: 'mainnet',
        vault: vault.address,
        asset: vault.asset.symbol,
        deposits_raw: '3000000',
        redemptions_raw: '1000000',
        deposits: 3,
        redemptions: 1,
        deposits_usd: 6,
        redemptions_usd: 2,
        deposit_count: 1,
        redemption_count: 1,
      },
    ])
  })

  test('the same from transactions asked for one by one, where the vault is known before its past', async () => {
    // Listed: its logs are fetched before the source is asked for transactions.
    const other = await startApi({ rpcUrl: stage.node.rpcUrl })
    try {
      const { number } = await stage.node.head()
      await indexTo(follower(other.pool, await loadProtocols()), number, {
        rpcUrl: stage.node.rpcUrl,
        startBlock: number,
        listedVaults: [vault.address],
        contracts: { 'chainlink-feed': [] },
      })
      await other.catchUp()
      const rows = await other.house.query<{ kind: string; tx_hash: string }>(
        'test',
        'SELECT kind, tx_hash FROM attributed_flow ORDER BY position',
      )
      expect(rows).toEqual([
        { kind: 'deposit', tx_hash: hashes['deposit'] },
        { kind: 'redeem', tx_hash: hashes['withdrawal'] },
      ])
    } finally {
      await other.stop()
    }
  })
})
