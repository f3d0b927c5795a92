import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  pad,
  parseAbi,
  zeroAddress,
} from 'viem'
import type { ChainReader } from '../../chain/reader.ts'
import { view } from '../../chain/view.ts'

/** @see constants/abi of @biconomy/abstractjs 1.2.3 */
export const factoryAbi = parseAbi([
  'function computeAccountAddress(bytes initData, bytes32 salt) view returns (address)',
])
const bootstrapAbi = parseAbi([
  'struct Module { address module; bytes data; }',
  'struct Hook { uint256 hookType; address module; bytes data; }',
  'function initNexusWithDefaultValidatorAndOtherModulesNoRegistry(bytes defaultValidatorInitData, Module[] validators, Module[] executors, Module hook, Module[] fallbacks, Hook[] preValidationHooks)',
])

/**
 * Where accounts are made whose default validator takes the owner's address alone, by version of the suite.
 * @see DEFAULT_CONFIGURATIONS_BY_MEE_VERSION of @biconomy/abstractjs 1.2.3
 */
export const SUITES: readonly { version: string; factory: Address; bootstrap: Address }[] = [
  {
    version: '2.0.0',
    factory: '0x000000001D1D5004a02bAfAb9de2D6CE5b7B13de',
    bootstrap: '0x00000000D3254452a909E4eeD47455Af7E27C289',
  },
  {
    version: '2.1.0',
    factory: '0x0000006648ED9B2B842552BE63Af870bC74af837',
    bootstrap: '0x0000003eDf18913c01cBc482C978bBD3D6E8ffA3',
  },
  {
    version: '2.2.1',
    factory: '0x000000002c9A405a196f2dc766F2476B731693c3',
    bootstrap: '0x000000007BfEdA33ac982cb38eAaEf5D7bCC954c',
  },
  {
    version: '2.3.0',
    factory: '0x5836Bdb35913c7CBA6ef40675354445121449917',
    bootstrap: '0xCa8f48912A3a33fE694c318a1d097AD394CFAB76',
  },
]

/** What an account of the owner's is made with, and nothing installed besides. */
export function initDataOf(owner: Address, bootstrap: Address): Hex {
  const init = encodeFunctionData({
    abi: bootstrapAbi,
    functionName: 'initNexusWithDefaultValidatorAndOtherModulesNoRegistry',
    args: [owner, [], [], { module: zeroAddress, data: '0x' }, [], []],
  })
  return encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [bootstrap, init])
}

/**
 * The accounts that published factories make for a wallet, whether they are there yet or not: the address says what an account was
 * made with, so that nobody else's is among them. Empty where no factory is.
 */
export async function accountsOf(reader: ChainReader, network: string, owner: Address): Promise<Address[]> {
  const views = Object.fromEntries(
    SUITES.map(({ version, factory, bootstrap }) => [
      version,
      view(factoryAbi, factory, 'computeAccountAddress', [
        initDataOf(owner, bootstrap),
        pad('0x', { size: 32 }),
      ]),
    ]),
  )
  const { values } = await reader.read(network, views, { age: 'fresh' })
  return Object.values(values).flatMap(account =>
    typeof account === 'string' ? [account.toLowerCase() as Address] : [],
  )
}
