import type { Address, Hex } from 'viem'
import { networkOfChain } from '../../../db/networks.ts'
import type { Pair, Side } from '../../amm/vault.ts'
import type { ChainReader } from '../../chain/reader.ts'
import { checksum } from '../../http/amounts.ts'
import { RefusedError } from '../../http/errors.ts'
import { ammFamilies } from '../../load-protocols.ts'
import type { createDryRunner } from '../dry-run.ts'
import type { Token } from '../family.ts'
import { type Bundle, createFinisher, pinnedReads } from '../finish.ts'
import type { AmmFamily, AmmRef, AmmStanding } from './family.ts'

interface Common {
  vault: AmmRef
  user: Address
  simulate?: boolean | undefined
  /** Appended to the payload of every action. */
  suffix?: Hex | undefined
}

/** Addresses lower case, amounts in base units. */
export interface AmmDepositRequest extends Common {
  assetAddress0: string
  amount0: bigint
  assetAddress1?: string | undefined
  amount1?: bigint | undefined
}

export interface AmmWithdrawRequest extends Common {
  amount: bigint | undefined
  all?: boolean | undefined
}

type AmmBundle = Bundle & { block: bigint; isGuarded: boolean }

/** Payloads for vaults of liquidity whose minima, where a guard holds them, are what a run of them gave, less half a percent. */
export function createAmmPreparer(reader: ChainReader, dryRun: ReturnType<typeof createDryRunner>) {
  const finish = createFinisher(dryRun)

  const prepare = async ({ vault, user, simulate, suffix }: Common) => {
    const network = networkOfChain(vault.chainId)?.name ?? ''
    const standing = await familyOf(vault).look(vault, user, pinnedReads(reader, network, 'fresh'))
    const [first, second] = vault.tokens as readonly Token[] as readonly [Token, Token]
    const share: Token = {
      address: vault.address as Address,
      symbol: vault.symbol,
      decimals: vault.decimals,
    }
    const common = {
      network,
      chainId: vault.chainId,
      user,
      block: standing.block.number,
      tokens: [first, second, share],
      simulate,
      suffix,
    }
    return { standing, common, share, pooled: [first, second] }
  }

  const deposit = async (request: AmmDepositRequest): Promise<AmmBundle> => {
    const { standing, common, share } = await prepare(request)
    const amounts = amountsOf(request, standing)
    const isGuarded = standing.isGuarded(amounts)
    const bundle = await finish({
      ...common,
      action: 'deposit',
      ...(isGuarded ? { quoted: [share] } : {}),
      plan: ({ resetAllowance, quotes: [quote] = [] }) =>
        standing.deposit({ amounts, quote, resetAllowance }),
    })
    return { ...bundle, isGuarded }
  }

  const withdraw = async (request: AmmWithdrawRequest): Promise<AmmBundle> => {
    const { standing, common, pooled } = await prepare(request)
    const shares = sharesOf(request, standing)
    const isGuarded = request.vault.guard !== undefined
    const bundle = await finish({
      ...common,
      action: 'withdraw',
      ...(isGuarded ? { quoted: pooled } : {}),
      plan: ({ resetAllowance, quotes }) => standing.withdraw({ shares, quotes, resetAllowance }),
    })
    return { ...bundle, isGuarded }
  }

  return { deposit, withdraw }
}

function familyOf({ protocol }: AmmRef): AmmFamily {
  const family = ammFamilies.find(of => of.protocol === protocol)
  if (!family) throw new RefusedError(`Vaults of ${protocol} are not read on chain.`)
  return family
}

const named = ({ symbol, address }: AmmRef['tokens'][0]) => `${symbol} (${checksum(address)})`

/** Which token an address is. @throws RefusedError for one that is not taken, with those that are */
function sideOf(vault: AmmRef, address: string): Side {
  const side = vault.tokens.findIndex(token => token.address === address)
  const taken = vault.takes.map(of => named(vault.tokens[of])).join(' and ')
  const token = vault.tokens[side]
  if (!token) throw new RefusedError(`${checksum(address)} is no token of the vault. It takes ${taken}.`)
  if (!vault.takes.includes(side as Side))
    throw new RefusedError(`The vault does not take ${named(token)}. It takes ${taken}.`)
  return side as Side
}

function amountsOf(request: AmmDepositRequest, { tokens }: AmmStanding): Pair {
  const { vault, assetAddress0, amount0, assetAddress1, amount1 } = request
  if ((assetAddress1 === undefined) !== (amount1 === undefined))
    throw new RefusedError('assetAddress1 and amount1 belong together: give both, or neither.')
  const amounts: [bigint, bigint] = [0n, 0n]
  const named: [string, bigint][] = [[assetAddress0, amount0]]
  if (assetAddress1 !== undefined && amount1 !== undefined) named.push([assetAddress1, amount1])
  const sides = named.map(([address]) => sideOf(vault, address))
  if (sides[0] === sides[1]) throw new RefusedError('assetAddress0 and assetAddress1 are the same token.')
  for (const [n, [, amount]] of named.entries()) {
    const side = sides[n] ?? 0
    const { symbol } = vault.tokens[side]
    if (amount === 0n) throw new RefusedError(`There is nothing to do: the amount is 0 (${symbol}).`)
    if (amount > tokens[side])
      throw new RefusedError(
        `The wallet holds ${tokens[side]} base units of ${symbol}, less than the ${amount} asked for.`,
      )
    amounts[side] = amount
  }
  return amounts
}

function sharesOf({ vault, amount, all }: AmmWithdrawRequest, { shares }: AmmStanding): bigint {
  if (amount !== undefined && all) throw new RefusedError('amount and all=true exclude each other.')
  if (amount === undefined && !all) throw new RefusedError('amount or all=true is needed for withdraw.')
  const value = amount ?? shares
  if (value === 0n)
    throw new RefusedError(`There is nothing to do: the amount is 0 (shares of ${vault.symbol}).`)
  if (value > shares)
    throw new RefusedError(
      `The wallet holds ${shares} shares of the vault, less than the ${value} asked for.`,
    )
  return value
}
