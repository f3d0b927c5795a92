import { type Address, zeroAddress } from 'viem'
import { RAY } from '../../../db/units.ts'
import { type View, view } from '../../chain/view.ts'
import { RefusedError } from '../../http/errors.ts'
import { erc20Abi, erc4626Abi } from '../../transactions/abis.ts'
import { LANDING_SECONDS, tokenOf } from '../../transactions/borrow/bounds.ts'
import type { MarketAssetRef, MarketRef } from '../../transactions/borrow/family.ts'
import type { ReadViews } from '../../transactions/family.ts'
import { eulerOracleAbi, evcAbi, evkAbi } from './abis.ts'
import { freeShares } from './account-check.ts'

export interface EulerRef extends MarketRef {
  /** The root is the vault that lends; its account checks decide over loans. */
  readonly protocol: 'euler-v2'
  /** The vault of each asset by marketAssetId: the root for the loan, those that it takes as collateral. */
  readonly vaults: Readonly<Record<string, string>>
}

export interface HeldCollateral {
  vault: Address
  shares: bigint
  /** Of all shares, in the unit of account, at the bid, before the LTV. */
  value: bigint
  ltvBps: bigint
  isEnabled: boolean
}

/** What one block tells of the lender, of the asset's vault, and of the account there. */
const viewsOf = (lender: Address, own: Address, token: Address, user: Address) => ({
  evc: view(evkAbi, lender, 'EVC', []),
  oracle: view(evkAbi, lender, 'oracle', []),
  unit: view(evkAbi, lender, 'unitOfAccount', []),
  loan: view(erc4626Abi, lender, 'asset', []),
  debt: view(evkAbi, lender, 'debtOf', [user]),
  rate: view(evkAbi, lender, 'interestRate', []),
  borrows: view(evkAbi, lender, 'totalBorrows', []),
  lenderCaps: view(evkAbi, lender, 'caps', []),
  lenderHook: view(evkAbi, lender, 'hookConfig', []),
  caps: view(evkAbi, own, 'caps', []),
  hook: view(evkAbi, own, 'hookConfig', []),
  cash: view(evkAbi, own, 'cash', []),
  total: view(erc4626Abi, own, 'totalAssets', []),
  shares: view(erc20Abi, own, 'balanceOf', [user]),
  wallet: view(erc20Abi, token, 'balanceOf', [user]),
  allowance: view(erc20Abi, token, 'allowance', [user, own]),
})

/** How an account stands with a vault that lends, and with all that it takes as collateral, at one block. */
export async function readAccount(market: EulerRef, asset: MarketAssetRef, user: Address, read: ReadViews) {
  const lender = market.root as Address
  const own = vaultOf(market, asset)
  const token = tokenOf(asset)
  const { block, values } = await read(viewsOf(lender, own, token.address, user))
  const { evc, oracle, unit, loan, debt = 0n, rate = 0n, borrows = 0n, shares = 0n } = values
  if (!evc || !oracle || !unit || !loan)
    throw new RefusedError(`The contract ${lender} is no vault that lends.`)

  const { values: told } = await read({
    collaterals: view(evcAbi, evc, 'getCollaterals', [user]),
    controllers: view(evcAbi, evc, 'getControllers', [user]),
    supplied: view(erc4626Abi, own, 'convertToAssets', [shares]),
    owner: view(evcAbi, evc, 'getAccountOwner', [user]),
  })
  const owner = told.owner?.toLowerCase()
  if (owner && owner !== zeroAddress && owner !== user.toLowerCase())
    throw new RefusedError(
      `${user} is a sub-account of the wallet ${owner} in Euler's connector ${evc}: nobody signs for it but that wallet, by a batch of the connector. Ask for the wallet.`,
    )
  const lower = (list: readonly Address[] = []) => list.map(of => of.toLowerCase() as Address)
  const enabled = lower(told.collaterals)
  const controllers = lower(told.controllers)

  // What is enabled counts, also where another market shows it; of the rest only this market's own.
  const ofMarket = market.assets.filter(({ side }) => side === 'collateral').map(of => vaultOf(market, of))
  const candidates = [...new Set([...enabled, ...ofMarket])]
  const more: Record<string, View<unknown>> = {}
  for (const vault of candidates) {
    more[`ltv ${vault}`] = view(evkAbi, lender, 'LTVBorrow', [vault])
    more[`shares ${vault}`] = view(erc20Abi, vault, 'balanceOf', [user])
  }
  const { values: second } = await read(more)
  const held = candidates.flatMap(vault => {
    const balance = (second[`shares ${vault}`] as bigint | undefined) ?? 0n
    const ltvBps = BigInt((second[`ltv ${vault}`] as number | undefined) ?? 0)
    return balance > 0n && ltvBps > 0n
      ? [{ vault, shares: balance, ltvBps, isEnabled: enabled.includes(vault) }]
      : []
  })
  // The liability is quoted for more than can be borrowed, so that what is less is known to a unit.
  const probe = (values.cash ?? 0n) + debt * 2n + 10n ** BigInt(token.decimals)
  const quotes: Record<string, View<unknown>> = {
    loan: view(eulerOracleAbi, oracle, 'getQuotes', [probe, loan, unit]),
  }
  for (const { vault, shares: balance } of held)
    quotes[vault] = view(eulerOracleAbi, oracle, 'getQuotes', [balance, vault, unit])
  for (const other of controllers.filter(of => of !== lender))
    quotes[`owed ${other}`] = view(evkAbi, other, 'debtOf', [user])
  const { values: third } = await read(quotes)
  const free = await freeShares(own, user, { shares, controller: controllers[0], collaterals: enabled }, read)
  const { values: worth } = await read({
    assets: view(erc4626Abi, own, 'convertToAssets', [free?.shares ?? 0n]),
  })

  const ask = loan.toLowerCase() === unit.toLowerCase() ? probe : (third['loan'] as Quote | undefined)?.[1]
  return {
    ...values,
    block,
    evc,
    debt,
    borrows,
    shares,
    supplied: told.supplied ?? 0n,
    enabled,
    isController: controllers.includes(lender),
    /** What may leave by the check of whichever vault lends to the account, base units; undefined: all of it. */
    free: free && { assets: worth.assets ?? 0n, because: free.because },
    /** Other vaults that decide over the account, and what it owes them. */
    others: controllers
      .filter(of => of !== lender)
      .map(vault => ({ vault, owed: third[`owed ${vault}`] as bigint | undefined })),
    collaterals: held.map(
      (of): HeldCollateral => ({ ...of, value: (third[of.vault] as Quote | undefined)?.[0] ?? 0n }),
    ),
    /** A debt in the unit of account, rounded up; undefined where the oracle does not answer. */
    liability: (amount: bigint): bigint | undefined =>
      ask === undefined ? undefined : amount === 0n ? 0n : (amount * ask + probe - 1n) / probe,
    /** The debt after so many seconds. */
    owedIn: (seconds: number): bigint =>
      debt === 0n || seconds === 0
        ? debt
        : debt + (debt * rate * BigInt(seconds)) / RAY + debt / 10n ** 9n + 1n,
  }
}

type Quote = readonly [bid: bigint, ask: bigint]
export type EulerAccount = Awaited<ReturnType<typeof readAccount>>

export function vaultOf({ vaults, root, id: market }: EulerRef, { id, side }: MarketAssetRef): Address {
  const vault = vaults[id] ?? (side === 'loan' ? root : undefined)
  if (!vault) throw new RefusedError(`The vault of ${id} in the market ${market} is not known.`)
  return vault as Address
}

/**
 * Whether the lender's check of the account passes (LiquidityUtils.checkLiquidity), with the interest until it lands:
 * `more` borrowed and `enabling` as collateral.
 */
export function isHealthy(
  { collaterals, liability, owedIn }: EulerAccount,
  change: { more?: bigint; enabling?: readonly Address[] },
): boolean {
  const { more = 0n, enabling = [] } = change
  const owed = owedIn(LANDING_SECONDS) + more
  if (owed === 0n) return true
  const owes = liability(owed)
  if (owes === undefined) return false
  let covered = 0n
  for (const { vault, value, ltvBps, isEnabled } of collaterals)
    if (isEnabled || enabling.includes(vault)) covered += (value * ltvBps) / 10_000n
  return covered > owes
}

/** @see AmountCap.sol: a mantissa of ten bits with two decimals, an exponent of six; undefined: no cap. */
export function capOf(raw: number | undefined): bigint | undefined {
  if (!raw) return undefined
  return (10n ** BigInt(raw & 63) * BigInt(raw >> 6)) / 100n
}
