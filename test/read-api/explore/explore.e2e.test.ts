import { type Browser, chromium, type Page } from 'playwright-core'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LOOKED_AT } from '../../../read-api/feed/session.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import { type Served, serve } from '../served.ts'
import * as w from '../world.ts'
import { FLAGS, findChromium } from './chromium.ts'

/** The page as a browser shows it, held against what the API answers. */

const executablePath = findChromium()
const MOST_BYTES = 200_000
const TRAP_VAULT = `0x${'5d'.repeat(20)}`
const TRAP = '<img src=x onerror="document.title=1"><b>Bold</b>'
const trap = [
  {
    type: 'VaultDiscovered',
    contract: TRAP_VAULT,
    data: {
      vault: TRAP_VAULT,
      protocol: 'erc-4626',
      name: TRAP,
      symbol: '"><script>',
      decimals: 18,
      asset: w.USD_ASSET,
      assetName: 'Asset',
      assetSymbol: 'USDX',
      assetDecimals: 6,
    },
  },
  {
    type: 'StateSampled',
    contract: TRAP_VAULT,
    data: {
      vault: TRAP_VAULT,
      reason: 'discovery',
      totalAssets: 5_000_000n,
      totalSupply: 5n * 10n ** 18n,
      sharePrice: 1_000_000n,
      decimals: 18,
      assetDecimals: 6,
    },
  },
] as const
const resumed = { type: 'SamplingResumed', contract: TRAP_VAULT, data: { vault: TRAP_VAULT } } as const

const world = w.makeWorld()
let api: ApiHarness
let served: Served
let baseUrl: string

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, world)
  // So busy a network that what a vault's users did lies further back than one look reaches.
  const busy = Array.from({ length: LOOKED_AT }, () => resumed)
  await w.laterBlocks(api, world)([...trap, ...busy])
  served = await serve(api)
  baseUrl = served.baseUrl
}, 120_000)
afterAll(async () => {
  served?.stop()
  await api?.stop()
})

describe('what is served', () => {
  it('nothing but its own files may run there, and no key is asked for', async () => {
    for (const file of ['', 'main.js', 'explore.css', 'charts/uPlot.iife.min.js', 'reach.json']) {
      const answer = await request(api.app).get(`/explore/${file}`)
      expect(answer.status, file).toBe(200)
      const policy = answer.headers['content-security-policy']
      expect(policy, file).toContain("default-src 'none'")
      expect(policy, file).not.toContain('unsafe')
    }
    const moved = await request(api.app).get('/explore')
    expect([moved.status, moved.headers['location']]).toEqual([302, './explore/'])
    expect((await request(api.app).post('/explore/')).status).toBe(405)
    expect((await request(api.app).get('/explore/..%2frouter.ts')).status).toBe(404)
  })

  it('says how far answers reach as the answers themselves do', async () => {
    const { headers } = await request(api.app).get('/v2/vaults').set('x-api-key', api.apiKey)
    const { body } = await request(api.app).get('/explore/reach.json')
    const said = body.map(({ network, block }: { network: string; block: number }) => `${network}=${block}`)
    expect(said.join(', ')).toBe(headers['x-as-of-block'])
    expect(body[0].blockTime).toBe(w.lastBlock(world).timestamp + w.HOUR)
  })
})

describe.skipIf(!executablePath)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: FLAGS })
  })
  afterAll(() => browser?.close())

  /** A page of that width, opened with the key; what it complained about is gathered. */
  async function open(width: number, hash = '/vaults') {
    const context = await browser.newContext({ viewport: { width, height: 800 } })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', message => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
    page.on('pageerror', error => complaints.push(error.message))
    const seen = { bytes: 0, hosts: new Set<string>() }
    const asked: string[] = []
    page.on('response', async response => {
      seen.hosts.add(new URL(response.url()).origin)
      seen.bytes += (await response.body().catch(() => Buffer.alloc(0))).length
    })
    page.on('request', one => asked.push(new URL(one.url()).pathname))
    await page.goto(`${baseUrl}/explore/#key=${api.apiKey}${hash}`)
    await settled(page)
    return { page, complaints, seen, asked, close: () => context.close() }
  }

  /** Every part has come. */
  async function settled(page: Page) {
    await page.locator('main h1').first().waitFor()
    await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0)
  }

  const get = async (path: string) => (await request(api.app).get(path).set('x-api-key', api.apiKey)).body

  it('every page fits a phone and a desk, and nothing is complained about', async () => {
    for (const width of [360, 1280]) {
      const { page, complaints, seen, close } = await open(width)
      expect(seen.bytes).toBeLessThan(MOST_BYTES)
      for (const hash of [
        '/vaults',
        `/vault/mainnet/${w.USD_VAULT}?range=everything`,
        `/wallet/${w.ALICE}`,
        '/wallet',
        '/markets',
        '/networks',
      ]) {
        await page.goto(`${baseUrl}/explore/#${hash}`)
        await settled(page)
        if (hash.startsWith('/vault/')) {
          await page.getByRole('region', { name: 'Events', exact: true }).scrollIntoViewIfNeeded()
          await page.getByRole('button', { name: 'look further back' }).waitFor()
        }
        const refused = await page.locator('.refused').allTextContents()
        // Balances are read from a node, and this API has none.
        expect(
          refused.filter(text => !text.includes('cannot be reached')),
          hash,
        ).toEqual([])
        const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect(tooWide, `${hash} at ${width}`).toBeLessThanOrEqual(0)
      }
      expect(complaints.filter(text => !text.includes('503'))).toEqual([])
      expect([...seen.hosts]).toEqual([new URL(baseUrl).origin])
      await close()
    }
  })

  it('the key leaves the address at once; without one it is asked for', async () => {
    const { page, close } = await open(1280)
    expect(page.url()).not.toContain(api.apiKey)
    await page.evaluate('sessionStorage.clear()')
    await page.reload()
    await page.getByLabel('API key').fill('wrong')
    await page.getByRole('button', { name: 'Look' }).click()
    await expect.poll(() => page.locator('.refused').allTextContents()).not.toEqual([])
    await page.getByLabel('API key').fill(api.apiKey)
    await page.getByRole('button', { name: 'Look' }).click()
    await expect.poll(() => page.locator('main tbody tr').count()).toBe(5)
    await close()
  })

  it('lists, filters and sorts as the API does', async () => {
    const { page, close } = await open(1280)
    const shown = () => page.locator('main tbody tr td:first-child a').allTextContents()
    const names = async (query: string) =>
      (await get(`/v2/detailed-vaults?perPage=50&${query}`)).data.map(({ name }: { name: string }) => name)
    expect(await shown()).toEqual(await names('sortBy=tvl&sortOrder=desc'))
    await page.getByRole('link', { name: 'Sort by 7 days' }).click()
    await settled(page)
    expect(await shown()).toEqual(await names('sortBy=apy7day&sortOrder=desc'))
    await page.getByText('Filters', { exact: true }).click()
    await page.getByLabel('Asset').fill('WETH')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await settled(page)
    expect(await shown()).toEqual(await names('allowedAssets=WETH'))
    await close()
  })

  it('a stranger’s name is text, in the list, in the search and on its page', async () => {
    const { page, close } = await open(360)
    expect(await page.locator('main td').getByText(TRAP, { exact: true }).count()).toBe(1)
    await page.getByRole('searchbox').fill('<img')
    await page.locator('#search li a').first().click()
    await settled(page)
    expect(await page.locator('h1 .named').textContent()).toBe(TRAP)
    expect(await page.locator('main img, main b, main script').count()).toBe(0)
    expect(await page.title()).toBe(`${TRAP} · Vaultlog`)
    await close()
  })

  it('a vault tells who deposited, redeemed and transferred how much, newest first', async () => {
    const { page, asked, close } = await open(1280, `/vault/mainnet/${w.USD_VAULT}`)
    const reads = () => asked.filter(path => path === '/beta/feed').length
    expect(reads()).toBe(0)
    await page.getByRole('region', { name: 'Events', exact: true }).scrollIntoViewIfNeeded()
    const further = page.getByRole('button', { name: 'look further back' })
    await further.waitFor()
    // Where the feed ends, and one answer over as many events as it looks at for a credit.
    expect(reads()).toBe(2)
    await page.getByText(`among the ${LOOKED_AT.toLocaleString('en')} events of the network`).waitFor()
    await page.route('**/beta/feed?**', route => route.abort())
    await further.click()
    await page.locator('main .refused').waitFor()
    expect(await page.getByText('Nothing of it is among these.').count()).toBe(1)
    await page.unroute('**/beta/feed?**')
    await further.click()
    await further.waitFor({ state: 'detached' })
    expect(await page.locator('main .refused').count()).toBe(0)
    const rows = page.getByRole('region', { name: 'Deposits, redemptions and transfers' }).locator('tbody tr')
    const cells = (column: number, attribute: string) =>
      rows
        .locator(`td:nth-child(${column}) [title]`)
        .evaluateAll((found, name) => found.map(cell => cell.getAttribute(name)), attribute)
    const holders = (await get(`/alpha/mainnet/${w.USD_VAULT}/holders?perPage=100`)).data
    const told: { transactionHash: string; timestamp: number }[] = []
    for (const { address } of holders)
      told.push(...(await get(`/v2/portfolio/events/${address}/mainnet/${w.USD_VAULT}`)).data)
    expect(told.length).toBeGreaterThan(2)
    const hashes = await cells(6, 'title')
    for (const { transactionHash } of told) expect(hashes).toContain(transactionHash)
    const times = await rows.locator('td:first-child').allTextContents()
    expect(times).toEqual([...times].sort().reverse())
    const words = await rows.locator('td:nth-child(2)').allTextContents()
    expect(words).toContain('deposit')
    expect(words.filter(word => word === 'deposit' || word === 'redemption').length).toBeGreaterThanOrEqual(
      told.length,
    )
    expect(await page.getByText(/events, all that are stored/).count()).toBe(1)
    await close()
  })

  it('search, results and a vault are reached by keys alone', async () => {
    const { page, close } = await open(1280)
    await page.getByRole('searchbox').focus()
    await page.keyboard.type('twice')
    await expect.poll(() => page.locator('#search li a').count()).toBe(1)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('h1').textContent()).toContain('Twice steady')
    await close()
  })

  it('a wallet at a moment holds what the API says it held then', async () => {
    const { page, close } = await open(1280, `/wallet/${w.BOB}?span=30%20days`)
    const slider = page.getByRole('slider', { name: 'Moment' })
    // Nine places of 30 days in 365 back: before the last deposit.
    for (const key of ['PageDown', 'PageDown', 'PageDown', 'PageDown', 'PageDown', 'ArrowLeft'])
      await slider.press(key)
    await expect.poll(() => page.locator('.slider output').textContent()).not.toContain('2025-02-09')
    await settled(page)
    const chosen = await page.getByLabel('Moment in UTC').inputValue()
    const timestamp = Date.parse(`${chosen}Z`) / 1000
    const { data } = await get(`/alpha/historical-balances/${w.BOB}/${timestamp}`)
    const rows = page.getByRole('region', { name: 'Positions in vaults' }).locator('tbody tr')
    await expect
      .poll(() => rows.locator('td:nth-child(3) span').evaluateAll(cells => cells.map(cell => cell.title)))
      .toEqual(
        data.map(({ lpToken }: { lpToken: { balanceNative: string; decimals: number } }) => exactly(lpToken)),
      )
    expect(data.length).toBeGreaterThan(0)
    await close()
  })
})

/** With thousands grouped, every digit behind the point, none that says nothing. */
function exactly({ balanceNative, decimals }: { balanceNative: string; decimals: number }): string {
  const unit = 10n ** BigInt(decimals)
  const rest = (BigInt(balanceNative) % unit).toString().padStart(decimals, '0').replace(/0+$/, '')
  const whole = (BigInt(balanceNative) / unit).toString().replace(/\B(?=(\d{3})+$)/g, ',')
  return rest ? `${whole}.${rest}` : whole
}
