import { expect, test } from 'vitest'
import { hideUrl, withoutUrls } from '../../../db/process/hidden-urls.ts'

const KEY = 'SECRETKEY1234567'

test.each([
  [`https://rpc.example/v3/${KEY}`, `request to https://rpc.example/v3/${KEY} failed`],
  [`https://rpc.example:8545/${KEY}/`, `https://rpc.example:8545/${KEY}`],
  [`https://rpc.example/?apikey=${KEY}`, `{"url":"https://rpc.example/?apikey=${KEY}"}`],
  [`https://user:${KEY}@rpc.example`, `https://user:${KEY}@rpc.example/ and ${KEY}`],
  [`wss://rpc.example/ws/${KEY}?v=1`, `POST /ws/${KEY}?v=1 gave 500`],
])('%s is not in what is said', (url, text) => {
  hideUrl(url)
  const said = withoutUrls(text)
  expect(said).not.toContain(KEY)
  expect(said).toMatch(/rpc\.example|…/)
})

test('a short path names a service and stays', () => {
  hideUrl('https://other.example/rpc')
  expect(withoutUrls('GET /rpc of https://other.example/rpc')).toBe('GET /rpc of other.example')
})

test('hides a key that is quoted by itself, and leaves the names of services', () => {
  hideUrl('https://rpc.example/ethereum-mainnet/Qk3yAlone456789?apikey=paramKey123456')
  hideUrl('https://someone:p%40ss%2Fword123@second.example/')
  expect(withoutUrls('Qk3yAlone456789 is no key of ethereum-mainnet, nor is paramKey123456')).toBe(
    '… is no key of ethereum-mainnet, nor is …',
  )
  expect(withoutUrls('p@ss/word123 and p%40ss%2Fword123')).toBe('… and …')
})
