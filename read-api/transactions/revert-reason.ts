import { type Abi, decodeErrorResult, type Hex, parseAbi, slice } from 'viem'

/** Errors of a protocol, as its sources declare them. */
export interface RevertWords {
  /** Declarations: `error Name(type name, …)`. */
  abi?: readonly string[]
  /** What errors mean that their names alone do not tell a user. */
  words?: Readonly<Record<string, string>>
  /** The same of reasons that are strings. */
  strings?: Readonly<Record<string, string>>
}

/** Errors of the standards: OpenZeppelin's ERC-20, ERC-4626, Pausable and access control. */
const STANDARD = [
  'error Error(string reason)',
  'error Panic(uint256 code)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC20InvalidReceiver(address receiver)',
  'error ERC20InvalidSender(address sender)',
  'error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)',
  'error ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)',
  'error ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)',
  'error SafeERC20FailedOperation(address token)',
  'error EnforcedPause()',
  'error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)',
  'error OwnableUnauthorizedAccount(address account)',
] as const

let known: Abi = parseAbi(STANDARD)
const words = new Map<string, string>()
const strings = new Map<string, string>()

/** From here on `revertReason` knows the errors of these protocols, too. */
export function learnReverts(protocols: readonly RevertWords[]): void {
  const declared = new Set(protocols.flatMap(({ abi = [] }) => abi))
  known = [...known, ...(parseAbi([...declared] as string[] as readonly string[]) as Abi)]
  for (const of of protocols) {
    for (const [name, meaning] of Object.entries(of.words ?? {})) words.set(name, meaning)
    for (const [reason, meaning] of Object.entries(of.strings ?? {})) strings.set(reason, meaning)
  }
}

/** Revert data in words. */
export function revertReason(data: Hex): string {
  if (data === '0x') return 'it reverts without a reason'
  try {
    const { errorName, args } = decodeErrorResult({ abi: known, data })
    if (errorName === 'Error') return strings.get(String(args?.[0])) ?? String(args?.[0])
    const told = `${errorName}(${(args ?? []).join(', ')})`
    const meaning = words.get(errorName)
    return meaning ? `${meaning} (${told})` : told
  } catch {
    return `it reverts with the error ${slice(data, 0, Math.min(4, (data.length - 2) >> 1))}`
  }
}
