import { AccountRole, type Address, address, type Instruction, type KeyPairSigner } from '@solana/kit'
import { FARMS, type TestKamino } from './kamino.ts'
import { bytesOf, SYSTEM, TOKEN_PROGRAM } from './tokens.ts'

const RENT = address('SysvarRent111111111111111111111111111111111')
const { READONLY, WRITABLE, READONLY_SIGNER, WRITABLE_SIGNER } = AccountRole
/** Place of who may take what others staked. @see npm @kamino-finance/farms-sdk 4.0.1, accounts/farmState */
const WITHDRAW_AUTHORITY = 7_368

/** All that counts of a stake becomes another wallet's, which has one. */
export async function give(vault: TestKamino, from: KeyPairSigner, to: Address): Promise<Instruction> {
  const stakes = [await vault.stakeAccountOf(from.address), await vault.stakeAccountOf(to)]
  return vault.act(FARMS, 'transfer_ownership', [], from, [
    [READONLY_SIGNER, from.address],
    [WRITABLE_SIGNER, from.address],
    [READONLY, to],
    [WRITABLE, ...stakes, vault.is.farm],
    [READONLY, FARMS, SYSTEM, RENT],
  ])
}

/** Who runs the farm takes some of what others staked. */
export async function takeFromAll(
  vault: TestKamino,
  by: KeyPairSigner,
  shares: bigint,
): Promise<Instruction> {
  const { farm, farmVault, farmAuthority } = vault.is
  vault.patch(farm, data => bytesOf(by.address).copy(data, WITHDRAW_AUTHORITY))
  const [, held] = await vault.walletOf(by)
  return vault.act(FARMS, 'withdraw_from_farm_vault', [shares], by, [
    [WRITABLE_SIGNER, by.address],
    [WRITABLE, farm, held, farmVault],
    [READONLY, farmAuthority, TOKEN_PROGRAM],
  ])
}
