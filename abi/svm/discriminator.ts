import { createHash } from 'node:crypto'

/** The first eight bytes of what Anchor's programs are told and of what they keep, as hex. @see anchor-lang, discriminator */
export const discriminator = (kind: 'global' | 'account' | 'event', name: string): string =>
  createHash('sha256').update(`${kind}:${name}`).digest('hex').slice(0, 16)
