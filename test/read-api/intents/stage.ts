import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import {
  type Abi,
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hashStruct,
  keccak256,
  parseAbi,
} from 'viem'
import { z } from 'zod'
import { SUITES } from '../../../read-api/intents/biconomy/nexus.ts'
import { erc20 } from '../../chain/abis.ts'
import { type ContractSet, compileOnce, sourcesIn } from '../../chain/compile.ts'
import { sendDeployment } from '../../chain/deploy.ts'
import { type Node, startNode } from '../../chain/node.ts'
import * as w from '../world.ts'
import { seatWorld } from '../world-on-chain.ts'
import { types } from './rhinestone-double.ts'

export const PERMIT2: Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
export const USD = w.USD_ASSET as Address
export const VAULT = w.USD_VAULT as Address

/** @see ISignatureTransfer.sol of uniswap/permit2 */
export const permit2Abi = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitBatchTransferFrom { TokenPermissions[] permitted; uint256 nonce; uint256 deadline; }',
  'struct SignatureTransferDetails { address to; uint256 requestedAmount; }',
  'function permitWitnessTransferFrom(PermitBatchTransferFrom permit, SignatureTransferDetails[] transferDetails, address owner, bytes32 witness, string witnessTypeString, bytes signature)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
])

export const permitAbi = parseAbi([
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function nonces(address owner) view returns (uint256)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
])

const contracts: ContractSet = {
  compiler: 'solc',
  imports: ['@openzeppelin/contracts'],
  evmVersion: 'cancun',
  sources: () => sourcesIn(join(import.meta.dirname, 'contracts')),
}

/** The runtime of the published contract. */
function permit2Code(): Hex {
  const root = dirname(createRequire(import.meta.url).resolve('@uniswap/v4-periphery/package.json'))
  const source = readFileSync(join(root, 'lib/permit2/test/utils/DeployPermit2.sol'), 'utf8')
  const code = /hex"([0-9a-f]{4000,})"/.exec(source)?.[1]
  if (!code) throw new Error('the package has no code of Permit2')
  return `0x${code}`
}

function artifactOf(name: string) {
  const artifact = compileOnce(contracts)[name]
  if (!artifact) throw new Error(`no contract ${name}`)
  return artifact
}

/** A node with the world's tokens and vaults, the dollar and its vault with permits, the real Permit2, and factories of accounts. */
export async function startChain(chainId: number): Promise<Node> {
  const node = await startNode({ chainId })
  await seatWorld(node)
  const seat = async (name: string, address: Address, ...args: unknown[]) => {
    const deployed = await sendDeployment(node, artifactOf(name), args)
    await node.mine()
    await node.rpc('anvil_setCode', [address, await node.rpc('eth_getCode', [deployed, 'latest'])])
  }
  await seat('PermitToken', USD)
  await seat('PermitVault', VAULT, USD)
  for (const { factory } of SUITES) await seat('AccountFactory', factory)
  await node.rpc('anvil_setCode', [PERMIT2, permit2Code()])
  return node
}

const receipt = z.object({ status: z.string() })

/** A transaction of any account, its own or a contract's; whether it landed. */
export async function actAs(
  node: Node,
  from: Address,
  to: Address,
  abi: Abi,
  functionName: string,
  args: readonly unknown[],
): Promise<boolean> {
  return sendAs(node, from, to, encodeFunctionData({ abi, functionName, args }))
}

export async function sendAs(node: Node, from: Address, to: Address, data: Hex): Promise<boolean> {
  await node.rpc('anvil_impersonateAccount', [from])
  await node.rpc('anvil_setBalance', [from, '0x56bc75e2d63100000'])
  const hash = await node.rpc('eth_sendTransaction', [{ from, to, data, gas: '0x2dc6c0' }])
  await node.mine()
  return receipt.parse(await node.rpc('eth_getTransactionReceipt', [hash])).status === '0x1'
}

export const balance = (node: Node, token: Address, holder: Address): Promise<bigint> =>
  node.client.readContract({ address: token, abi: erc20, functionName: 'balanceOf', args: [holder] })

export const allowance = (node: Node, token: Address, holder: Address, spender: Address): Promise<bigint> =>
  node.client.readContract({ address: token, abi: erc20, functionName: 'allowance', args: [holder, spender] })

/** What the factory of the newest suite would make, whatever an account is made with being what the package makes it with. */
export function accountOf(factory: Address, initData: Hex): Address {
  const word = keccak256(
    encodeAbiParameters(
      [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes32' }],
      [factory, initData, `0x${'00'.repeat(32)}`],
    ),
  )
  return `0x${word.slice(26)}`
}

/** What Permit2 appends to its own type: the mandate's, as the contracts have it. */
const WITNESS =
  'Mandate mandate)Mandate(Target target,uint128 minGas,Op originOps,Op destOps,bytes32 q)Op(bytes32 vt,Ops[] ops)Ops(address to,uint256 value,bytes data)Target(address recipient,Token[] tokenOut,uint256 targetChain,uint256 fillExpiry)Token(address token,uint256 amount)TokenPermissions(address token,uint256 amount)'

/** A batch permit with a mandate, as JSON. */
export interface Mandated {
  permitted: { token: Address; amount: string }[]
  spender: Address
  nonce: string
  deadline: string
  mandate: { destOps: { ops: { to: Address; data: Hex }[] } }
}

/** Arguments of permitWitnessTransferFrom: all that is permitted, or another amount. */
export function claim(
  message: unknown,
  {
    owner,
    to,
    signature,
    amount,
  }: { owner: Address; to: Address; signature: Hex; amount?: bigint | undefined },
) {
  const { permitted, nonce, deadline, mandate } = message as Mandated
  const tokens = permitted.map(({ token, amount: of }) => ({ token, amount: BigInt(of) }))
  const details = tokens.map(({ amount: of }) => ({ to, requestedAmount: amount ?? of }))
  const permit = { permitted: tokens, nonce: BigInt(nonce), deadline: BigInt(deadline) }
  const witness = hashStruct({ data: mandate as never, primaryType: 'Mandate', types })
  return [permit, details, owner, witness, WITNESS, signature] as const
}

/** Base units of the dollar token at what its feed said last, rounded up. */
export const inDollars = (millionths: bigint): string => {
  const last = w.makeWorld().answers.findLast(({ feed }) => feed === w.USD_FEED)?.answer ?? 1n
  return String((millionths * 10n ** 8n + last - 1n) / last)
}
/** By anybody. */
export const mint = (node: Node, token: Address, to: Address, amount: bigint) =>
  actAs(node, `0x${'77'.repeat(20)}`, token, erc20 as Abi, 'mint', [to, amount])
