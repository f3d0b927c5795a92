/** Texts that the log must not show, as URLs of endpoints hold keys, and what it shows instead. */
const hidden = new Map<string, string>()

/** Shorter paths name a service; a key is longer. */
const SHORTEST_KEY = 10

/** From here on the log names this URL by its host. */
export function hideUrl(text: string): void {
  const url = new URL(text)
  const { host, pathname, search, username, password, href } = url
  url.username = ''
  url.password = ''
  for (const whole of [text, href, url.href]) {
    hidden.set(whole, host)
    hidden.set(whole.replace(/\/$/, ''), host)
  }
  for (const part of [pathname + search, pathname, search, username, password, decoded(password)])
    if (part.length >= SHORTEST_KEY) hidden.set(part, '…')
  // A node that refuses a key may quote it by itself.
  for (const part of [...pathname.split('/'), ...url.searchParams.values()])
    if (part.length >= SHORTEST_KEY && /\d/.test(part)) hidden.set(part, '…')
}

/** From here on the log does not say this word: a server may quote the key that it refuses. */
export function hideSecret(word: string): void {
  if (word.length >= SHORTEST_KEY) hidden.set(word, '…')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Longest first: a part of a URL is left where the whole is not. */
export function withoutUrls(text: string): string {
  let plain = text
  for (const [secret, name] of [...hidden].sort(([a], [b]) => b.length - a.length))
    plain = plain.replaceAll(secret, name)
  return plain
}
