import { z } from 'zod'
import * as Stata from '../../abi/aave-v3/StataTokenFactory.ts'
import * as EulerEarn from '../../abi/euler/EulerEarnFactory.ts'
import * as Evk from '../../abi/euler/GenericFactory.ts'
import * as Frax from '../../abi/frax/FraxlendPairDeployer.ts'
import * as MetaMorpho from '../../abi/metamorpho/MetaMorphoFactory.ts'
import * as VaultV2 from '../../abi/metamorpho/VaultV2Factory.ts'
import * as Yearn from '../../abi/yearn/VaultFactory.ts'
import { ConfigError } from '../../db/process/errors.ts'
import type { ProtocolSlug } from '../../db/protocols.ts'
import factoryTables from '../../db/registry/contracts/vault-factories.json' with { type: 'json' }
import { on, some } from '../handling/decoder.ts'
import { addressesByNetwork, byNetwork } from '../knowledge/address-tables.ts'
import type { LogDecoder, Source } from '../protocol.ts'
import { aaveMarkets } from '../protocols/aave-v3/markets.ts'

const tables = z.record(z.string(), z.unknown()).parse(factoryTables)

function factory(kind: string, protocol: ProtocolSlug, decoder: LogDecoder): Source {
  const table = tables[kind]
  if (table === undefined) throw new ConfigError(`db/registry/contracts/vault-factories.json has no ${kind}.`)
  return { kind, protocol, at: addressesByNetwork(table), decoders: [decoder] }
}

/** trailingData of an Euler vault is asset, oracle and unit of account, 20 bytes each (abi.encodePacked). */
function evkParameters(trailingData: string): { asset?: string; oracle?: string } {
  if (trailingData.length !== 2 + 3 * 40) return {}
  const oracle = some(`0x${trailingData.slice(42, 82)}`)
  return { asset: trailingData.slice(0, 42), ...(oracle ? { oracle } : {}) }
}

/** Contracts whose event says that they made a vault. */
export const vaultFactories: Source[] = [
  factory(
    'metamorpho-factory',
    'metamorpho',
    on(MetaMorpho.CreateMetaMorpho, 'VaultCreated', (a, log) => ({
      vault: a.metaMorpho,
      factory: log.address,
      protocol: 'metamorpho',
      asset: a.asset,
    })),
  ),
  factory(
    'morpho-vault-v2-factory',
    'morpho-vault-v2',
    on(VaultV2.CreateVaultV2, 'VaultCreated', (a, log) => ({
      vault: a.newVaultV2,
      factory: log.address,
      protocol: 'morpho-vault-v2',
      asset: a.asset,
    })),
  ),
  factory(
    'euler-evk-factory',
    'euler-v2',
    on(Evk.ProxyCreated, 'VaultCreated', (a, log) => ({
      vault: a.proxy,
      factory: log.address,
      protocol: 'euler-v2',
      ...evkParameters(a.trailingData),
    })),
  ),
  factory(
    'euler-earn-factory',
    'euler-earn',
    on(EulerEarn.CreateEulerEarn, 'VaultCreated', (a, log) => ({
      vault: a.eulerEarn,
      factory: log.address,
      protocol: 'euler-earn',
      asset: a.asset,
    })),
  ),
  factory(
    'yearn-v3-factory',
    'yearn-v3',
    on(Yearn.NewVault, 'VaultCreated', (a, log) => ({
      vault: a.vault_address,
      factory: log.address,
      protocol: 'yearn-v3',
      asset: a.asset,
    })),
  ),
  factory(
    'fraxlend-deployer',
    'fraxlend',
    on(Frax.LogDeploy, 'VaultCreated', (a, log) => ({
      vault: a.address_,
      factory: log.address,
      protocol: 'fraxlend',
      asset: a.asset,
    })),
  ),
  {
    kind: 'aave-stata-factory',
    protocol: 'aave-v3-stata',
    at: byNetwork(
      Object.fromEntries(
        Object.entries(aaveMarkets).map(([network, markets]) => [
          network,
          markets.flatMap(m => (m.stataFactory ? [m.stataFactory] : [])),
        ]),
      ),
    ),
    decoders: [
      // `underlying` is the vault's asset: a stata token takes it in and wraps the aToken itself.
      on(Stata.StataTokenCreated, 'VaultCreated', (a, log) => ({
        vault: a.stataToken,
        factory: log.address,
        protocol: 'aave-v3-stata',
        asset: a.underlying,
      })),
    ],
  },
]
