import {
  type Address,
  concat,
  decodeEventLog,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
  serializeSignature,
} from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { domains, MESSAGE_TRANSMITTER, TOKEN_MESSENGER } from '../../abi/cctp-v2/domains.ts'
import { asWord } from '../../abi/cctp-v2/message.ts'
import { type Artifact, ownArtifacts } from './compile.ts'
import { sendDeployment } from './deploy.ts'
import type { Node } from './node.ts'

/** Doubles of the bridge at the addresses of production (contracts/CctpLike.sol), and who attests for them. */

/** Keys of our own: the bridge of a test trusts these two, and wants both. */
const ATTESTERS: readonly Hex[] = [keccak256('0x01'), keccak256('0x02')]
export const FEE_RECIPIENT: Address = `0x${'fe'.repeat(20)}`
/** Base units that one burn may have. */
export const LIMIT = 10_000_000_000_000n

const set = parseAbi([
  'function setUp(address transmitter, address minter, address feeRecipient)',
  'function setUp(uint32 domain, address[] attesters, uint256 threshold)',
  'function setRemote(uint32 domain, bytes32 messenger)',
  'function setLimit(address token, uint256 limit)',
  'function link(uint32 remoteDomain, bytes32 remoteToken, address localToken)',
  'function mint(address to, uint256 amount)',
])

export interface PlacedBridge {
  minter: Address
  usdc: Address
  burner: Address
}

/** Puts the bridge of a network on its node, linked with those of all other networks. */
export async function placeBridge(node: Node, network: string): Promise<PlacedBridge> {
  const own = domains.find(of => of.network === network)
  if (!own) throw new TypeError(`the bridge does not reach ${network}`)
  const artifacts = ownArtifacts()
  const deploy = async (artifact: Artifact) => {
    const at = await sendDeployment(node, artifact)
    await node.mine()
    return at
  }
  const place = async (artifact: Artifact, at: Address) => {
    const code = await node.rpc('eth_getCode', [await deploy(artifact), 'latest'])
    await node.rpc('anvil_setCode', [at, code])
  }
  await place(artifacts.BridgedToken, own.usdc)
  await place(artifacts.TransmitterLike, MESSAGE_TRANSMITTER)
  await place(artifacts.MessengerLike, TOKEN_MESSENGER)
  const minter = await deploy(artifacts.MinterLike)
  const burner = await deploy(artifacts.BurnerLike)
  const calls: [Address, Hex][] = [
    [
      MESSAGE_TRANSMITTER,
      encodeFunctionData({
        abi: set,
        functionName: 'setUp',
        args: [own.domain, ATTESTERS.map(key => privateKeyToAccount(key).address), 2n],
      }),
    ],
    [
      TOKEN_MESSENGER,
      encodeFunctionData({
        abi: set,
        functionName: 'setUp',
        args: [MESSAGE_TRANSMITTER, minter, FEE_RECIPIENT],
      }),
    ],
    [minter, encodeFunctionData({ abi: set, functionName: 'setLimit', args: [own.usdc, LIMIT] })],
  ]
  for (const { domain, usdc } of domains) {
    if (domain === own.domain) continue
    calls.push(
      [
        TOKEN_MESSENGER,
        encodeFunctionData({ abi: set, functionName: 'setRemote', args: [domain, asWord(TOKEN_MESSENGER)] }),
      ],
      [
        minter,
        encodeFunctionData({ abi: set, functionName: 'link', args: [domain, asWord(usdc), own.usdc] }),
      ],
    )
  }
  const [from = '0x'] = node.accounts
  for (const [to, data] of calls) await node.send({ from, to, data, label: 'set up the bridge' })
  await node.mine()
  return { minter, usdc: own.usdc, burner }
}

export async function giveUsdc(
  node: Node,
  { usdc }: PlacedBridge,
  to: Address,
  amount: bigint,
): Promise<void> {
  const [from = '0x'] = node.accounts
  const data = encodeFunctionData({ abi: set, functionName: 'mint', args: [to, amount] })
  await node.send({ from, to: usdc, data, label: 'mint USDC' })
  await node.mine()
}

/** Signatures of both attesters over a message, in the order of their addresses. */
export async function attest(message: Hex, keys: readonly Hex[] = ATTESTERS): Promise<Hex> {
  const sorted = [...keys].sort((a, b) =>
    privateKeyToAccount(a).address.toLowerCase() < privateKeyToAccount(b).address.toLowerCase() ? -1 : 1,
  )
  const signatures = await Promise.all(
    sorted.map(async privateKey => serializeSignature(await sign({ hash: keccak256(message), privateKey }))),
  )
  return concat(signatures)
}

/** Any unique 32 bytes. */
export const nonceOf = (domain: number, transaction: Hex, logIndex: number): Hex =>
  keccak256(concat([numberToHex(domain, { size: 4 }), transaction, numberToHex(logIndex, { size: 4 })]))

const messageSent = parseAbi(['event MessageSent(bytes message)'])

/** Messages that a transaction emitted, with the places of their logs. */
export async function messagesOf(
  node: Node,
  transaction: Hex,
): Promise<{ logIndex: number; message: Hex }[]> {
  const receipt = await node.client.getTransactionReceipt({ hash: transaction })
  return receipt.logs.flatMap(log => {
    if (log.address.toLowerCase() !== MESSAGE_TRANSMITTER) return []
    const { args } = decodeEventLog({ abi: messageSent, data: log.data, topics: log.topics, strict: false })
    return args.message ? [{ logIndex: log.logIndex, message: args.message }] : []
  })
}
