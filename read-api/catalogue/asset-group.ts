const groups: readonly [group: string, pattern: RegExp][] = [
  ['EURO', /^(s|st|w)?(EUR[A-Z0-9]{0,3}|agEUR|[A-Z]?EURe|EURC|EURS)$/i],
  ['USD', /USD|^S?DAI$|^X?DAI$|^WXDAI$|^SDAI$|^FRAX$|^LUSD$|^GHO$|^BOLD$|^DOLA$|^MIM$/i],
  ['ETH', /ETH(X|\+)?$|^(W|ST|WST|R|CB|E|EZ|RS|WE|OS|SFRX|FRX|M)ETH/i],
  ['BTC', /BTC/i],
]

/** Group of an asset by its symbol, where no curated fact says otherwise: USD, EURO, ETH, BTC or OTHER. */
export function assetGroup(symbol: string): string {
  for (const [group, pattern] of groups) if (pattern.test(symbol)) return group
  return 'OTHER'
}
