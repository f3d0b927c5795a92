import {
  type Address,
  type Hex,
  isAddressEqual,
  keccak256,
  recoverAddress,
  size,
  slice,
  zeroAddress,
} from 'viem'
import { messageTransmitterAbi } from '../../../abi/cctp-v2/calls.ts'
import { MESSAGE_TRANSMITTER, TOKEN_MESSENGER } from '../../../abi/cctp-v2/domains.ts'
import { asWord, parseMessage, ZERO_WORD } from '../../../abi/cctp-v2/message.ts'
import { multicall3Abi, multicall3Address } from '../../chain/multicall.ts'
import type { ChainReader } from '../../chain/reader.ts'
import { view } from '../../chain/view.ts'
import { RefusedError } from '../../http/errors.ts'
import { pinnedReads } from '../../transactions/finish.ts'
import type { Route } from './route.ts'

const SIGNATURE = 65
const MESSENGER = asWord(TOKEN_MESSENGER)

/**
 * What the transmitter of the destination will look at, in words instead of a revert; gives the block that was read.
 * @see MessageTransmitterV2.sol (_validateReceivedMessage), Attestable.sol (_verifyAttestationSignatures)
 * @throws RefusedError
 */
export async function checkClaim(
  reader: ChainReader,
  { route, user, message, attestation }: { route: Route; user: Address; message: Hex; attestation: Hex },
): Promise<bigint> {
  const parsed = parseMessage(message)
  if (!parsed) throw new RefusedError('message is not that of a transfer of CCTP v2.')
  const { source, destination } = route
  if (parsed.sourceDomain !== source.domain || parsed.destinationDomain !== destination.domain)
    throw new RefusedError(
      `The message goes from domain ${parsed.sourceDomain} to ${parsed.destinationDomain}; from ${source.network} to ${destination.network} it would be ${source.domain} to ${destination.domain}.`,
    )
  if (parsed.sender !== MESSENGER || parsed.recipient !== MESSENGER)
    throw new RefusedError('The message is not one of the bridge of USDC.')
  if (parsed.nonce === ZERO_WORD)
    throw new RefusedError(
      'This is the message as the burn emitted it: claim takes the attested one, which status gives once the transfer is ready.',
    )
  if (parsed.destinationCaller !== ZERO_WORD && parsed.destinationCaller !== asWord(user))
    throw new RefusedError('The message names another account that alone may claim it.')

  const signers = await signersOf(message, attestation)
  const read = pinnedReads(reader, destination.network, 'fresh')
  const { block, values } = await read({
    used: view(messageTransmitterAbi, MESSAGE_TRANSMITTER, 'usedNonces', [parsed.nonce]),
    threshold: view(messageTransmitterAbi, MESSAGE_TRANSMITTER, 'signatureThreshold', []),
    paused: view(messageTransmitterAbi, MESSAGE_TRANSMITTER, 'paused', []),
    // As contracts see it: of chains that have another one beneath, that one's.
    number: view(multicall3Abi, multicall3Address, 'getBlockNumber', []),
  })
  const { used, threshold, paused, number } = values
  if (used === undefined || threshold === undefined || number === undefined)
    throw new RefusedError(`The contracts of the bridge do not answer on ${destination.network}.`)
  if (paused) throw new RefusedError(`The bridge is paused on ${destination.network}.`)
  if (used !== 0n) throw new RefusedError('This transfer was claimed already.')
  if (BigInt(signers.length) !== threshold)
    throw new RefusedError(
      `The attestation has ${signers.length} signatures; the bridge wants ${threshold} on ${destination.network}.`,
    )
  const known = await read(
    Object.fromEntries(
      signers.map((signer, n) => [
        `n${n}`,
        view(messageTransmitterAbi, MESSAGE_TRANSMITTER, 'isEnabledAttester', [signer]),
      ]),
    ),
  )
  const stranger = signers.find((_, n) => known.values[`n${n}`] !== true)
  if (stranger) throw new RefusedError('The attestation is not signed by those who attest for the bridge.')
  const { expirationBlock } = parsed.body
  if (expirationBlock !== 0n && expirationBlock <= number)
    throw new RefusedError(
      'The message has expired and has to be attested again: status asks for that, and gives the new one.',
    )
  return block.number
}

/** Who signed, in the ascending order that the contract demands. */
async function signersOf(message: Hex, attestation: Hex): Promise<Address[]> {
  const length = size(attestation)
  if (length === 0 || length % SIGNATURE !== 0)
    throw new RefusedError(`An attestation is signatures of ${SIGNATURE} bytes; this has ${length} bytes.`)
  const hash = keccak256(message)
  const signers: Address[] = []
  for (let at = 0; at < length; at += SIGNATURE) {
    const signer = await recoverAddress({
      hash,
      signature: slice(attestation, at, at + SIGNATURE),
    }).catch(() => zeroAddress)
    const last = signers.at(-1) ?? zeroAddress
    if (isAddressEqual(signer, zeroAddress) || BigInt(signer) <= BigInt(last))
      throw new RefusedError(
        'The signatures of the attestation are not in order, or no signatures of this message.',
      )
    signers.push(signer)
  }
  return signers
}
