import {
  decodeLending,
  LENDING_PROGRAMS,
  type Lending,
  lendingAdmin,
  lendingOf,
  liquidityOf,
  PRICE_PRECISION,
  REWARDS_PROGRAM,
} from '../../../abi/jupiter-lend/lending.ts'
import {
  decodeReserve,
  decodeRewardsModel,
  reserveOf,
  rewardsModelOf,
} from '../../../abi/jupiter-lend/liquidity.ts'
import { sharePriceAt } from '../../../abi/jupiter-lend/math.ts'
import { decodeClock } from '../../../abi/svm/clock.ts'
import { discriminator } from '../../../abi/svm/discriminator.ts'
import { CLOCK, type Key } from '../../../abi/svm/programs.ts'
import { movementsBelow, sumOf } from '../amounts.ts'
import { accountAt, ownerOf, type SvmInstruction, type SvmTransaction } from '../block.ts'
import type { SvmAccount, SvmProgram, Told } from '../program.ts'

/** Places of accounts. @see npm @jup-ag/lend, interface of the lending program */
const DEPOSIT = { kind: 'deposit', admin: 4, vault: 5, asset: 3, share: 6 } as const
const WITHDRAWAL = { kind: 'withdrawal', admin: 3, vault: 4, asset: 5, share: 6 } as const
type Shape = typeof DEPOSIT | typeof WITHDRAWAL
const [SIGNER, FROM, TO] = [0, 1, 2]
const UPDATE = discriminator('global', 'update_rate')
const RATES = discriminator('event', 'LogUpdateRates')

const SHAPES = new Map<string, Shape>(
  (
    [
      [DEPOSIT, ['deposit', 'deposit_with_min_amount_out', 'mint', 'mint_with_max_assets']],
      [WITHDRAWAL, ['redeem', 'redeem_with_min_amount_out', 'withdraw', 'withdraw_with_max_shares_burn']],
    ] as const
  ).flatMap(([shape, names]) => names.map(name => [discriminator('global', name), shape] as const)),
)

const jupiterLend: SvmProgram = {
  name: 'jupiter-lend',
  programs: LENDING_PROGRAMS,
  decode(instruction, transaction) {
    const { program, accounts } = instruction
    const at = (place: number) => accountAt(accounts, place)
    const tag = instruction.data.toString('hex', 0, 8)
    if (tag === UPDATE) return { vault: at(0), events: pricesOf(at(0), instruction) }
    const shape = SHAPES.get(tag)
    if (!shape) return undefined
    return {
      vault: at(shape.vault),
      accounts: { program, shareMint: at(shape.share), asset: at(shape.asset), authority: at(shape.admin) },
      events: [...pricesOf(at(shape.vault), instruction), flowOf(shape, instruction, transaction)],
    }
  },
  // In the order in which `read` is given them.
  wants: (_, { program, asset }) => [
    CLOCK,
    reserveOf(liquidityOf(program as Key), asset as Key),
    rewardsModelOf(REWARDS_PROGRAM, asset as Key),
  ],
  read({ vault, accounts, account, supply, wanted }) {
    const program = accounts.program as Key
    if (account.owner !== program)
      throw new TypeError(`the account is of ${account.owner}, not of the program`)
    const state = decodeLending(account.data)
    if (!state) throw new TypeError('the account is no Lending')
    if (
      lendingOf(program, state.mint, state.shareMint) !== vault ||
      lendingAdmin(program) !== accounts.authority
    )
      throw new TypeError('the account is not derived from its mints')
    if (state.mint !== accounts.asset || state.shareMint !== accounts.shareMint)
      throw new TypeError(`the account names other mints, ${state.mint} and ${state.shareMint}`)
    const price = priceNow(program, state, supply, wanted) ?? state.price
    const hasPrice = supply > 0n && price > 0n
    return {
      totalSupply: supply,
      totalAssets: (supply * price) / PRICE_PRECISION,
      ...(hasPrice && { priceAssets: price, priceShares: PRICE_PRECISION }),
    }
  },
}

/** With interest and rewards since the last update, where the books that tell of them are what they should be. */
function priceNow(
  program: Key,
  state: Lending,
  supply: bigint,
  [clock, reserve, rewards]: readonly (SvmAccount | undefined)[],
): bigint | undefined {
  const time = decodeClock(clock?.data)?.time
  const books = reserve?.owner === liquidityOf(program) ? decodeReserve(reserve.data) : undefined
  const model = rewards?.owner === REWARDS_PROGRAM ? decodeRewardsModel(rewards.data) : undefined
  if (time === undefined || books?.mint !== state.mint || model?.mint !== state.mint) return undefined
  return sharePriceAt(state, supply, books, model, time)
}

/** LogUpdateRates {token_exchange_price, liquidity_exchange_price}, as each act of a vault writes it. */
function pricesOf(vault: Key, { logged = [] }: SvmInstruction): Told['events'] {
  return logged
    .filter(data => data.length === 24 && data.toString('hex', 0, 8) === RATES)
    .map(data => ({
      type: 'SvmPriceUpdated',
      protocol: jupiterLend.name,
      contract: vault,
      data: { priceAssets: data.readBigUInt64LE(8), priceShares: PRICE_PRECISION },
    }))
}

function flowOf(
  shape: Shape,
  instruction: SvmInstruction,
  transaction: SvmTransaction,
): Told['events'][number] {
  const { accounts, path } = instruction
  const movements = movementsBelow(instruction, transaction)
  const [signer, from, to] = [accountAt(accounts, SIGNER), accountAt(accounts, FROM), accountAt(accounts, TO)]
  const mint = accountAt(accounts, shape.share)
  const common = { instructionIndex: path[0] ?? 0, path: path.join('.') }
  const contract = { protocol: jupiterLend.name, contract: accountAt(accounts, shape.vault) }
  if (shape.kind === 'deposit') {
    const [assets, shares] = [
      sumOf(movements, { kind: 'transfer', from }),
      sumOf(movements, { kind: 'mint', mint, to }),
    ]
    if (shares === undefined) throw new TypeError('nothing was minted for the depositor')
    const { after, before } = ownerOf(to, transaction)
    const data = { ...common, account: after ?? before ?? signer, sender: signer, shares }
    return { type: 'SvmDeposited', ...contract, data: { ...data, ...(assets !== undefined && { assets }) } }
  }
  const [assets, shares] = [
    sumOf(movements, { kind: 'transfer', to }),
    sumOf(movements, { kind: 'burn', mint, from }),
  ]
  if (shares === undefined) throw new TypeError('no share was burnt')
  const [holder, receiver] = [ownerOf(from, transaction), ownerOf(to, transaction)]
  const data = {
    ...common,
    account: holder.before ?? holder.after ?? signer,
    receiver: receiver.after ?? receiver.before ?? signer,
    shares,
  }
  return { type: 'SvmWithdrawn', ...contract, data: { ...data, ...(assets !== undefined && { assets }) } }
}

export default jupiterLend
