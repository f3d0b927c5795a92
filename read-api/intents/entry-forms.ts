import {
  type AbiFunction,
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  parseAbiItem,
  toFunctionSelector,
} from 'viem'

/** A call as a signature in words and its arguments. */
export interface Form {
  signature: string
  args: (Address | bigint | number)[]
}

interface Pattern {
  signature: string
  /** Places among the arguments. */
  amount: number
  /** Absent: who calls is who receives. */
  receiver?: number
  owner?: number
}

/** Deposits that credit whom they name, whoever makes them. What credits its caller is not among them. */
const ENTRIES: readonly Pattern[] = [
  { signature: 'function deposit(uint256 assets, address receiver)', amount: 0, receiver: 1 },
  {
    signature: 'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
    amount: 1,
    receiver: 2,
  },
  { signature: 'function stake(address to, uint256 amount)', amount: 1, receiver: 0 },
  {
    signature: 'function syncDeposit(uint256 assets, address receiver, address referral)',
    amount: 0,
    receiver: 1,
  },
]

const APPROVAL: Pattern = {
  signature: 'function approve(address spender, uint256 amount)',
  amount: 1,
}

/** Withdrawals that pay at once, of what their caller holds. */
const EXITS: readonly Pattern[] = [
  {
    signature: 'function redeem(uint256 shares, address receiver, address owner)',
    amount: 0,
    receiver: 1,
    owner: 2,
  },
  { signature: 'function withdraw(address asset, uint256 amount, address to)', amount: 1, receiver: 2 },
  { signature: 'function withdraw(address asset, uint256 amount)', amount: 1 },
]

function read(data: Hex, patterns: readonly Pattern[]): { pattern: Pattern; form: Form } | undefined {
  for (const pattern of patterns) {
    const item = parseAbiItem(pattern.signature) as AbiFunction
    if (data.slice(0, 10) !== toFunctionSelector(item)) continue
    const { args = [] } = decodeFunctionData({ abi: [item], data })
    return { pattern, form: { signature: pattern.signature, args: args as Form['args'] } }
  }
  return undefined
}

export function dataOf({ signature, args }: Form): Hex {
  return encodeFunctionData({ abi: [parseAbiItem(signature) as AbiFunction], args })
}

const same = (a: unknown, b: Address) => String(a).toLowerCase() === b.toLowerCase()

/** A deposit that credits the user, and the place of its amount; undefined where it credits its caller, or is of another kind. */
export function entryForm(data: Hex, user: Address): { form: Form; amount: number } | undefined {
  const found = read(data, ENTRIES)
  if (!found) return undefined
  const { pattern, form } = found
  return pattern.receiver !== undefined && same(form.args[pattern.receiver], user)
    ? { form, amount: pattern.amount }
    : undefined
}

export function approvalForm(data: Hex): { form: Form; amount: number } | undefined {
  const found = read(data, [APPROVAL])
  return found && { form: found.form, amount: found.pattern.amount }
}

/** What the user's withdrawal is where an account makes it that holds the shares; undefined for one of another kind. */
export function exitData(data: Hex, user: Address, account: Address): Hex | undefined {
  const found = read(data, EXITS)
  if (!found) return undefined
  const { pattern, form } = found
  const args = [...form.args]
  for (const place of [pattern.receiver, pattern.owner]) {
    if (place === undefined) continue
    if (!same(args[place], user)) return undefined
    args[place] = account
  }
  return dataOf({ ...form, args })
}
