import { BlockList, isIP } from 'node:net'

/** Networks of IPv4 that are not the public internet: RFC 6890 and what came after it, cloud metadata (169.254, and 168.63.129.16 of Azure) among them. */
const PRIVATE_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const

/** Within 2000::/3, the only part that is public: what leads to IPv4 by other ways, and examples. */
const PRIVATE_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const refused = new BlockList()
for (const [network, bits] of PRIVATE_IPV4) refused.addSubnet(network, bits, 'ipv4')
for (const [network, bits] of PRIVATE_IPV6) refused.addSubnet(network, bits, 'ipv6')
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')

/** Whether an address is one of the public internet. IPv4 within IPv6 (::ffff:…, 64:ff9b::…) never is. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !refused.check(address, 'ipv4')
  return version === 6 && global.check(address, 'ipv6') && !refused.check(address, 'ipv6')
}

/** A host of a URL, without the brackets that an address of IPv6 has there. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/**
 * Reads the address of a receiver. Where its name leads is looked at when something is sent, as it may lead elsewhere by then.
 * Gives what is wrong with it as a text.
 */
export function readTarget(text: string, { allowsPrivate }: { allowsPrivate: boolean }): URL | string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const schemes = allowsPrivate ? ['https:', 'http:'] : ['https:']
  if (!url || !schemes.includes(url.protocol))
    return `must be a URL that begins with ${schemes.map(scheme => `${scheme}//`).join(' or ')}`
  if (url.username || url.password)
    return 'must not have a user or a password in it: messages are signed, which says more'
  const host = hostOf(url)
  const isHere = /(^|\.)localhost\.?$/.test(host) || (isIP(host) > 0 && !isPublicAddress(host))
  if (isHere && !allowsPrivate) return 'must lead to the public internet'
  url.hash = ''
  return url
}
