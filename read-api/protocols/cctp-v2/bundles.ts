import { type Address, encodeFunctionData, type Hex } from 'viem'
import { messageTransmitterAbi, tokenMessengerAbi } from '../../../abi/cctp-v2/calls.ts'
import { MESSAGE_TRANSMITTER, TOKEN_MESSENGER } from '../../../abi/cctp-v2/domains.ts'
import { asWord, FAST, FORWARD_HOOK, STANDARD, ZERO_WORD } from '../../../abi/cctp-v2/message.ts'
import type { ChainReader } from '../../chain/reader.ts'
import { view } from '../../chain/view.ts'
import { InvalidRequestError, RefusedError } from '../../http/errors.ts'
import type { createDryRunner } from '../../transactions/dry-run.ts'
import type { Plan, Token } from '../../transactions/family.ts'
import { type Bundle, createFinisher } from '../../transactions/finish.ts'
import { approvals, units } from '../../transactions/wallet.ts'
import { checkClaim } from './claim.ts'
import { maxFeeOf } from './fees.ts'
import type { Iris } from './iris.ts'
import { assertOpen, assertUsdc, type Route, readSource } from './route.ts'

export interface BridgeRequest {
  route: Route
  user: Address
  recipient: Address
  asset: string
  amount: bigint
  isFast: boolean
  forwarding: boolean
  simulate?: boolean | undefined
  /** Appended to the payload of every action. */
  suffix?: Hex | undefined
}

export interface ClaimRequest {
  route: Route
  user: Address
  message: Hex
  attestation: Hex
  simulate?: boolean | undefined
  suffix?: Hex | undefined
}

interface Parts {
  reader: ChainReader
  dryRun: ReturnType<typeof createDryRunner>
  iris: Iris
}

/** What may be kept of the amount, at most. @throws RefusedError for a way that is not offered */
async function greatestFee(
  { reader, iris }: Pick<Parts, 'reader' | 'iris'>,
  { route, amount, isFast, forwarding }: BridgeRequest,
): Promise<bigint> {
  const { source, destination } = route
  // Of amounts of which it cannot be reckoned the contract says nothing, and refuses them.
  const { values } = await reader.read(
    source.network,
    { least: view(tokenMessengerAbi, TOKEN_MESSENGER, 'getMinFeeAmount', [amount]) },
    { age: 'cached' },
  )
  if (values.least === undefined) throw new RefusedError(`${amount} base units are too few for the bridge.`)
  const { least } = values
  if (!isFast && !forwarding) return maxFeeOf(amount, { least })
  const fees = await iris.fees(source.domain, destination.domain, forwarding)
  const fee = isFast ? fees.fast : fees.standard
  const way = `from ${source.network} to ${destination.network}`
  if (!fee) throw new RefusedError(`${isFast ? 'Fast' : 'Standard'} transfers ${way} are not offered now.`)
  if (forwarding && (fee.forwarding === undefined || !destination.takesForwarding))
    throw new RefusedError(`Forwarding ${way} is not offered: leave useForwarding out and claim.`)
  return maxFeeOf(amount, {
    fast: isFast ? fee.bps : undefined,
    forwarding: forwarding ? fee.forwarding : undefined,
    least,
  })
}

/** Transactions that burn on the source and mint on the destination: run on the newest state before they leave. */
export function createBridgeBundles({ reader, dryRun, iris }: Parts) {
  const finish = createFinisher(dryRun)

  async function bridge(request: BridgeRequest): Promise<Bundle & { block: bigint }> {
    const { route, user, asset, amount } = request
    assertUsdc(route, asset)
    const standing = await readSource(reader, route, user)
    assertOpen(route, standing)
    const { balance = 0n, allowance = 0n, limit = 0n } = standing
    const token = tokenOf(route, standing)
    if (amount === 0n) throw new RefusedError('There is nothing to do: the amount is 0.')
    if (amount > limit)
      throw new RefusedError(
        `The bridge burns ${units(limit, token)} at once at most, less than the ${amount} asked for.`,
      )
    if (amount > balance)
      throw new RefusedError(`The wallet holds ${units(balance, token)}, less than the ${amount} asked for.`)
    const maxFee = await greatestFee({ reader, iris }, request)
    if (amount <= maxFee)
      throw new RefusedError(
        `Up to ${units(maxFee, token)} may be kept as a fee: the amount must be more than that.`,
      )
    const data = burnCall(request, maxFee)
    return finish({
      network: route.source.network,
      chainId: route.source.chainId,
      user,
      action: 'bridge',
      block: standing.block.number,
      tokens: [token],
      plan: ({ resetAllowance }): Plan => ({
        actions: [
          ...approvals(token.address, TOKEN_MESSENGER, amount, { reset: resetAllowance && allowance > 0n }),
          { name: 'bridge', to: TOKEN_MESSENGER, data },
        ],
        currentActionIndex: allowance >= amount ? 1 : 0,
        gains: [],
      }),
      simulate: request.simulate,
      suffix: request.suffix,
    })
  }

  async function claim(request: ClaimRequest): Promise<Bundle & { block: bigint }> {
    const { route, user, message, attestation } = request
    const block = await checkClaim(reader, request)
    const { network, chainId, usdc } = route.destination
    return finish({
      network,
      chainId,
      user,
      action: 'claim',
      block,
      tokens: [{ address: usdc, symbol: 'USDC', decimals: 6 }],
      plan: () => ({
        actions: [
          {
            name: 'claim',
            to: MESSAGE_TRANSMITTER,
            data: encodeFunctionData({
              abi: messageTransmitterAbi,
              functionName: 'receiveMessage',
              args: [message, attestation],
            }),
          },
        ],
        currentActionIndex: 0,
        gains: [],
      }),
      simulate: request.simulate,
      suffix: request.suffix,
    })
  }

  return { bridge, claim }
}

function burnCall({ route, recipient, amount, isFast, forwarding }: BridgeRequest, maxFee: bigint): Hex {
  const { source, destination } = route
  const args = [
    amount,
    destination.domain,
    asWord(recipient),
    source.usdc,
    ZERO_WORD,
    maxFee,
    isFast ? FAST : STANDARD,
  ] as const
  return forwarding
    ? encodeFunctionData({
        abi: tokenMessengerAbi,
        functionName: 'depositForBurnWithHook',
        args: [...args, FORWARD_HOOK],
      })
    : encodeFunctionData({ abi: tokenMessengerAbi, functionName: 'depositForBurn', args })
}

const tokenOf = (
  { source }: Route,
  { symbol = 'USDC', decimals = 6 }: { symbol?: string | undefined; decimals?: number | undefined },
): Token => ({ address: source.usdc, symbol, decimals })

/** @throws InvalidRequestError where an action lacks what it needs, or has what it does not take */
export function assertGiven(
  action: string,
  given: Record<string, unknown>,
  { needs, refuses }: { needs: readonly string[]; refuses: readonly string[] },
): void {
  const missing = needs.filter(name => given[name] === undefined)
  const alien = refuses.filter(name => given[name] !== undefined)
  if (missing.length > 0) throw new InvalidRequestError(`${action} needs ${missing.join(' and ')}.`)
  if (alien.length > 0) throw new InvalidRequestError(`${action} takes no ${alien.join(' and no ')}.`)
}
