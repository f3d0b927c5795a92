import { execFile, spawnSync } from 'node:child_process'
import { expect } from 'vitest'
import * as w from './world.ts'

/** The published Python client, where it is installed (`pip install vaultsfyi`). */
export const hasPublishedPython = spawnSync('python3', ['-c', 'import vaultsfyi']).status === 0

const vault = { network: 'mainnet', vault_address: w.USD_VAULT }
const alice = { user_address: w.ALICE }
const at = `mainnet/${w.USD_VAULT}`
const window = { fromTimestamp: w.START + 3 * w.DAY, toTimestamp: w.START + 9 * w.DAY, granularity: '1day' }
const inWindow = new URLSearchParams(
  Object.entries(window).map(([name, value]): [string, string] => [name, String(value)]),
)
const usdx = 'allowedAssets=USDX&allowedAssets=WETH'

/** Each of its methods, and where the same is found without it. */
const METHODS: Record<string, [given: Record<string, unknown>, path: string]> = {
  get_health: [{}, '/v2/health'],
  get_vaults: [{ network: 'mainnet', page: 0, per_page: 2 }, '/v2/vaults?network=mainnet&page=0&perPage=2'],
  get_assets: [{ network: 'mainnet' }, '/v2/assets?network=mainnet'],
  get_networks: [{}, '/v2/networks'],
  get_tags: [{}, '/v2/tags'],
  get_benchmarks: [{ network: 'mainnet', code: 'usd' }, '/v2/benchmarks/mainnet?code=usd'],
  get_historical_benchmarks: [
    { network: 'mainnet', code: 'eth', per_page: 3 },
    '/v2/historical-benchmarks/mainnet?code=eth&perPage=3',
  ],
  get_vault_historical_data: [{ ...vault, ...window }, `/v2/historical/${at}?${inWindow}`],
  get_vault_historical_apy: [{ ...vault, ...window }, `/v2/historical/${at}/apy?${inWindow}`],
  get_vault_historical_tvl: [{ ...vault, ...window }, `/v2/historical/${at}/tvl?${inWindow}`],
  get_vault_historical_share_price: [{ ...vault, ...window }, `/v2/historical/${at}/sharePrice?${inWindow}`],
  get_vault_total_returns: [{ ...alice, ...vault }, `/v2/portfolio/total-returns/${w.ALICE}/${at}`],
  get_positions: [{ ...alice, sortBy: 'balanceUsd' }, `/v2/portfolio/positions/${w.ALICE}?sortBy=balanceUsd`],
  get_position: [{ ...alice, ...vault }, `/v2/portfolio/positions/${w.ALICE}/${at}`],
  get_best_vault: [{ ...alice, minTvl: 1 }, `/v2/portfolio/best-vault/${w.ALICE}?minTvl=1`],
  get_deposit_options: [
    { ...alice, allowed_assets: ['USDX', 'WETH'] },
    `/v2/portfolio/best-deposit-options/${w.ALICE}?${usdx}`,
  ],
  get_vault_holder_events: [{ ...alice, ...vault }, `/v2/portfolio/events/${w.ALICE}/${at}`],
  get_all_vaults: [
    { allowedAssets: ['USDX', 'WETH'], onlyTransactional: false, perPage: 3 },
    `/v2/detailed-vaults?${usdx}&onlyTransactional=false&perPage=3`,
  ],
  get_vault: [vault, `/v2/detailed-vaults/${at}`],
  get_vault_apy_breakdown: [vault, `/v2/detailed-vaults/${at}/apy`],
  get_vault_tvl_breakdown: [vault, `/v2/detailed-vaults/${at}/tvl`],
  get_idle_assets: [
    { ...alice, allowedNetworks: ['mainnet'] },
    `/v2/portfolio/idle-assets/${w.ALICE}?allowedNetworks=mainnet`,
  ],
  get_transactions_context: [{ ...alice, ...vault }, `/v2/transactions/context/${w.ALICE}/${at}`],
  get_actions: [
    { action: 'deposit', ...alice, ...vault, asset_address: w.USD_ASSET, amount: '1000000' },
    `/v2/transactions/deposit/${w.ALICE}/${at}?assetAddress=${w.USD_ASSET}&amount=1000000`,
  ],
  get_rewards_context: [alice, `/v2/transactions/rewards/context/${w.ALICE}`],
  get_rewards_claim: [{ ...alice, claimIds: [''] }, `/v2/transactions/rewards/claim/${w.ALICE}?claimIds=`],
}

const PROGRAM = `
import inspect, json, sys
from vaultsfyi import VaultsSdk
sdk = VaultsSdk(api_key=sys.argv[2], api_base_url=sys.argv[1], max_retries=0)
said = {name: getattr(sdk, name)(**given) for name, given in json.load(sys.stdin).items()}
every = [name for name, _ in inspect.getmembers(VaultsSdk, inspect.isfunction) if not name.startswith("_")]
json.dump([every, said], sys.stdout)
`

/** Every method of it, with nothing changed but its base URL, says what the API says over HTTP. */
export async function expectPublishedPythonWorks(baseUrl: string, apiKey: string): Promise<void> {
  const given = Object.fromEntries(Object.entries(METHODS).map(([name, [args]]) => [name, args]))
  const text = await new Promise<string>((resolve, reject) => {
    const child = execFile(
      'python3',
      ['-c', PROGRAM, baseUrl, apiKey],
      { maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => (error ? reject(new Error(stderr, { cause: error })) : resolve(stdout)),
    )
    child.stdin?.end(JSON.stringify(given))
  })
  const [every, said] = JSON.parse(text) as [string[], Record<string, unknown>]
  expect(every.filter(name => !(name in METHODS))).toEqual([])
  for (const [name, [, path]] of Object.entries(METHODS)) {
    const answer = await fetch(`${baseUrl}${path}`, { headers: { 'x-api-key': apiKey } })
    expect(answer.status, path).toBe(200)
    expect(said[name], name).toEqual(await answer.json())
  }
}
