import { type Address, encodeFunctionData, type Hex, maxUint256, zeroAddress } from 'viem'
import { view } from '../../chain/view.ts'
import { toWhole } from '../../http/amounts.ts'
import { RefusedError } from '../../http/errors.ts'
import { ratio, SECONDS_PER_YEAR } from '../../lending/market.ts'
import { erc4626Abi } from '../../transactions/abis.ts'
import {
  type BorrowOption,
  type Bound,
  bestOption,
  capped,
  closed,
  enablingFor,
  largest,
  neededEnabling,
  owedBound,
  suppliedBound,
  tightest,
  tokenOf,
} from '../../transactions/borrow/bounds.ts'
import { answeredBy, type BorrowPosition, type MarketAssetRef } from '../../transactions/borrow/family.ts'
import { defineBorrowFamily } from '../../transactions/borrow/standing.ts'
import type { PlannedAction, ReadViews } from '../../transactions/family.ts'
import { units } from '../../transactions/wallet.ts'
import { evcAbi, evkAbi } from './abis.ts'
import { capOf, type EulerAccount, type EulerRef, isHealthy, readAccount, vaultOf } from './account.ts'

/** Bits of hookedOps: an operation hooked to no target is switched off. @see Constants.sol of euler-vault-kit */
const operations = { deposit: 0n, withdraw: 2n, redeem: 3n, borrow: 6n, repay: 7n } as const

/**
 * Euler v2 (EVK). One vault lends; other vaults, whose shares it takes, are the collateral. The connector (EVC) knows what
 * an account has made collateral and which vault decides over it; both are set in one batch before the first loan.
 */
export const eulerEvk = defineBorrowFamily({
  protocol: 'euler-v2',

  async figures(market: EulerRef, asset, read) {
    const vault = vaultOf(market, asset)
    const wholeShares = 10n ** BigInt(asset.info.decimals)
    const { block, values } = await read({
      supplied: view(erc4626Abi, vault, 'totalAssets', []),
      borrowed: view(evkAbi, vault, 'totalBorrows', []),
      rate: view(evkAbi, vault, 'interestRate', []),
      fee: view(evkAbi, vault, 'interestFee', []),
      accumulator: view(evkAbi, vault, 'interestAccumulator', []),
      worth: view(erc4626Abi, vault, 'convertToAssets', [wholeShares]),
    })
    const { supplied, rate, fee = 0, accumulator, worth } = values
    if (supplied === undefined) throw new RefusedError(`The contract ${vault} is no vault.`)
    const borrowed = answeredBy(vault, values.borrowed)
    const borrowRate =
      rate === undefined ? undefined : Math.expm1(SECONDS_PER_YEAR * Math.log1p(Number(rate) / 1e27))
    return {
      block,
      borrowRate,
      supplyRate:
        borrowRate === undefined ? undefined : borrowRate * ratio(borrowed, supplied) * (1 - fee / 10_000),
      supplied,
      borrowed,
      supplyIndex: worth === undefined ? 1 : ratio(worth, wholeShares),
      borrowIndex: accumulator === undefined ? 1 : toWhole(accumulator, 27),
    }
  },

  read: readPosition,
  bounds: boundsOf,

  steps: (position, { options }) => ({
    supply: ['approve', 'supply', ...(needsEnabling(position) ? ['enableCollateral'] : [])],
    withdraw: ['withdraw'],
    borrow: isLoan(position)
      ? [...preparing(position, neededEnabling(options)).map(({ name }) => name), 'borrow']
      : [],
    repay: isLoan(position) ? ['approve', 'repay'] : [],
  }),

  actions: {
    supply(position, { value }) {
      const { user, contract: vault, account } = position
      const deposit = encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [value, user] })
      const enabling = needsEnabling(position)
        ? [call('enableCollateral', account.evc, enableCollateral(user, vault))]
        : []
      return [call('supply', vault, deposit), ...enabling]
    },

    withdraw({ user, contract: vault, account: { shares } }, { value, isAll }) {
      const data = isAll
        ? encodeFunctionData({ abi: erc4626Abi, functionName: 'redeem', args: [shares, user, user] })
        : encodeFunctionData({ abi: erc4626Abi, functionName: 'withdraw', args: [value, user, user] })
      return [call('withdraw', vault, data)]
    },

    borrow(position, { value }, { options }) {
      const args = [value, position.user] as const
      const borrow = encodeFunctionData({ abi: evkAbi, functionName: 'borrow', args })
      const before = preparing(position, enablingFor(options, value))
      return [...before, call('borrow', position.contract, borrow)]
    },

    repay({ user, contract: vault }, { value, isAll }) {
      const args = [isAll ? maxUint256 : value, user] as const
      return [call('repay', vault, encodeFunctionData({ abi: evkAbi, functionName: 'repay', args }))]
    },
  },
})

/** The contract is the vault of the asset. */
interface Position extends BorrowPosition {
  /** The vault that lends. */
  lender: Address
  account: EulerAccount
}

const isLoan = ({ asset }: Position): boolean => asset.side === 'loan'

async function readPosition(
  market: EulerRef,
  asset: MarketAssetRef,
  user: Address,
  read: ReadViews,
): Promise<Position> {
  const account = await readAccount(market, asset, user, read)
  const { block, supplied, debt, wallet = 0n, allowance = 0n, owedIn } = account
  return {
    block,
    user,
    asset,
    token: tokenOf(asset),
    contract: vaultOf(market, asset),
    balances: { supplied, borrowed: asset.side === 'loan' ? debt : 0n, wallet, allowance },
    owedIn,
    lender: market.root as Address,
    account,
  }
}

function boundsOf(position: Position) {
  const { account } = position
  const options = borrowOptions(position)
  return {
    supply: supplyBound(position),
    withdraw: withdrawBound(position),
    borrow: bestOption(options).bound,
    repay: tightest(owedBound(position), ...closed(switchedOff(account.hook, 'repay'))),
    /** Of borrow. */
    options,
  }
}

const switchedOff = (hook: EulerAccount['hook'], operation: keyof typeof operations): string | undefined =>
  hook !== undefined && hook[0] === zeroAddress && ((BigInt(hook[1]) >> operations[operation]) & 1n) === 1n
    ? `The vault's governor has switched ${operation} off.`
    : undefined

const cashBound = ({ account: { cash = 0n }, token }: Position): Bound => ({
  most: cash,
  because: `The vault holds ${units(cash, token)}.`,
})

function supplyBound({ account, token }: Position): Bound {
  const { hook, caps, total = 0n } = account
  return tightest(
    ...closed(switchedOff(hook, 'deposit')),
    ...capped('supply', capOf(caps?.[0]), total, token),
  )
}

function withdrawBound(position: Position): Bound {
  const { hook, free, supplied } = position.account
  return tightest(
    suppliedBound(position),
    ...closed(switchedOff(hook, 'withdraw')),
    ...closed(switchedOff(hook, 'redeem')),
    cashBound(position),
    {
      most: free?.assets ?? supplied,
      because: free ? `${free.because.replace(/^t/, 'T')}.` : '',
    },
  )
}

/** What can be borrowed with more and more of what is supplied as collateral, what secures most first. */
function borrowOptions(position: Position): BorrowOption[] {
  const { account, token } = position
  const indebted = account.others.find(({ owed }) => owed === undefined || owed > 0n)
  const most = tightest(
    { most: isLoan(position) ? maxUint256 : 0n, because: '' },
    ...closed(switchedOff(account.lenderHook, 'borrow')),
    ...closed(indebted && `The vault ${indebted.vault} decides over the account, which owes to it.`),
    ...capped('borrow', capOf(account.lenderCaps?.[1]), account.borrows, token),
    cashBound(position),
  )
  const idle = account.collaterals
    .filter(({ isEnabled }) => !isEnabled)
    .sort((a, b) => (a.value * a.ltvBps < b.value * b.ltvBps ? 1 : -1))
    .map(of => of.vault)
  return Array.from({ length: idle.length + 1 }, (_, n) => {
    const enabling = idle.slice(0, n)
    const covered: Bound = {
      most: largest(most.most, more => isHealthy(account, { more, enabling })),
      because: 'With more debt the position would not be healthy.',
    }
    return { enabling, bound: tightest(most, covered) }
  })
}

const needsEnabling = (position: Position): boolean =>
  !isLoan(position) && !position.account.enabled.includes(position.contract)

/** What the connector has to be told before a loan, in one batch. */
function preparing({ user, lender, account }: Position, enabling: readonly Address[]): PlannedAction[] {
  const { evc, others, isController } = account
  const toEvc = (data: Hex) => ({ targetContract: evc, onBehalfOfAccount: zeroAddress, value: 0n, data })
  const enableController = () =>
    encodeFunctionData({ abi: evcAbi, functionName: 'enableController', args: [user, lender] })
  const items = [
    ...enabling.map(of => toEvc(enableCollateral(user, of))),
    // A vault that nothing is owed to any more lets go of the account.
    ...others.map(({ vault: other }) => ({
      targetContract: other,
      onBehalfOfAccount: user,
      value: 0n,
      data: encodeFunctionData({ abi: evkAbi, functionName: 'disableController', args: [] }),
    })),
    ...(isController ? [] : [toEvc(enableController())]),
  ]
  if (items.length === 0) return []
  const batch = encodeFunctionData({ abi: evcAbi, functionName: 'batch', args: [items] })
  return [call(isController ? 'enableCollateral' : 'enableController', evc, batch)]
}

const call = (name: string, to: Address, data: Hex): PlannedAction => ({ name, to, data })

const enableCollateral = (user: Address, of: Address): Hex =>
  encodeFunctionData({ abi: evcAbi, functionName: 'enableCollateral', args: [user, of] })
