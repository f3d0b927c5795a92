import { AccountRole, type Address, address, type Instruction, type KeyPairSigner } from '@solana/kit'
import type { TestChain } from './chain.ts'
import {
  anyAddress,
  bytesOf,
  derived,
  derivedWithBump,
  describeMint,
  SYSTEM,
  setMint,
  setTokens,
  TOKEN_PROGRAM,
  tagOf,
  tokenAccountOf,
} from './tokens.ts'

/** A vault of the tests' own program, with reserves and a farm, set up and used as the published interfaces have it. */

export const VAULTS = address('KvauGMspG5k6rtzrqqn7WNn3oZdyKqLKwK2XWQ8FLjd')
export const LENDING = address('KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD')
export const FARMS = address('FarmsPZpWu9i7Kky8tPN37rs2TpmMrAZrC7S7vJa91Hr')
const INSTRUCTIONS = address('Sysvar1nstructions1111111111111111111111111')
const RENT = address('SysvarRent111111111111111111111111111111111')
const { READONLY, WRITABLE, READONLY_SIGNER, WRITABLE_SIGNER } = AccountRole
/** Of a number with 60 fractional bits. */
const wholeAt = (data: Buffer, at: number) =>
  (data.readBigUInt64LE(at) >> 60n) | (data.readBigUInt64LE(at + 8) << 4n)
const grow = (data: Buffer, at: number, by: bigint) =>
  void data.writeBigUInt64LE(data.readBigUInt64LE(at) + by, at)
const SCALE = 10n ** 18n
export const ALL = 2n ** 64n - 1n

/** Places of fields. @see npm @kamino-finance/klend-sdk 8.0.2, kvault.json, klend.json; farms-sdk 4.0.1, accounts */
const VAULT = { available: 224, issued: 232, allocations: 312, allocation: 2_160, ctokens: 1_104 } as const
const RESERVE = { size: 8_624, available: 224, borrowed: 232, ctokenSupply: 2_592 } as const
const FARM = {
  size: 8_336,
  mint: 72,
  decimals: 104,
  tokenProgram: 112,
  vault: 7_256,
  authority: 7_288,
  bump: 7_320,
  prices: 7_568,
} as const
const STAKE = { active: 408, unstaked: 448 } as const

export interface TestReserve {
  at: Address
  market: Address
  marketAuthority: Address
  supply: Address
  ctokenMint: Address
  ctokenVault: Address
}

export interface KaminoOptions {
  reserves?: number
  hasFarm?: boolean
  decimals?: number
  /** An asset that is there; absent: one is made. */
  mint?: Address
}

const suppliedOf = (reserve: Buffer): bigint =>
  reserve.readBigUInt64LE(RESERVE.available) + wholeAt(reserve, RESERVE.borrowed)

interface State {
  available: bigint
  issued: bigint
  invested: [ctokens: bigint, supplied: bigint, supply: bigint][]
}

type Accounts = Record<
  | 'vault'
  | 'mint'
  | 'tokenVault'
  | 'authority'
  | 'shareMint'
  | 'settings'
  | 'events'
  | 'farm'
  | 'farmVault'
  | 'farmAuthority',
  Address
>

export class TestKamino {
  readonly chain: TestChain
  readonly is: Accounts
  readonly reserves: TestReserve[] = []
  private readonly decimals: number
  private readonly farmBump: number

  private constructor(chain: TestChain, is: Accounts, decimals: number, farmBump: number) {
    this.chain = chain
    this.is = is
    this.decimals = decimals
    this.farmBump = farmBump
  }

  static async create(
    chain: TestChain,
    { reserves = 2, hasFarm = true, decimals = 6, mint }: KaminoOptions = {},
  ): Promise<TestKamino> {
    chain.addProgram(VAULTS, 'kamino')
    chain.addProgram(LENDING, 'kamino', VAULTS)
    chain.addProgram(FARMS, 'kamino')
    const [vault, asset, farm] = [await anyAddress(), mint ?? (await anyAddress()), await anyAddress()]
    const of = (word: string) => derived(VAULTS, word, vault)
    const shareMint = await of('shares')
    const [farmAuthority, farmBump] = await derivedWithBump(FARMS, 'authority', farm)
    const made = new TestKamino(
      chain,
      {
        vault,
        mint: asset,
        farm,
        shareMint,
        tokenVault: await of('token_vault'),
        authority: await of('authority'),
        settings: await derived(VAULTS, 'global_config'),
        events: await derived(VAULTS, '__event_authority'),
        farmVault: await derived(FARMS, 'fvault', farm, shareMint),
        farmAuthority,
      },
      decimals,
      farmBump,
    )
    if (!mint) made.makeMint(asset, made.is.authority)
    made.makeMint(shareMint, made.is.authority)
    made.fund(made.is.tokenVault, asset, made.is.authority, 0n)
    const settings = Buffer.concat([tagOf('account:GlobalConfig'), Buffer.alloc(1_024)])
    chain.setAccount(made.is.settings, VAULTS, settings)
    for (let i = 0; i < reserves; i++) made.reserves.push(await made.makeReserve())
    made.makeVault(hasFarm)
    if (hasFarm) made.makeFarm()
    return made
  }

  private makeMint(mint: Address, authority: Address): void {
    setMint(this.chain, mint, authority, { decimals: this.decimals })
  }

  private async makeReserve(): Promise<TestReserve> {
    const [at, market] = [await anyAddress(), await anyAddress()]
    const [supply, ctokenMint] = [await anyAddress(), await anyAddress()]
    const [marketAuthority, bump] = await derivedWithBump(LENDING, 'lma', market)
    const ctokenVault = await derived(VAULTS, 'ctoken_vault', this.is.vault, at)
    this.makeMint(ctokenMint, marketAuthority)
    this.fund(supply, this.is.mint, marketAuthority, 0n)
    this.fund(ctokenVault, ctokenMint, this.is.authority, 0n)
    const settings = Buffer.alloc(4_664)
    tagOf('account:LendingMarket').copy(settings, 0)
    settings[8] = 1
    settings[16] = bump
    this.chain.setAccount(market, LENDING, settings)
    const data = Buffer.alloc(RESERVE.size)
    tagOf('account:Reserve').copy(data, 0)
    data.writeBigUInt64LE(BigInt(this.chain.slot), 16)
    bytesOf(market).copy(data, 32)
    bytesOf(this.is.mint).copy(data, 128)
    bytesOf(supply).copy(data, 160)
    bytesOf(ctokenMint).copy(data, 2_560)
    // Nobody pays before 50 %, and everybody 20 % a year at 100 %.
    const curve = [[0, 0], [5_000, 0], ...Array.from({ length: 9 }, () => [10_000, 2_000])]
    for (const [i, [utilization = 0, rate = 0]] of curve.entries()) {
      data.writeUInt32LE(utilization, 4_920 + 8 * i)
      data.writeUInt32LE(rate, 4_924 + 8 * i)
    }
    this.chain.setAccount(at, LENDING, data)
    return { at, market, marketAuthority, supply, ctokenMint, ctokenVault }
  }

  private makeVault(hasFarm: boolean): void {
    const { is } = this
    const data = Buffer.alloc(62_552)
    tagOf('account:VaultState').copy(data, 0)
    const keys = { 40: is.authority, 80: is.mint, 120: is.tokenVault, 152: TOKEN_PROGRAM, 184: is.shareMint }
    for (const [at, key] of Object.entries(keys)) bytesOf(key).copy(data, Number(at))
    if (hasFarm) bytesOf(is.farm).copy(data, 58_600)
    data.writeBigUInt64LE(BigInt(this.decimals), 112)
    data.writeBigUInt64LE(BigInt(this.decimals), 216)
    data.write('Steady', 58_528)
    this.chain.setAccount(is.vault, VAULTS, data)
    this.allocate()
  }

  /** Names the reserves in the vault's account. */
  allocate(): void {
    this.patch(this.is.vault, data => {
      for (const [i, { at, ctokenVault }] of this.reserves.entries()) {
        bytesOf(at).copy(data, VAULT.allocations + i * VAULT.allocation)
        bytesOf(ctokenVault).copy(data, VAULT.allocations + i * VAULT.allocation + 32)
      }
    })
  }

  private makeFarm(): void {
    const { farm, shareMint, farmVault, farmAuthority } = this.is
    const data = Buffer.alloc(FARM.size)
    tagOf('account:FarmState').copy(data, 0)
    bytesOf(shareMint).copy(data, FARM.mint)
    data.writeBigUInt64LE(BigInt(this.decimals), FARM.decimals)
    bytesOf(TOKEN_PROGRAM).copy(data, FARM.tokenProgram)
    bytesOf(farmVault).copy(data, FARM.vault)
    bytesOf(farmAuthority).copy(data, FARM.authority)
    data.writeBigUInt64LE(BigInt(this.farmBump), FARM.bump)
    // No prices decide what is staked.
    data.writeBigUInt64LE(ALL, FARM.prices)
    this.chain.setAccount(farm, FARMS, data)
    this.fund(farmVault, shareMint, farmAuthority, 0n)
  }

  /** Puts a token account there, with tokens of nowhere. */
  fund(account: Address, mint: Address, owner: Address, amount: bigint): void {
    setTokens(this.chain, account, { mint, owner, amount })
  }

  /** A wallet's accounts of asset and share. */
  async open(owner: Address, assets: bigint): Promise<void> {
    this.fund(await tokenAccountOf(owner, this.is.mint), this.is.mint, owner, assets)
    this.fund(await tokenAccountOf(owner, this.is.shareMint), this.is.shareMint, owner, 0n)
  }

  describe(mint: Address, name: string, symbol: string): Promise<void> {
    return describeMint(this.chain, mint, this.is.authority, name, symbol)
  }

  data(at: Address): Buffer {
    const found = this.chain.svm.getAccount(at)
    return found.exists ? Buffer.from(found.data) : Buffer.alloc(0)
  }

  amountOf(account: Address): bigint {
    const data = this.data(account)
    return data.length > 0 ? data.readBigUInt64LE(64) : 0n
  }

  /** Changes bytes of an account, its owner as before. */
  patch(at: Address, change: (data: Buffer) => void, owner?: Address): void {
    const found = this.chain.svm.getAccount(at)
    if (!found.exists) throw new TypeError(`there is no account ${at}`)
    const data = Buffer.from(found.data)
    change(data)
    this.chain.setAccount(at, owner ?? found.programAddress, data)
  }

  private addTokens(account: Address, amount: bigint): void {
    this.patch(account, data => grow(data, 64, amount))
  }

  /** As who cares for the vault does: what lies idle goes into a reserve, at its rate. */
  invest({ at, supply, ctokenVault, ctokenMint }: TestReserve, assets: bigint): void {
    const reserve = this.data(at)
    const [supplied, ctokens] = [suppliedOf(reserve), reserve.readBigUInt64LE(RESERVE.ctokenSupply)]
    const minted = supplied === 0n || ctokens === 0n ? assets : (assets * ctokens) / supplied
    this.addTokens(this.is.tokenVault, -assets)
    this.addTokens(supply, assets)
    this.addTokens(ctokenVault, minted)
    this.patch(ctokenMint, data => grow(data, 36, minted))
    this.patch(at, data => {
      grow(data, RESERVE.available, assets)
      grow(data, RESERVE.ctokenSupply, minted)
      data.writeBigUInt64LE(BigInt(this.chain.slot), 16)
    })
    const place =
      VAULT.allocations + this.reserves.findIndex(each => each.at === at) * VAULT.allocation + VAULT.ctokens
    this.patch(this.is.vault, data => {
      grow(data, VAULT.available, -assets)
      grow(data, place, minted)
    })
  }

  /** Interest that was paid. */
  earn({ at, supply }: TestReserve, assets: bigint): void {
    this.addTokens(supply, assets)
    this.patch(at, data => grow(data, RESERVE.available, assets))
  }

  /** Some of what is there goes to borrowers; their debt grows from the running slot on. */
  lend({ at, supply }: TestReserve, assets: bigint): void {
    this.addTokens(supply, -assets)
    this.patch(at, data => {
      grow(data, RESERVE.available, -assets)
      const borrowed = wholeAt(data, RESERVE.borrowed) + assets
      data.writeBigUInt64LE((borrowed << 60n) & ALL, RESERVE.borrowed)
      data.writeBigUInt64LE(borrowed >> 4n, RESERVE.borrowed + 8)
      data.writeBigUInt64LE(BigInt(this.chain.slot), 16)
    })
  }

  /** What the vault's account and its reserves say, as they stand: whole base units. */
  state(): State {
    const data = this.data(this.is.vault)
    return {
      available: data.readBigUInt64LE(VAULT.available),
      issued: data.readBigUInt64LE(VAULT.issued),
      invested: this.reserves.map(({ at }, i) => {
        const reserve = this.data(at)
        const ctokens = data.readBigUInt64LE(VAULT.allocations + i * VAULT.allocation + VAULT.ctokens)
        return [ctokens, suppliedOf(reserve), reserve.readBigUInt64LE(RESERVE.ctokenSupply)]
      }),
    }
  }

  /** All of it, with 60 fractional bits: what is invested is rounded down to them. */
  worth(): bigint {
    const { available, invested } = this.state()
    return invested.reduce(
      (sum, [ctokens, supplied, supply]) =>
        sum + (supply === 0n ? 0n : ((ctokens << 60n) * supplied) / supply),
      available << 60n,
    )
  }

  stakeAccountOf = (owner: Address): Promise<Address> => derived(FARMS, 'user', this.is.farm, owner)

  /** Shares of a wallet: in its token account, and in the farm by the farm's own account. */
  async sharesOf(owner: Address): Promise<{ held: bigint; staked: bigint }> {
    const stake = this.data(await this.stakeAccountOf(owner))
    const scaled = (at: number) => stake.readBigUInt64LE(at) + (stake.readBigUInt64LE(at + 8) << 64n)
    return {
      held: this.amountOf(await tokenAccountOf(owner, this.is.shareMint)),
      staked: stake.length === 0 ? 0n : (scaled(STAKE.active) + scaled(STAKE.unstaked)) / SCALE,
    }
  }

  async deposit(
    user: KeyPairSigner,
    assets: bigint,
    name: 'deposit' | 'buy' = 'deposit',
  ): Promise<Instruction> {
    const { vault, tokenVault, mint, authority, shareMint } = this.is
    return this.act(VAULTS, name, [assets], user, [
      [WRITABLE_SIGNER, user.address],
      [WRITABLE, vault, tokenVault],
      [READONLY, mint, authority],
      [WRITABLE, shareMint, ...(await this.walletOf(user))],
      [READONLY, LENDING, TOKEN_PROGRAM, TOKEN_PROGRAM, this.is.events, VAULTS],
      ...this.remaining(),
    ])
  }

  /** Of what lies idle and, where a reserve is named, what it pays. */
  async withdraw(
    user: KeyPairSigner,
    shares: bigint,
    reserve?: TestReserve,
    name: 'withdraw' | 'sell' = 'withdraw',
  ): Promise<Instruction> {
    const { vault, settings, tokenVault, mint, authority, shareMint, events } = this.is
    const [tokens, held] = await this.walletOf(user)
    const told = [READONLY, events, VAULTS] as const
    return this.act(VAULTS, reserve ? name : 'withdraw_from_available', [shares], user, [
      [READONLY_SIGNER, user.address],
      [WRITABLE, vault],
      [READONLY, settings],
      [WRITABLE, tokenVault],
      [READONLY, authority],
      [WRITABLE, tokens, mint, held, shareMint],
      [READONLY, TOKEN_PROGRAM, TOKEN_PROGRAM, LENDING],
      told,
      ...(reserve
        ? ([
            [WRITABLE, vault, reserve.at, reserve.ctokenVault],
            [READONLY, reserve.market, reserve.marketAuthority],
            [WRITABLE, reserve.supply, reserve.ctokenMint],
            [READONLY, TOKEN_PROGRAM, INSTRUCTIONS],
            told,
          ] as const)
        : []),
      ...this.remaining(),
    ])
  }

  async initializeUser(user: KeyPairSigner): Promise<Instruction> {
    return this.act(FARMS, 'initialize_user', [], user, [
      [WRITABLE_SIGNER, user.address, user.address],
      [READONLY, user.address, user.address],
      [WRITABLE, await this.stakeAccountOf(user.address), this.is.farm],
      [READONLY, SYSTEM, RENT],
    ])
  }

  async stake(user: KeyPairSigner, shares = ALL): Promise<Instruction> {
    const { farm, farmVault, shareMint } = this.is
    const [, held] = await this.walletOf(user)
    return this.act(FARMS, 'stake', [shares], user, [
      [READONLY_SIGNER, user.address],
      [WRITABLE, await this.stakeAccountOf(user.address), farm, farmVault, held],
      [READONLY, shareMint, FARMS, TOKEN_PROGRAM],
    ])
  }

  /** Both steps: the shares are in the wallet then. */
  async unstake(user: KeyPairSigner, shares: bigint): Promise<Instruction[]> {
    const { farm, farmVault, farmAuthority } = this.is
    const [stakeAccount, [, held]] = [await this.stakeAccountOf(user.address), await this.walletOf(user)]
    const scaled = shares * SCALE
    return [
      this.act(FARMS, 'unstake', [scaled & ALL, scaled >> 64n], user, [
        [WRITABLE_SIGNER, user.address],
        [WRITABLE, stakeAccount, farm],
        [READONLY, FARMS],
      ]),
      this.act(FARMS, 'withdraw_unstaked_deposits', [], user, [
        [WRITABLE_SIGNER, user.address],
        [WRITABLE, stakeAccount, farm, held, farmVault],
        [READONLY, farmAuthority, TOKEN_PROGRAM],
      ]),
    ]
  }

  async walletOf({ address: owner }: KeyPairSigner): Promise<[Address, Address]> {
    return [await tokenAccountOf(owner, this.is.mint), await tokenAccountOf(owner, this.is.shareMint)]
  }

  private remaining(): (readonly [AccountRole, ...Address[]])[] {
    return [
      [WRITABLE, ...this.reserves.map(({ at }) => at)],
      [READONLY, ...this.reserves.map(({ market }) => market)],
    ]
  }

  act(
    programAddress: Address,
    name: string,
    words: readonly bigint[],
    signer: KeyPairSigner,
    accounts: readonly (readonly [AccountRole, ...Address[]])[],
  ): Instruction {
    const data = Buffer.alloc(8 + 8 * words.length)
    tagOf(`global:${name}`).copy(data, 0)
    for (const [i, word] of words.entries()) data.writeBigUInt64LE(word, 8 + 8 * i)
    return {
      programAddress,
      accounts: accounts.flatMap(([role, ...keys]) =>
        keys.map(key => ({
          address: key,
          role,
          ...(key === signer.address && role >= READONLY_SIGNER && { signer }),
        })),
      ) as never,
      data,
    }
  }
}
