import {
  type Address,
  encodeDeployData,
  getContractAddress,
  type Hex,
  pad,
  stringToHex,
  toHex,
  zeroHash,
} from 'viem'
import type { Call } from '../chain/node.ts'
import { morphoCallsOf } from './markets.ts'
import { hostileContract, type Stage } from './stage.ts'
import { everyTopic } from './topics.ts'

/** What came of a stranger: its contracts, and what it does on each day after. */
export interface Arrived {
  contracts: readonly Address[]
  act(day: number): Call[]
}

/** What is tried; each family is a check of its own in the fault suite. */
export const FAMILIES = [
  'long answers',
  'dear calls',
  'words',
  'numbers',
  'lies',
  'strange assets',
  'change',
  'logs',
  'crowds',
] as const
type Family = (typeof FAMILIES)[number]

export interface Stranger {
  name: string
  family: Family
  come(stage: Stage): Arrived
}

/** Of the token that most of them say to hold. */
const usdc = (stage: Stage) => stage.world.assets.USDC.token.address

/** One contract that logs a deposit every day. */
const single = (
  family: Family,
  name: string,
  contract: string,
  args: (stage: Stage) => readonly unknown[],
): Stranger => ({
  name,
  family,
  come(stage) {
    const address = stage.deploy(contract, ...args(stage))
    return { contracts: [address], act: () => [stage.call('Impostor', address, 'act')] }
  },
})

const named = (name: string, said: Hex, raw = false): Stranger =>
  single('words', name, 'Named', stage => [usdc(stage), said, raw])

const MB = 1_000_000n

/** Where `Rebirth` bears its vaults. */
function bornAt(from: Address, asset: Address): Address {
  const bytecode = encodeDeployData({ ...hostileContract('Mortal'), args: [asset] })
  return getContractAddress({ opcode: 'CREATE2', from, salt: zeroHash, bytecode }).toLowerCase() as Address
}

/** `scale` 1: all of it; less for fewer logs and fewer contracts of those that come in crowds. */
export const strangersOf = (scale: number): readonly Stranger[] => [
  single('long answers', 'words of 10 MB', 'LongAnswers', stage => [usdc(stage), 10n * MB]),
  single('long answers', 'words of 2.5 MB', 'LongAnswers', stage => [usdc(stage), 2_500_000n]),
  single('long answers', '1 MB to every call', 'LongAnswersToAll', stage => [usdc(stage), MB]),
  ...[
    'an invalid opcode',
    'more memory than gas pays for',
    'an endless loop',
    'a revert with 1 MB',
    'hashing until the gas is gone',
    'a stack that overflows',
    'calls of itself without end',
  ].flatMap((how, i) => [
    single('dear calls', `${how}, asked for its name`, 'SpendsGas', stage => [usdc(stage), BigInt(i), 0n]),
    single('dear calls', `${how}, asked for its state`, 'SpendsGas', stage => [usdc(stage), BigInt(i), 1n]),
  ]),
  single('dear calls', 'an endless loop, whatever is asked', 'SpendsGas', stage => [usdc(stage), 2n, 2n]),
  single('dear calls', 'well-behaved for 20 blocks, then an endless loop', 'TurnsBad', stage => [
    usdc(stage),
    2n,
  ]),
  single('dear calls', 'well-behaved for 20 blocks, then reverts with 1 MB', 'TurnsBad', stage => [
    usdc(stage),
    3n,
  ]),
  {
    name: 'a token whose balances cost all gas, as the asset of twelve vaults',
    family: 'dear calls',
    come(stage) {
      const vaults = Array.from({ length: 12 }, (_, i) => {
        const token = stage.deploy('DearToken', i % 2 === 0 ? 2n : 4n)
        return stage.deploy('Impostor', token)
      })
      return { contracts: vaults, act: () => vaults.map(vault => stage.call('Impostor', vault, 'act')) }
    },
  },
  named('a name that is no UTF-8', '0xff00fe80c0afeda080f4908080'),
  named('a name with NUL and control characters', stringToHex('Nu\0l\u0007\u001b[2J')),
  named('a name that turns the text about', stringToHex('\u202eCDSU\u202c\u200b\u2066x\u2069\ufeff')),
  named('a name that is a script', stringToHex('"><script>alert(1)</script>')),
  named('a name of 23 kB', toHex('x'.repeat(23_000))),
  named('a name as 32 bytes', pad(stringToHex('MKR'), { dir: 'right' }), true),
  named('a name that says it is 2^256 - 1 long', `0x${'20'.padStart(64, '0')}${'f'.repeat(64)}`, true),
  named('a name that begins beyond its end', `0x${'f'.repeat(64)}${'00'.repeat(32)}`, true),
  named('an empty answer for a name', '0x', true),
  ...[
    'asset() of 31 bytes',
    'asset() with a byte above the address',
    'decimals() with a high bit',
    '255 decimals',
    'decimals that change with the block',
    '77 decimals',
    'totalAssets() of 31 bytes',
    '2^256 - 1 of everything',
    'totalSupply() of 31 bytes',
    'a share price by chance',
    'a share price of zero',
  ].map((how, i) => single('numbers', how, 'OddWords', stage => [usdc(stage), BigInt(i)])),
  single('numbers', 'yes to everything', 'YesToAll', stage => [usdc(stage)]),
  {
    name: 'a vault rich by its own word, under another’s name, with 2,000 invented holders and airdrops',
    family: 'lies',
    come(stage) {
      const address = stage.deploy('RichByItsWord', usdc(stage), 'Demo USDC Vault', 'dvUSDC')
      const { users } = stage.world.actors
      return {
        contracts: [address],
        act: day => [
          stage.call('Impostor', address, 'act'),
          stage.call('RichByItsWord', address, 'airdrop', users.slice(0, 40)),
          ...(day === 1 || day === 3
            ? [stage.call('RichByItsWord', address, 'invent', BigInt(day * 10_000), 1000n)]
            : []),
        ],
      }
    },
  },
  single('lies', 'a supply that its logs contradict, and deposits for nobody', 'LiesAboutSupply', stage => [
    usdc(stage),
  ]),
  single('change', 'another asset at every block', 'FickleAsset', stage => [
    usdc(stage),
    stage.world.assets.WETH.token.address,
  ]),
  {
    name: 'a vault whose asset is itself',
    family: 'strange assets',
    come(stage) {
      const address = stage.deploy('AssetOfChoice')
      stage.send(stage.call('AssetOfChoice', address, 'choose', address))
      return { contracts: [address], act: () => [stage.call('Impostor', address, 'act')] }
    },
  },
  {
    name: 'two vaults, each the asset of the other',
    family: 'strange assets',
    come(stage) {
      const [one, other] = [stage.deploy('AssetOfChoice'), stage.deploy('AssetOfChoice')]
      stage.send(
        stage.call('AssetOfChoice', one, 'choose', other),
        stage.call('AssetOfChoice', other, 'choose', one),
      )
      return {
        contracts: [one, other],
        act: () => [one, other].map(vault => stage.call('Impostor', vault, 'act')),
      }
    },
  },
  single('strange assets', 'a vault over the share of an honest one', 'Impostor', stage => [
    stage.world.vaults.usdc.address,
  ]),
  ...[2, 3, 4].map(n =>
    single('strange assets', `a vault whose asset is precompile ${n}`, 'Impostor', () => [
      pad(toHex(n), { size: 20 }),
    ]),
  ),
  single('lies', 'good in simulation only', 'GoodInSimulation', stage => [usdc(stage)]),
  single('lies', 'a mirror of an honest vault', 'Mirror', stage => [stage.world.vaults.usdc.address]),
  single('lies', 'figures that are the gas that is left', 'TellsItsGas', stage => [usdc(stage)]),
  single('lies', 'rewards in any token, each named like a known one', 'PaysAnything', stage => [usdc(stage)]),
  {
    name: 'ten vaults whose every answer costs a little less gas than it may',
    family: 'dear calls',
    come(stage) {
      const vaults = Array.from({ length: 10 }, () => stage.deploy('JustBelow', usdc(stage)))
      return { contracts: vaults, act: () => vaults.map(vault => stage.call('Impostor', vault, 'act')) }
    },
  },
  {
    name: 'a proxy that becomes an endless loop, and back',
    family: 'change',
    come(stage) {
      const good = stage.deploy('AssetOfChoice')
      const bad = stage.deploy('SpendsGas', usdc(stage), 2n, 1n)
      const proxy = stage.deploy('Changeling', good)
      stage.send(stage.call('AssetOfChoice', proxy, 'choose', usdc(stage)))
      return {
        contracts: [proxy, good, bad],
        act: day => [
          stage.call('Impostor', proxy, 'act'),
          stage.call('Changeling', proxy, 'change', day % 4 < 2 ? bad : good),
        ],
      }
    },
  },
  {
    name: 'a vault that dies, and another at its address',
    family: 'change',
    come(stage) {
      const nest = stage.deploy('Rebirth')
      stage.send(stage.call('Rebirth', nest, 'bear', usdc(stage)))
      const mortal = bornAt(nest, usdc(stage))
      return {
        contracts: [mortal],
        act: day =>
          day % 3 === 2
            ? [stage.call('Mortal', mortal, 'die')]
            : [stage.call('Rebirth', nest, 'bear', usdc(stage)), stage.call('Impostor', mortal, 'act')],
      }
    },
  },
  {
    name: 'collectibles: transfers of ERC-721 from a vault',
    family: 'logs',
    come(stage) {
      const address = stage.deploy('Chatter', usdc(stage))
      return {
        contracts: [address],
        act: () => [
          stage.call('Impostor', address, 'act'),
          stage.call('Chatter', address, 'collectibles', 300n),
        ],
      }
    },
  },
  {
    name: 'thousands of logs in one block',
    family: 'logs',
    come(stage) {
      const address = stage.deploy('Chatter', usdc(stage))
      return {
        contracts: [address],
        act: day => [
          stage.call('Impostor', address, 'act'),
          ...(day % 8 === 2 ? [stage.call('Chatter', address, 'transfers', BigInt(16_000 * scale))] : []),
        ],
      }
    },
  },
  {
    name: 'every known log of every protocol, from a vault and from nobody',
    family: 'logs',
    come(stage) {
      const vault = stage.deploy('Chatter', usdc(stage))
      const nobody = stage.deploy('Chatter', usdc(stage))
      const logs = everyTopic(stage.world.vaults.usdc.address)
      return {
        contracts: [vault, nobody],
        act: day => [
          stage.call('Impostor', vault, 'act'),
          ...(day % 4 === 1
            ? [vault, nobody].map(at =>
                stage.call(
                  'Chatter',
                  at,
                  'emitLogs',
                  logs.map(({ topics }) => topics),
                  logs.map(({ data }) => data),
                ),
              )
            : []),
        ],
      }
    },
  },
  {
    name: 'a hundred and fifty vaults in one block',
    family: 'crowds',
    come(stage) {
      const crowd = stage.deploy('Crowd')
      stage.send(...[1, 2, 3].map(() => stage.call('Crowd', crowd, 'grow', usdc(stage), BigInt(50 * scale))))
      return {
        contracts: [crowd],
        act: day => (day % 6 === 1 ? [stage.call('Crowd', crowd, 'act')] : []),
      }
    },
  },
  {
    name: 'a hundred vaults, each the asset of the next',
    family: 'crowds',
    come(stage) {
      const crowd = stage.deploy('Crowd')
      stage.send(...[1, 2].map(() => stage.call('Crowd', crowd, 'nest', usdc(stage), BigInt(50 * scale))))
      return {
        contracts: [crowd],
        act: day => (day % 6 === 2 ? [stage.call('Crowd', crowd, 'act')] : []),
      }
    },
  },
  {
    name: 'lending markets of tokens that misbehave',
    family: 'strange assets',
    come(stage) {
      const tokens = [
        stage.deploy('DearToken', 2n),
        stage.deploy('LongAnswers', usdc(stage), 10n * MB),
        stage.deploy('LongAnswersToAll', usdc(stage), 1_000_000n),
        stage.deploy('Named', usdc(stage), stringToHex('\u202eCDSU'), false),
        stage.deploy('SpendsGas', usdc(stage), 3n, 2n),
        stage.deploy('OddWords', usdc(stage), 3n),
      ]
      const markets = morphoCallsOf(stage)
      return {
        contracts: tokens,
        act: day => {
          const token = tokens[day - 1]
          return token ? markets(token) : []
        },
      }
    },
  },
  single('lies', 'another answer to each caller, and by the gas that is left', 'AnswersByCaller', stage => [
    usdc(stage),
    stage.world.vaults.usdc.address,
  ]),
  {
    name: 'a token whose decimals and symbol change by the day, as the asset of three vaults',
    family: 'strange assets',
    come(stage) {
      const token = stage.deploy('FickleToken')
      const vaults = [1, 2, 3].map(() => stage.deploy('Impostor', token))
      // One is met each day.
      return {
        contracts: [token, ...vaults],
        act: day => vaults.slice(0, day).map(vault => stage.call('Impostor', vault, 'act')),
      }
    },
  },
  {
    name: 'a token that another stranger makes dear later, as the asset of six vaults',
    family: 'change',
    come(stage) {
      const good = stage.deploy('FickleToken')
      const dear = stage.deploy('DearToken', 2n)
      const proxy = stage.deploy('Changeling', good)
      const vaults = Array.from({ length: 6 }, () => stage.deploy('Impostor', proxy))
      return {
        contracts: [proxy, ...vaults],
        act: day => [
          ...vaults.map(vault => stage.call('Impostor', vault, 'act')),
          stage.call('Changeling', proxy, 'change', day % 4 < 2 ? good : dear),
        ],
      }
    },
  },
  {
    name: 'vaults that live for one transaction',
    family: 'change',
    come(stage) {
      const nest = stage.deploy('Mayflies')
      return {
        contracts: [nest],
        act: () => [stage.call('Mayflies', nest, 'act', usdc(stage), 10n)],
      }
    },
  },
  {
    name: 'logs of known names with topics and data that nobody expects, and of 1 MB each',
    family: 'logs',
    come(stage) {
      const address = stage.deploy('Misshapen', usdc(stage))
      return {
        contracts: [address],
        act: day => [
          stage.call('Impostor', address, 'act'),
          ...(day % 5 === 2 ? [stage.call('Misshapen', address, 'heavy', 6n, MB)] : []),
        ],
      }
    },
  },
]

export const strangers = strangersOf(1)
