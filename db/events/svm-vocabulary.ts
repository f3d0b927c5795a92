import { z } from 'zod'
import { address, count, int, text, uint } from './shapes.ts'

/** Who a share of a vault belongs to, how many, and by which instruction. */
const flow = {
  /** Owner of the token account whose shares came or went. */
  account: address,
  /** Asset base units; absent where no instruction says how many. */
  assets: uint.optional(),
  /** Share base units that the account got, or that left it with what the vault kept as a fee. */
  shares: uint,
  /** Of the outer instruction in its transaction. */
  instructionIndex: count,
  /** Places of the instruction, between dots: of the outer one, of the one that it called, … */
  path: text,
}

/**
 * What chains of Solana's kind tell of vaults. Block numbers are slots. `logIndex` is a place in the slot: index of the
 * transaction × 256 + place of the instruction in the transaction's trace, or 128 and more for what its balances tell.
 */
export const svmVocabulary = {
  /** A program carried out an instruction on a vault (`contract`) with these accounts, which it has checked. */
  SvmVaultIdentified: z.object({
    /** By which it was carried out: one code may be deployed more than once. */
    program: address,
    shareMint: address,
    asset: address,
    /** The only one that may mint shares. */
    authority: address,
    /** Pays withdrawals. */
    reserve: address.optional(),
  }),
  /** What a mint (`contract`) says of itself. */
  SvmMintDescribed: z.object({
    tokenProgram: address,
    decimals: count,
    mintAuthority: address.optional(),
    freezeAuthority: address.optional(),
    name: text.optional(),
    symbol: text.optional(),
  }),
  /** `sender`: who paid the assets. */
  SvmDeposited: z.object({ ...flow, sender: address }),
  /** `receiver`: who was paid them. */
  SvmWithdrawn: z.object({ ...flow, receiver: address }),
  /**
   * A token account holds so much of a mint (`contract`) for its owner from here on: what is so, not what changed. An account
   * that was closed holds 0. previousOwner: where it was somebody else's before.
   */
  SvmShareAccountChanged: z.object({
    tokenAccount: address,
    owner: address,
    previousOwner: address.optional(),
    amount: uint,
  }),
  /** A token account holds so much of a mint (`contract`) for its owner at this slot, by a node that was asked for all accounts of the mint. */
  SvmShareAccountSampled: z.object({ tokenAccount: address, owner: address, amount: uint }),
  /**
   * All token accounts of a mint (`contract`), or, where a farm is named, all stakes of it in that farm, were read: whoever has some is known from
   * here on, whenever it was got. holders: accounts that had some.
   */
  SvmHoldersListed: z.object({ farm: address.optional(), holders: count }),
  /**
   * A vault's account names the farm in which the shares (`contract`: their mint) of its depositors are staked: from here on, and what was
   * staked in it before. farmVault: the token account in which they all lie.
   */
  SvmFarmNamed: z.object({ vault: address, farm: address, farmVault: address }),
  /**
   * An owner staked so many shares (`contract`: their mint) in a farm, or (below zero) took so many out of it. Any farm, whether or not a
   * vault names it. stakeAccount: where the farm keeps what this owner has in it.
   */
  SvmStakeChanged: z.object({ farm: address, stakeAccount: address, owner: address, change: int }),
  /**
   * Shares (`contract`: their mint) were taken out of a farm, or put into it, for all who have a stake in it alike: each stake is worth less, or
   * more, from here on. Told once, until all stakes of the farm were read again.
   */
  SvmStakesRevalued: z.object({ farm: address }),
  /** So many shares (`contract`: their mint) are an owner's in a farm at this slot, by the farm's own account of it. */
  SvmStakeSampled: z.object({ farm: address, stakeAccount: address, owner: address, amount: uint }),
  /**
   * A program wrote down what a share of a vault (`contract`) is worth from here on: priceAssets / priceShares, in base units. Told by the
   * log of the slot itself, so that the past has it too; absent where the log was cut off.
   */
  SvmPriceUpdated: z.object({ priceAssets: uint, priceShares: uint }),
  /**
   * The state of a vault (`contract`) and its mints at this slot, which no node tells later. A share is worth priceAssets / priceShares,
   * in base units of asset and share; both are absent where there is no share. idleAssets: what withdrawals are paid of.
   * epoch: the one of the slot; updatedEpoch: the one in which the vault was last brought up to date.
   */
  SvmVaultSampled: z.object({
    reason: z.enum(['hourly', 'activity', 'discovery']),
    totalAssets: uint.optional(),
    totalSupply: uint.optional(),
    priceAssets: uint.optional(),
    priceShares: uint.optional(),
    idleAssets: uint.optional(),
    decimals: count,
    assetDecimals: count,
    epoch: count.optional(),
    updatedEpoch: count.optional(),
  }),
} satisfies Record<string, z.ZodObject>
