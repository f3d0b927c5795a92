import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { calls, type Token } from '../../chain/deploy.ts'
import { contract } from '../artifacts.ts'
import type { Stage } from './stage.ts'

export const vaultAbi = parseAbi([
  'function deposit(uint256 assets, address receiver) returns (uint256)',
  'function borrow(uint256 assets, address receiver) returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function debtOf(address account) view returns (uint256)',
  'function convertToAssets(uint256 shares) view returns (uint256)',
  'function totalAssets() view returns (uint256)',
  'function totalBorrows() view returns (uint256)',
  'function interestAccumulator() view returns (uint256)',
])
export const evcAbi = parseAbi([
  'function getControllers(address account) view returns (address[])',
  'function getCollaterals(address account) view returns (address[])',
  'function enableCollateral(address account, address vault) payable',
  'function enableController(address account, address vault) payable',
])
const unitOfAccount: Address = `0x${'00'.repeat(18)}0348`
/** 5 % a year. */
export const rate = (5n * 10n ** 25n) / 31_536_000n

/** Vaults of Euler v2 under one connector and one oracle, on contracts of our own after the EVK. Prices in USD. */
export async function deployEuler<N extends string>(
  { deploy, act }: Stage,
  tokens: Record<N, { token: Token; price: bigint }>,
) {
  const evc = await deploy(contract('EvcLike'))
  const oracle = await deploy(contract('EulerOracleLike'))
  const { abi: oracleAbi } = contract('EulerOracleLike')
  const vaults = {} as Record<N, Address>
  for (const [name, { token, price }] of Object.entries(tokens) as [N, { token: Token; price: bigint }][]) {
    const each = price * 10n ** BigInt(36 - token.decimals)
    await act(oracle, oracleAbi, 'set', token.address, each, 10n ** 15n)
    const args = [evc, token.address, token.decimals, oracle, unitOfAccount]
    const vault = await deploy(contract('EvkLike'), ...args)
    vaults[name] = vault
    await act(oracle, oracleAbi, 'addVault', vault)
    await act(vault, contract('EvkLike').abi, 'configure', rate, 0, 0, 0)
  }
  return { evc, vaults }
}

/** Deposits collateral and borrows against it, so that interest accrues to `lends`. Amounts in base units. */
export async function oweTo(
  { node }: Pick<Stage, 'node'>,
  borrower: Address,
  evc: Address,
  secures: { vault: Address; token: Token; amount: bigint },
  lends: { vault: Address; amount: bigint },
) {
  const send = async (to: Address, data: `0x${string}`) => node.send({ from: borrower, to, data })
  await node.send(calls.approve(borrower, secures.token.address, secures.vault))
  const deposit = encodeFunctionData({
    abi: vaultAbi,
    functionName: 'deposit',
    args: [secures.amount, borrower],
  })
  await send(secures.vault, deposit)
  for (const [functionName, vault] of [
    ['enableCollateral', secures.vault],
    ['enableController', lends.vault],
  ] as const)
    await send(evc, encodeFunctionData({ abi: evcAbi, functionName, args: [borrower, vault] }))
  await node.mine()
  const borrow = encodeFunctionData({ abi: vaultAbi, functionName: 'borrow', args: [lends.amount, borrower] })
  await send(lends.vault, borrow)
  await node.mine()
}
