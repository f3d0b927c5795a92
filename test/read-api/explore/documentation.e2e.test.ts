import { type Browser, chromium } from 'playwright-core'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApiHarness, startApi } from '../harness.ts'
import { type Served, serve } from '../served.ts'
import * as w from '../world.ts'
import { FLAGS, findChromium } from './chromium.ts'

/** The documentation as a browser shows it, held against the OpenAPI documents and the API's own answers. */

const executablePath = findChromium()
/** The page and its parts; the OpenAPI document that it shows is what it is about. */
const MOST_BYTES = 60_000

let api: ApiHarness
let served: Served

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, w.makeWorld())
  served = await serve(api)
}, 120_000)
afterAll(async () => {
  served?.stop()
  await api?.stop()
})

it('nothing but its own files may run on the documentation', async () => {
  const answer = await request(api.app).get('/documentation')
  const policy = answer.headers['content-security-policy']
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
})

describe.skipIf(!executablePath)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: FLAGS })
  })
  afterAll(() => browser?.close())

  async function open(width: number, colorScheme: 'light' | 'dark', hash = '') {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', message => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
    page.on('pageerror', error => complaints.push(error.message))
    const seen = { bytes: 0, hosts: new Set<string>() }
    page.on('response', async response => {
      seen.hosts.add(new URL(response.url()).origin)
      const body = await response.body().catch(() => Buffer.alloc(0))
      if (!response.url().endsWith('/documentation/json')) seen.bytes += body.length
    })
    await page.goto(`${served.baseUrl}/documentation${hash}`)
    await page.locator('main h1').waitFor()
    return { page, complaints, seen, close: () => context.close() }
  }

  it('lists every operation, and each fits a phone and a desk in either scheme', async () => {
    for (const [width, scheme] of [
      [360, 'light'],
      [1280, 'dark'],
    ] as const) {
      const { page, complaints, seen, close } = await open(width, scheme)
      const { body } = await request(api.app).get('/beta/documentation/json')
      const ids = Object.values<Record<string, { operationId: string }>>(body.paths).flatMap(methods =>
        Object.values(methods).map(({ operationId }) => operationId),
      )
      await page.goto(`${served.baseUrl}/documentation#/beta`)
      await expect.poll(() => page.locator('#operations li a').count()).toBe(ids.length)
      for (const id of ids) {
        await page.goto(`${served.baseUrl}/documentation#/beta/${id}`)
        await page.locator('main .address').waitFor()
        const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect(tooWide, `${id} at ${width}`).toBeLessThanOrEqual(0)
        if (width > 1000) {
          // What to ask with and what comes back are in sight at once.
          const top = await page
            .getByLabel('Fields of the answer')
            .evaluate(part => part.getBoundingClientRect().top)
          expect(top, id).toBeLessThan(600)
        }
      }
      expect(complaints).toEqual([])
      expect(seen.bytes).toBeLessThan(MOST_BYTES)
      expect([...seen.hosts]).toEqual([new URL(served.baseUrl).origin])
      await close()
    }
  })

  it('an operation is found, opened, filled and sent by keys alone, and answers as the API does', async () => {
    const { page, close } = await open(1280, 'light')
    await page.keyboard.press('/')
    await page.getByRole('searchbox').fill('/v2/vaults')
    await expect.poll(() => page.locator('#operations li a').count()).toBeGreaterThan(0)
    await page.locator('#operations li a').first().focus()
    await page.keyboard.press('Enter')
    await page.locator('main .address').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main')
    expect(await page.locator('.command').textContent()).toContain('/v2/vaults')
    await page.getByLabel('API key').fill(api.apiKey)
    await page.getByLabel('API key').press('Enter')
    await expect.poll(() => page.getByRole('status').textContent()).toContain('200')
    const { body } = await request(api.app).get('/v2/vaults').set('x-api-key', api.apiKey)
    const shown = await page.getByLabel('Body of the answer').textContent()
    expect(JSON.parse(shown ?? '')).toEqual(body)
    expect(page.url()).not.toContain(api.apiKey)
    await close()
  })

  it('tells what a body is made of, and sends one by its button alone', async () => {
    const { page, close } = await open(1280, 'light', '#/beta/beta-webhooks-create')
    const names = await page.locator('form .fields > div > ul > li').locator('code').allTextContents()
    const { body } = await request(api.app).get('/beta/documentation/json')
    expect(names).toEqual(expect.arrayContaining(Object.keys(body.components.schemas.NewWebhook.properties)))
    const sent: string[] = []
    page.on('request', one => one.method() === 'POST' && sent.push(one.url()))
    await page.getByLabel('API key').fill('no key')
    await page.getByLabel('API key').press('Enter')
    expect(await page.getByRole('status').textContent()).toBe('')
    await page.getByRole('button', { name: 'Send' }).click()
    await expect.poll(() => page.getByRole('status').textContent()).toContain('401')
    expect(sent).toHaveLength(1)
    await close()
  })

  it('shows the answer to what was sent last, whichever comes last', async () => {
    const { page, close } = await open(1280, 'light', '#/v2/v2-detailed-vaults-list')
    let letGo = () => {}
    const held = new Promise<void>(resolve => {
      letGo = resolve
    })
    let count = 0
    await page.route(/\/v2\/detailed-vaults/, async route => {
      const number = ++count
      if (number === 1) await held
      await route.fulfill({ json: { number } }).catch(() => {})
    })
    const isOver = Promise.race([page.waitForEvent('requestfailed'), page.waitForEvent('requestfinished')])
    const send = page.getByRole('button', { name: 'Send' })
    const shown = async () => JSON.parse((await page.getByLabel('Body of the answer').textContent()) ?? '')
    await send.click()
    await expect.poll(() => count).toBe(1)
    await send.click()
    await expect.poll(shown).toEqual({ number: 2 })
    letGo()
    expect((await isOver).url()).toContain('/v2/detailed-vaults')
    // What the page makes of it, it has made when it has been to the server once more.
    await page.evaluate("fetch('/openapi.json').then(answer => answer.text())")
    expect(await shown()).toEqual({ number: 2 })
    await close()
  })

  it('says how much of a long answer is shown', async () => {
    const { page, close } = await open(1280, 'light', '#/beta/beta-feed-feed')
    await page.locator('input[name=after]').fill('start')
    await page.locator('input[name=perPage]').fill('1000')
    await page.getByLabel('API key').fill(api.apiKey)
    await page.getByRole('button', { name: 'Send' }).click()
    const shown = await page.getByLabel('Body of the answer').textContent()
    const { body } = await request(api.app)
      .get('/beta/feed?after=start&perPage=1000')
      .set('x-api-key', api.apiKey)
    const whole = JSON.stringify(body, null, 2)
    expect(shown).toBe(whole.slice(0, 200_000))
    const said = `The first 200,000 of ${whole.length.toLocaleString('en')} characters.`
    expect(await page.getByText(said).count()).toBe(1)
    await close()
  })

  it('asks again for a document that did not come, and takes any address', async () => {
    const { page, complaints, close } = await open(1280, 'light')
    await page.route('**/alpha/documentation/json', route => route.fulfill({ status: 503, body: 'not now' }))
    await page.goto(`${served.baseUrl}/documentation#/alpha`)
    await page.locator('main .refused').waitFor()
    await page.unroute('**/alpha/documentation/json')
    await page.goto(`${served.baseUrl}/documentation#/beta`)
    await page.locator('h1', { hasText: 'beta' }).waitFor()
    await page.goto(`${served.baseUrl}/documentation#/alpha`)
    await page.locator('h1', { hasText: 'alpha' }).waitFor()
    await page.goto(`${served.baseUrl}/documentation#/beta/%`)
    await page.locator('h1', { hasText: 'beta' }).waitFor()
    expect(complaints.filter(text => !text.includes('503'))).toEqual([])
    await close()
  })

  it('without JavaScript leads to the document itself', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${served.baseUrl}/documentation`)
    await page.locator('main a', { hasText: 'openapi.json' }).click()
    expect(page.url()).toBe(`${served.baseUrl}/openapi.json`)
    await context.close()
  })

  it('older addresses of a tier lead to its operations', async () => {
    const { page, close } = await open(1280, 'light', '?urls.primaryName=alpha')
    await expect.poll(() => page.locator('.tiers [aria-current]').textContent()).toBe('alpha')
    await close()
  })
})
