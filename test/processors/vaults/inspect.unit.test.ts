import { encodeAbiParameters, encodeFunctionData, parseAbi, stringToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { vocabulary } from '../../../db/events/vocabulary.ts'
import type { ContractReader } from '../../../processors/protocol.ts'
import { inspectVault } from '../../../processors/vaults/inspect.ts'

const VAULT = `0x${'e'.repeat(40)}`
const ASSET = `0x${'a'.repeat(40)}`
const abi = parseAbi([
  'function asset() view returns (address)',
  'function decimals() view returns (uint8)',
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function totalAssets() view returns (uint256)',
  'function convertToAssets(uint256) view returns (uint256)',
  'function supportsInterface(bytes4) view returns (bool)',
  'function cooldownDuration() view returns (uint24)',
])
const call = (name: (typeof abi)[number]['name'], args: (bigint | string)[] = []) =>
  encodeFunctionData({ abi, functionName: name, args: args as never })
const answer = (type: string, value: unknown) => encodeAbiParameters([{ type }], [value as never])

type Answers = Record<string, string | undefined>
const vaultAnswers = (decimals: number): Answers => ({
  [call('asset')]: answer('address', ASSET),
  [call('decimals')]: answer('uint8', decimals),
  [call('name')]: answer('string', 'Savings Dai'),
  [call('symbol')]: answer('string', 'sDAI'),
  [call('totalAssets')]: answer('uint256', 0n),
  [call('convertToAssets', [10n ** BigInt(decimals)])]: answer('uint256', 1n),
})
const assetAnswers: Answers = {
  [call('decimals')]: answer('uint8', 6),
  [call('name')]: answer('string', 'Dai'),
  [call('symbol')]: answer('string', 'DAI'),
}

/** A chain on which the two contracts answer just this. */
function chain(vault: Answers, asset: Answers = assetAnswers, isFound = true): ContractReader {
  return {
    blockNumber: 100,
    troubles: new Map(),
    call: async (contract, data) => (contract === VAULT ? vault : contract === ASSET ? asset : {})[data],
    deployment: async () => (isFound ? { block: 7, timestamp: 1_600_000_000 } : undefined),
  }
}

describe('a contract that answers as a vault is discovered', () => {
  test('with all that it says of itself and its asset', async () => {
    const events = await inspectVault(VAULT, chain(vaultAnswers(18)))
    expect(events).toEqual([
      {
        type: 'VaultDiscovered',
        contract: VAULT,
        data: {
          vault: VAULT,
          protocol: 'erc-4626',
          name: 'Savings Dai',
          symbol: 'sDAI',
          decimals: 18,
          asset: ASSET,
          assetName: 'Dai',
          assetSymbol: 'DAI',
          assetDecimals: 6,
          deployedBlock: 7,
          deployedAt: 1_600_000_000,
          hasCooldown: false,
        },
      },
    ])
    expect(vocabulary.VaultDiscovered.parse(events[0]?.data)).toEqual(events[0]?.data)
  })

  test.each([
    ['0xce3bbe50', { asyncDeposits: true }],
    ['0x620ee8e4', { asyncRedemptions: true }],
  ])('with what is requested and claimed of it (ERC-7540, %s)', async (id, terms) => {
    const answers = { ...vaultAnswers(18), [call('supportsInterface', [id])]: answer('bool', true) }
    const [event] = await inspectVault(VAULT, chain(answers))
    const [other] = await inspectVault(VAULT, chain(vaultAnswers(18)))
    expect(event?.data).toEqual({ ...other?.data, ...terms })
    expect(vocabulary.VaultDiscovered.parse(event?.data)).toEqual(event?.data)
  })

  test.each([0, 604_800])('with its cooldown, also where %i seconds say that none is on', async seconds => {
    const answers = { ...vaultAnswers(18), [call('cooldownDuration')]: answer('uint24', seconds) }
    const [event] = await inspectVault(VAULT, chain(answers))
    expect(event?.data).toMatchObject({ hasCooldown: true })
  })

  test('under the protocol whose factory made it', async () => {
    const hint = {
      type: 'VaultCreated' as const,
      contract: ASSET,
      data: { vault: VAULT, factory: ASSET, protocol: 'yearn' },
    }
    const [event] = await inspectVault(VAULT, chain(vaultAnswers(6)), hint)
    expect(event?.data).toMatchObject({ protocol: 'yearn', decimals: 6 })
  })

  test('without a deployment block where none is to be found: absent, not zero', async () => {
    const [event] = await inspectVault(VAULT, chain(vaultAnswers(18), assetAnswers, false))
    expect(event?.type).toBe('VaultDiscovered')
    expect(Object.keys(event?.data ?? {})).not.toContain('deployedBlock')
  })

  test.each<[string, string | undefined, string]>([
    ['bytes32 (MKR)', stringToHex('MKR', { size: 32 }), 'MKR'],
    ['bytes32 full to the last byte', stringToHex('x'.repeat(32), { size: 32 }), 'x'.repeat(32)],
    ['a string with NUL bytes inside', answer('string', 'MKR\0\0\0 x'), 'MKR x'],
    ['an empty string', answer('string', ''), ''],
    ['nothing at all', undefined, ''],
    ['not ASCII', answer('string', 'Öл 金 🏦'), 'Öл 金 🏦'],
    ['bytes that are not UTF-8', answer('bytes', '0xff41'), '\ufffdA'],
    ['a length beyond its data', `0x${'20'.padStart(64, '0')}${'f'.repeat(64)}`, ''],
    ['256 characters', answer('string', 'n'.repeat(256)), 'n'.repeat(64)],
  ])('whose symbol is %s', async (_, symbol, expected) => {
    const asset = { ...assetAnswers, [call('symbol')]: symbol }
    const [event] = await inspectVault(VAULT, chain({ ...vaultAnswers(18), [call('symbol')]: symbol }, asset))
    expect(event?.data).toMatchObject({ symbol: expected, assetSymbol: expected })
    expect(JSON.stringify(event?.data)).not.toContain('\\u0000')
  })
})

describe('a contract that does not is rejected, with the reason', () => {
  test.each<[string, Answers, Answers, RegExp]>([
    ['no asset()', { [call('asset')]: undefined }, {}, /^asset\(\) does not answer an address/],
    ['asset() is empty', { [call('asset')]: '0x' }, {}, /^asset\(\) does not answer an address/],
    ['asset() is the zero address', { [call('asset')]: answer('uint256', 0n) }, {}, /^asset\(\)/],
    ['asset() is no address', { [call('asset')]: answer('uint256', 2n ** 255n) }, {}, /^asset\(\)/],
    ['asset() is itself', { [call('asset')]: answer('address', VAULT) }, {}, /the vault itself/],
    ['no decimals()', { [call('decimals')]: undefined }, {}, /^decimals\(\)/],
    ['decimals() of 78', { [call('decimals')]: answer('uint256', 78n) }, {}, /78: one share does not fit/],
    ['decimals() of 256', { [call('decimals')]: answer('uint256', 256n) }, {}, /^decimals\(\)/],
    ['no totalAssets()', { [call('totalAssets')]: undefined }, {}, /^totalAssets\(\)/],
    [
      'no convertToAssets()',
      { [call('convertToAssets', [10n ** 18n])]: undefined },
      {},
      /^convertToAssets\(\)/,
    ],
    ['an asset without decimals', {}, { [call('decimals')]: undefined }, /does not say its decimals/],
  ])('%s', async (_, vault, asset, reason) => {
    const events = await inspectVault(
      VAULT,
      chain({ ...vaultAnswers(18), ...vault }, { ...assetAnswers, ...asset }),
    )
    expect(events).toEqual([
      {
        type: 'VaultRejected',
        contract: VAULT,
        data: { vault: VAULT, reason: expect.stringMatching(reason) },
      },
    ])
  })
})
