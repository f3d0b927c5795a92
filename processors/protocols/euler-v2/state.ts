import { toFunctionSelector } from 'viem'
import { functions as router } from '../../../abi/euler/EulerRouter.ts'
import { functions as vaultFunctions } from '../../../abi/euler/EVault.ts'
import { EVK_PRICE_SCALE, evkPrice } from '../../../abi/euler/math.ts'
import { address, encodeCall, uint } from '../../../abi/words.ts'
import type { SampledVault, ShareAmounts, StateRead, VaultReading } from '../../protocol.ts'
import { answered } from '../../samples/answers.ts'
import { figureByFigure, figuresOfVault } from '../../samples/vault-reading.ts'

/** State of a vault of the Euler Vault Kit as its view functions say it; @see IEVault.sol and IPriceOracle.sol. */

const TOTAL_BORROWS = toFunctionSelector('totalBorrows()')

const asUint = (hex: string) => uint(hex, 2, 256)
const asAddress = (hex: string) => address(hex, 2)

/** Of what is quoted: so much that a quote has digits enough for any amount, and within the 128 bits of some oracles. */
const PROBE = 10n ** 30n

/** As any ERC-4626 vault, and what it has lent out: outstanding borrows with interest, in base units of the asset. */
export function readVault({ vault, asset }: SampledVault, amounts: ShareAmounts): VaultReading {
  return figureByFigure([
    ...figuresOfVault(vault, asset, amounts),
    ['borrowedAssets', { to: vault, data: TOTAL_BORROWS }],
  ])
}

/** totalBorrowsExact() of a vault after an act; no log has its fraction. */
export function readTotal(vault: string): StateRead {
  return {
    key: `evk total ${vault}`,
    calls: [vaultFunctions.totalBorrowsExact, vaultFunctions.interestAccumulator].map(fn => ({
      to: vault,
      data: encodeCall(fn),
    })),
    events: ([total, accumulator]) => {
      const owed = answered(total, asUint)
      const accumulatorRay = answered(accumulator, asUint)
      if (owed === undefined || accumulatorRay === undefined) return []
      const data = { market: vault, owed, accumulatorRay }
      return [{ type: 'DebtTotalSampled', contract: vault, data }]
    },
  }
}

export function readDebt(vault: string, account: string): StateRead {
  return {
    key: `evk debt ${vault} ${account}`,
    calls: [
      { to: vault, data: encodeCall(vaultFunctions.debtOfExact, account) },
      { to: vault, data: encodeCall(vaultFunctions.interestAccumulator) },
    ],
    events: ([debt, accumulator]) => {
      const owed = answered(debt, asUint)
      const accumulatorRay = answered(accumulator, asUint)
      if (owed === undefined || accumulatorRay === undefined) return []
      const data = { market: vault, account, owed, accumulatorRay }
      return [{ type: 'DebtSampled', contract: vault, data }]
    },
  }
}

/** Whom a vault asks for prices, and in what; neither is in the log that names the collateral. */
export function readOracle(vault: string, collateral: string): StateRead {
  return {
    key: `evk oracle ${vault} ${collateral}`,
    calls: (['asset', 'oracle', 'unitOfAccount'] as const).map(name => ({
      to: vault,
      data: encodeCall(vaultFunctions[name]),
    })),
    events: answers => {
      const [asset, oracle, unitOfAccount] = answers.map(answer => answered(answer, asAddress))
      if (!asset || !oracle || !unitOfAccount) return []
      const data = { market: vault, collateral, asset, oracle, unitOfAccount }
      return [{ type: 'CollateralOracleNamed', contract: vault, data }]
    },
  }
}

/** What a vault takes its own asset for; nothing is asked where that is the unit of account (LiquidityUtils.sol). */
export function readLoanPrice(vault: string, asset: string, oracle: string, unit: string): StateRead {
  const isUnit = asset === unit
  return {
    key: `evk price ${vault} ${asset}`,
    calls: isUnit ? [] : [{ to: oracle, data: encodeCall(router.getQuote, PROBE, asset, unit) }],
    events: ([answer]) => {
      const price = isUnit ? EVK_PRICE_SCALE : evkPrice(answered(answer, asUint), PROBE)
      const data = { market: vault, asset, oracle, price }
      return [{ type: 'OraclePriceSampled', contract: vault, data }]
    },
  }
}

/** What it takes the shares of a collateral for, by the assets that they are worth: interest does not date that. */
export function readCollateralPrice(
  vault: string,
  collateral: string,
  oracle: string,
  unit: string,
): StateRead {
  return {
    key: `evk price ${vault} ${collateral}`,
    calls: [
      { to: oracle, data: encodeCall(router.getQuote, PROBE, collateral, unit) },
      { to: collateral, data: encodeCall(vaultFunctions.convertToAssets, PROBE) },
    ],
    events: ([quote, assets]) => {
      const price = evkPrice(answered(quote, asUint), answered(assets, asUint))
      const data = { market: vault, asset: collateral, oracle, price }
      return [{ type: 'OraclePriceSampled', contract: vault, data }]
    },
  }
}
