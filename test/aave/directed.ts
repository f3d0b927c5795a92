import { join } from 'node:path'
import { type Address, encodeFunctionData, type Hex, parseAbi, zeroAddress } from 'viem'
import type { Aave } from '../chain/aave.ts'
import { aaveAbi } from '../chain/abis.ts'
import { type ContractSet, compileOnce, sourcesIn } from '../chain/compile.ts'
import { sendDeployment } from '../chain/deploy.ts'
import type { Call, Node } from '../chain/node.ts'

const set: ContractSet = {
  compiler: 'solc',
  imports: ['@aave/core-v3'],
  sources: () => sourcesIn(join(import.meta.dirname, 'contracts')),
}

const configuratorAbi = parseAbi([
  'struct AToken { address asset; address treasury; address incentivesController; string name; string symbol; address implementation; bytes params; }',
  'struct DebtToken { address asset; address incentivesController; string name; string symbol; address implementation; bytes params; }',
  'function updateAToken(AToken input)',
  'function updateVariableDebtToken(DebtToken input)',
])
/** keccak256('eip1967.proxy.implementation') - 1 */
const IMPLEMENTATION = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

/** Deploys contracts/Directed.sol for a pool; gives the calls that make it one of v3.5, as governance would. */
export async function upgradeOf(node: Node, aave: Aave): Promise<Call[]> {
  const admin = node.accounts[0] ?? zeroAddress
  const deploy = (name: string, args: readonly unknown[]) => {
    const artifact = compileOnce(set)[name]
    if (!artifact) throw new Error(`no contract ${name}`)
    return sendDeployment(node, artifact, args, `deploy ${name}`)
  }
  const code = await node.client.getStorageAt({ address: aave.pool, slot: IMPLEMENTATION })
  const pool = await deploy('RevisedPool', [`0x${code?.slice(-40)}`])
  const aToken = await deploy('DirectedAToken', [aave.pool])
  const debtToken = await deploy('DirectedDebtToken', [aave.pool])
  await node.mine()
  const call = (to: Address, data: Hex): Call => ({
    from: admin,
    to,
    data,
    gas: 3_000_000n,
    label: 'upgrade',
  })
  const common = { incentivesController: zeroAddress, params: '0x' as const }
  return [
    call(
      aave.addressesProvider,
      encodeFunctionData({ abi: aaveAbi, functionName: 'setPoolImpl', args: [pool] }),
    ),
    ...aave.reserves.flatMap(({ asset: { address: asset, symbol: name } }) => [
      call(
        aave.configurator,
        encodeFunctionData({
          abi: configuratorAbi,
          functionName: 'updateAToken',
          args: [
            { ...common, asset, treasury: aave.treasury, name, symbol: `a${name}`, implementation: aToken },
          ],
        }),
      ),
      call(
        aave.configurator,
        encodeFunctionData({
          abi: configuratorAbi,
          functionName: 'updateVariableDebtToken',
          args: [{ ...common, asset, name, symbol: `v${name}`, implementation: debtToken }],
        }),
      ),
    ]),
  ]
}
