import { join } from 'node:path'
import { type Address, encodeDeployData, encodeFunctionData, getContractAddress } from 'viem'
import { type Artifact, compileOnce, sourcesIn } from '../chain/compile.ts'
import type { Call, Node } from '../chain/node.ts'
import type { World } from '../chain/world.ts'

const own = {
  compiler: 'solc',
  imports: [],
  sources: () => sourcesIn(join(import.meta.dirname, 'contracts')),
}

class NoSuchContractError extends Error {}

export function hostileContract(name: string): Artifact {
  const artifact = compileOnce(own)[name]
  if (!artifact) throw new NoSuchContractError(`There is no contract ${name} in test/hostile/contracts`)
  return artifact
}

/** Where strangers come from: accounts that nobody else uses, so that what others send is the same without them. */
export interface Stage {
  world: World
  /** Sends what `act` gives. */
  actor: Address
  /** Puts a deployment into the day's calls; gives its address. */
  deploy(contract: string, ...args: readonly unknown[]): Address
  /** Into the day's calls, after what was deployed so far. */
  send(...calls: Call[]): void
  call(contract: string, to: Address, functionName: string, ...args: readonly unknown[]): Call
}

export async function openStage(node: Node, world: World): Promise<Stage & { take(): Call[] }> {
  const [deployer, actor] = node.accounts.slice(-2)
  if (!deployer || !actor) throw new NoSuchContractError('The node has no accounts left for strangers')
  let nonce = BigInt(await node.nextNonce(deployer))
  let waiting: Call[] = []
  const call: Stage['call'] = (contract, to, functionName, ...args) => ({
    from: actor,
    to,
    data: encodeFunctionData({ abi: hostileContract(contract).abi, functionName, args: [...args] }),
    gas: 100_000_000n,
    mayFail: true,
    label: `${contract}.${functionName}`,
  })
  return {
    world,
    actor,
    call,
    deploy(contract, ...args) {
      const { abi, bytecode } = hostileContract(contract)
      const data = encodeDeployData({ abi, bytecode, args: [...args] })
      waiting.push({ from: deployer, data, gas: 60_000_000n, label: `deploy ${contract}` })
      const address = getContractAddress({ from: deployer, nonce: nonce++ })
      return address.toLowerCase() as Address
    },
    send(...calls) {
      waiting.push(...calls)
    },
    take() {
      const taken = waiting
      waiting = []
      return taken
    },
  }
}
