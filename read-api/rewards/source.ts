import { type Address, concatHex, type Hex, keccak256, toHex } from 'viem'
import type { ChainReader } from '../chain/reader.ts'
import type { PlannedAction } from '../transactions/family.ts'
import type { RewardToken, TokenFinder } from './tokens.ts'

/** Something a user can claim now. */
export interface Claim {
  /** The same for the same source, network, distributor and token, whatever the amount. */
  claimId: string
  /** Slug of the protocol that pays. */
  source: string
  network: string
  distributor: Address
  token: RewardToken
  /** What a claim sent now would pay, base units. */
  amount: bigint
  /** USD per whole token, where the source says. */
  priceUsd?: number
  /** Makes the calls for claims of one source and network; called with all that are wanted at once. */
  group: ClaimGroup
}

/** Claims that one call may cover. Pure. */
export interface ClaimGroup {
  key: string
  actions(user: Address, claims: readonly Claim[]): PlannedAction[]
}

export interface Findings {
  claims: Claim[]
  /** Sources, or a source on one network (`aave-v3 on base`), that did not answer. */
  down: string[]
}

/** Where rewards come from. Finds what is claimable; a source that is down rejects, or names networks in `down`. */
export interface RewardSource {
  readonly name: string
  find(user: Address, networks: readonly string[], signal: AbortSignal): Promise<Findings>
}

/** What a protocol's source of rewards is made of. */
export interface RewardContext {
  reader: ChainReader
  tokenOf: TokenFinder
  /** The protocol's vaults on a network, of those that somebody vouches for. */
  vaultsOn(network: string): readonly Address[]
  /** Address of the protocol's service that keeps proofs; without it nothing is asked of it. */
  service?: string | undefined
  /** The contract that pays, by network, where it is not the published one. */
  contracts?: Partial<Record<string, Address>> | undefined
}

export function claimIdOf(source: string, network: string, distributor: string, token: string): string {
  return keccak256(toHex([source, network, distributor, token].join('|').toLowerCase())).slice(2, 34)
}

/** Root of a tree of sorted pairs. */
export function foldProof(leaf: Hex, proof: readonly Hex[]): Hex {
  let node = leaf
  for (const other of proof) {
    node = keccak256(BigInt(node) < BigInt(other) ? concatHex([node, other]) : concatHex([other, node]))
  }
  return node
}
