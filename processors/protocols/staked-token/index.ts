import { functions as token } from '../../../abi/erc4626/Vault.ts'
import * as StakedToken from '../../../abi/staking/StakedToken.ts'
import { encodeCall } from '../../../abi/words.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { on } from '../../handling/decoder.ts'
import {
  type ContractReader,
  defineProtocol,
  type SampledVault,
  type ShareAmounts,
  type VaultReading,
} from '../../protocol.ts'
import { answered, asAddress, asDecimals, asWord } from '../../samples/answers.ts'
import { balanceOf, figureByFigure, pricesBy, totalSupply } from '../../samples/vault-reading.ts'
import { discovered, rejected } from '../../vaults/verdict.ts'

const VAULT = 'staked-token-vault'

/** Asks a contract whether it is a staked token: it has to name what is staked, and what one share of it pays. */
async function inspectStakedToken(vault: string, reader: ContractReader): Promise<DomainEvent[]> {
  const reject = (reason: string) => rejected(vault, reason)
  const ask = (contract: string, fn: Parameters<typeof encodeCall>[0]) =>
    reader.call(contract, encodeCall(fn))
  const [assetAnswer, decimalsAnswer] = await Promise.all([
    ask(vault, StakedToken.functions.STAKED_TOKEN),
    ask(vault, token.decimals),
  ])
  const asset = answered(assetAnswer, asAddress)
  const decimals = answered(decimalsAnswer, asDecimals)
  if (asset === undefined || decimals === undefined) return reject('it names no staked token and decimals')
  const price = encodeCall(StakedToken.functions.previewRedeem, 10n ** BigInt(decimals))
  const [worth, reward, assetDecimalsAnswer, name, symbol, assetName, assetSymbol, deployment] =
    await Promise.all([
      reader.call(vault, price),
      ask(vault, StakedToken.functions.REWARD_TOKEN),
      ask(asset, token.decimals),
      ask(vault, token.name),
      ask(vault, token.symbol),
      ask(asset, token.name),
      ask(asset, token.symbol),
      reader.deployment(vault),
    ])
  const assetDecimals = answered(assetDecimalsAnswer, asDecimals)
  if (answered(worth, asWord) === undefined || assetDecimals === undefined)
    return reject('what a share pays, or the decimals of what is staked, are not to be had')
  const rewardToken = answered(reward, asAddress)
  return discovered(
    vault,
    {
      protocol: 'staked-token',
      decimals,
      asset,
      assetDecimals,
      ...(rewardToken ? { rewardToken } : {}),
    },
    { name, symbol, assetName, assetSymbol },
    deployment,
  )
}

/** It says what shares pay and not what it holds for them. */
function readStake({ vault, asset }: SampledVault, amounts: ShareAmounts): VaultReading {
  const { whole } = amounts
  const simple = figureByFigure([
    ['totalSupply', totalSupply(vault)],
    ...pricesBy(vault, amounts, shares => encodeCall(StakedToken.functions.previewRedeem, shares)),
    ['idleAssets', balanceOf(asset, vault)],
  ])
  return {
    calls: simple.calls,
    figures: (answers, at) => {
      const figures = simple.figures(answers, at)
      const { totalSupply, sharePrice } = figures
      if (totalSupply === undefined || sharePrice === undefined) return figures
      return { ...figures, totalAssets: (totalSupply * sharePrice) / whole }
    },
  }
}

interface Moved {
  from: string
  to: string
  assets: bigint
  shares: bigint
}
const ledger = 'transfer' as const
const staked = ({ from, to, assets, shares }: Moved) => ({ sender: from, owner: to, assets, shares, ledger })
const redeemed = ({ from, to, assets, shares }: Moved) => ({
  sender: from,
  receiver: to,
  owner: from,
  assets,
  shares,
  ledger,
})

/**
 * Tokens of Aave's safety module (stkAAVE, stkGHO, stkABPT) as vaults, where a fact lists them. They have no ERC-4626: a
 * stake is shares at an exchange rate, which slashing changes. Transfers are those of any vault.
 * @see IStakedTokenV3.sol of aave/aave-stk-gov-v3 (REWARD_TOKEN and RewardsClaimed: StakedTokenV2.sol, which it extends)
 */
export default defineProtocol({
  name: 'staked-token',
  sources: [
    {
      kind: VAULT,
      at: 'discovered',
      transactions: true,
      decoders: [
        on(StakedToken.Staked, 'Deposited', staked),
        on(StakedToken.Redeem, 'Redeemed', redeemed),
        // Of the second version, which knew no slashing: a share was one token.
        on(StakedToken.Staked_2, 'Deposited', a => staked({ ...a, assets: a.amount, shares: a.amount })),
        // No claim's log names the token; REWARD_TOKEN is immutable.
        on(StakedToken.RewardsClaimed, 'RewardClaimed', ({ from, to, amount }, _log, vault) =>
          vault?.rewardToken
            ? { source: 'staked-token', account: from, receiver: to, token: vault.rewardToken, amount }
            : undefined,
        ),
        on(StakedToken.Redeem_2, 'Redeemed', a => redeemed({ ...a, assets: a.amount, shares: a.amount })),
      ],
    },
  ],
  teaches: ['VaultDiscovered'],
  inspect: inspectStakedToken,
  reading: readStake,
  watches: event =>
    event.type === 'VaultDiscovered' && event.data.protocol === 'staked-token'
      ? [{ kind: VAULT, contract: event.data.vault }]
      : [],
})
