/** Lamports of the fee of one signature. */
export const SIGNATURE_FEE = 5_000n
/** Bytes of a token account. */
const TOKEN_ACCOUNT = 165

/** Lamports that an account of so many bytes has to have. @see solana-rent, default rent */
export const rentOf = (bytes: number) => BigInt(128 + bytes) * 6_960n
export const TOKEN_ACCOUNT_RENT = rentOf(TOKEN_ACCOUNT)
