/** Contracts known as ERC-4626 vaults, whoever made them. */
export const VAULT = 'erc-4626-vault'
