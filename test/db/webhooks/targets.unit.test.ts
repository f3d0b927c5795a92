import { expect, it } from 'vitest'
import { isPublicAddress, readTarget } from '../../../db/webhooks/targets.ts'

it.each([
  '93.184.215.14',
  '1.1.1.1',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:831::200e',
])('%s is public', address => {
  expect(isPublicAddress(address)).toBe(true)
})

it.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.0.9',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::127.0.0.1',
  '64:ff9b::a00:1',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  '2001:db8::1',
  '2001::1',
  '2002:7f00:1::',
  'localhost',
  '',
])('%s is not', address => {
  expect(isPublicAddress(address)).toBe(false)
})

it.each([
  ['http://example.com/', /https:\/\//],
  ['ftp://example.com/', /https:\/\//],
  ['example.com', /https:\/\//],
  ['https://user:secret@example.com/', /user or a password/],
  ['https://localhost/', /public internet/],
  ['https://LOCALHOST./', /public internet/],
  ['https://api.localhost/', /public internet/],
  ['https://127.1/', /public internet/],
  ['https://2130706433/', /public internet/],
  ['https://0x7f.0.0.1/', /public internet/],
  ['https://0/', /public internet/],
  ['https://169.254.169.254/latest/meta-data', /public internet/],
  ['https://[::1]/', /public internet/],
  ['https://[::ffff:10.0.0.1]/', /public internet/],
])('%s is no target', (url, message) => {
  expect(readTarget(url, { allowsPrivate: false })).toMatch(message)
})

it('takes what is public, and anything where the operator says so', () => {
  expect(String(readTarget('https://example.com:8443/a?b=c#d', { allowsPrivate: false }))).toBe(
    'https://example.com:8443/a?b=c',
  )
  expect(String(readTarget('http://127.0.0.1:9000/', { allowsPrivate: true }))).toBe('http://127.0.0.1:9000/')
})
