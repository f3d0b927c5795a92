/** Written from the tables by `npx vitest run test/db/clickhouse/readme.int.test.ts -u`. */
export const COLUMNS = {
  aave_balance: {
    chain_id: 'UInt32', account: 'String', token: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', delta: 'Int256', scaled: 'Int256',
  },
  aave_choice: {
    chain_id: 'UInt32', account: 'String', pool: 'String', market: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', value: 'UInt8',
  },
  aave_index: {
    chain_id: 'UInt32', pool: 'String', asset: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', liquidity_rate: 'UInt256', variable_borrow_rate: 'UInt256',
    liquidity_index: 'UInt256', variable_borrow_index: 'UInt256',
  },
  aave_liquidity: {
    chain_id: 'UInt32', pool: 'String', asset: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', available: 'UInt256',
  },
  aave_reserve: {
    chain_id: 'UInt32', configurator: 'String', asset: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', a_token: 'String', variable_debt_token: 'String',
  },
  aave_revision: {
    chain_id: 'UInt32', token: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', pool: 'String', revision: 'UInt32',
  },
  aave_token: {
    chain_id: 'UInt32', a_token: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', pool: 'String', asset: 'String', decimals: 'UInt8', symbol: 'String',
  },
  aave_total: {
    chain_id: 'UInt32', token: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', scaled: 'Int256',
  },
  account_vault: {
    account: 'String', chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', balance: 'Int256',
  },
  amm_description: {
    chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', name: 'String', symbol: 'String', decimals: 'UInt8', pool: 'String',
    token0: 'String', token1: 'String', takes_token0: 'UInt8', takes_token1: 'UInt8',
  },
  amm_flow: {
    chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', tx_hash: 'String', log_index: 'UInt32', kind: 'String',
    account: 'String', shares: 'UInt256', amount0: 'UInt256', amount1: 'UInt256', fee0: 'UInt256',
    fee1: 'UInt256',
  },
  amm_share: {
    chain_id: 'UInt32', vault: 'String', holder: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', delta: 'Int256', balance: 'Int256',
  },
  amm_state: {
    chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', total0: 'UInt256', total1: 'UInt256', supply: 'UInt256',
    sqrt_price_x96: 'UInt256', twap_period: 'Nullable(UInt32)', mean_tick: 'Nullable(Int32)',
    base_liquidity: 'Nullable(UInt256)', base_lower: 'Nullable(Int32)',
    base_upper: 'Nullable(Int32)', limit_liquidity: 'Nullable(UInt256)',
    limit_lower: 'Nullable(Int32)', limit_upper: 'Nullable(Int32)',
  },
  amm_vault: {
    chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', protocol: 'String', factory: 'String', creator: 'String',
  },
  asset: {
    chain_id: 'UInt32', asset: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', name: 'String', symbol: 'String', decimals: 'UInt8',
  },
  attributed_flow: {
    code: 'String', chain_id: 'UInt32', day: 'Date', vault: 'String', position: 'UInt64',
    block_number: 'UInt64', timestamp: 'DateTime', account: 'String', kind: 'String',
    assets: 'UInt256', shares: 'UInt256', tx_hash: 'String', log_index: 'UInt32',
  },
  balance: {
    chain_id: 'UInt32', vault: 'String', holder: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', delta: 'Int256', balance: 'Int256',
  },
  bridge_received: {
    transfer_key: 'String', chain_id: 'UInt32', position: 'UInt64', block_number: 'UInt64',
    timestamp: 'DateTime', protocol: 'String', source_domain: 'UInt32', nonce: 'String',
    recipient: 'String', depositor: 'String', token: 'String', amount: 'UInt256', fee: 'UInt256',
    caller: 'String', finality: 'UInt32', tx_hash: 'String', log_index: 'UInt32',
  },
  bridge_sent: {
    recipient: 'String', chain_id: 'UInt32', position: 'UInt64', block_number: 'UInt64',
    timestamp: 'DateTime', protocol: 'String', depositor: 'String', token: 'String',
    amount: 'UInt256', max_fee: 'UInt256', source_domain: 'UInt32', destination_domain: 'UInt32',
    min_finality: 'UInt32', transfer_key: 'String', message_hash: 'String', tx_hash: 'String',
    log_index: 'UInt32',
  },
  comet_asset: {
    chain_id: 'UInt32', comet: 'String', asset: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', offset: 'UInt8', oracle: 'String',
    scale: 'UInt256', borrow_collateral_factor_wad: 'UInt256',
    liquidate_collateral_factor_wad: 'UInt256', liquidation_factor_wad: 'UInt256',
    supply_cap: 'UInt256',
  },
  comet_collateral: {
    chain_id: 'UInt32', account: 'String', comet: 'String', asset: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', delta: 'Int256', balance: 'Int256',
  },
  comet_collateral_total: {
    chain_id: 'UInt32', comet: 'String', asset: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', total: 'Int256',
  },
  comet_market: {
    chain_id: 'UInt32', comet: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', base_asset: 'String', base_oracle: 'String', base_scale: 'UInt256',
    base_borrow_min: 'UInt256', target_reserves: 'UInt256',
    store_front_price_factor_wad: 'UInt256', supply_kink_wad: 'UInt256',
    supply_rate_base_wad: 'UInt256', supply_rate_slope_low_wad: 'UInt256',
    supply_rate_slope_high_wad: 'UInt256', borrow_kink_wad: 'UInt256',
    borrow_rate_base_wad: 'UInt256', borrow_rate_slope_low_wad: 'UInt256',
    borrow_rate_slope_high_wad: 'UInt256',
  },
  comet_principal: {
    chain_id: 'UInt32', account: 'String', comet: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', principal: 'Int256',
  },
  comet_state: {
    chain_id: 'UInt32', comet: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', supply_index: 'UInt256', borrow_index: 'UInt256',
    supply_principal: 'UInt256', borrow_principal: 'UInt256', updated_at: 'UInt32',
    pause_flags: 'UInt8', reserves: 'Nullable(Int256)',
  },
  daily_flow: {
    chain_id: 'UInt32', vault: 'String', day: 'Date', position: 'UInt64', block_number: 'UInt64',
    timestamp: 'DateTime', account: 'String', kind: 'String', total_deposits: 'UInt256',
    total_redemptions: 'UInt256', deposit_count: 'UInt32', redemption_count: 'UInt32',
    unique_depositors: 'UInt32', unique_redeemers: 'UInt32',
  },
  daily_flow_head: {
    chain_id: 'UInt32', vault: 'String', day: 'Date', position: 'UInt64', block_number: 'UInt64',
    timestamp: 'DateTime', total_deposits: 'UInt256', total_redemptions: 'UInt256',
    deposit_count: 'UInt32', redemption_count: 'UInt32', unique_depositors: 'UInt32',
    unique_redeemers: 'UInt32',
  },
  drawdown: {
    chain_id: 'UInt32', vault: 'String', day: 'Date', position: 'UInt64', block_number: 'UInt64',
    timestamp: 'DateTime', max_price: 'Float64', min_price: 'Float64', max_drawdown: 'Float64',
  },
  event: {
    stream: 'Int32', position: 'UInt64', type: 'String', protocol: 'String',
    block_number: 'UInt64', block_hash: 'String', timestamp: 'DateTime', tx_hash: 'String',
    log_index: 'UInt32', contract: 'String', data: 'String',
  },
  evk_debt: {
    chain_id: 'UInt32', account: 'String', vault: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', owed: 'UInt256', accumulator_ray: 'UInt256',
  },
  evk_enabled: {
    chain_id: 'UInt32', account: 'String', role: 'String', vault: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', enabled: 'UInt8',
  },
  evk_ltv: {
    chain_id: 'UInt32', vault: 'String', collateral: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', borrow_ltv_bps: 'UInt16',
    liquidation_ltv_bps: 'UInt16', initial_liquidation_ltv_bps: 'UInt16', target_at: 'UInt32',
    ramp_seconds: 'UInt32',
  },
  evk_owner: {
    chain_id: 'UInt32', owner: 'String', prefix: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64',
  },
  evk_status: {
    chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', total_shares: 'UInt256', total_borrows: 'UInt256',
    accumulated_fees: 'UInt256', cash: 'UInt256', accumulator_ray: 'UInt256',
    interest_rate_ray: 'UInt256',
  },
  evk_total: {
    chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', owed: 'UInt256', accumulator_ray: 'UInt256',
  },
  feed_price: {
    chain_id: 'UInt32', feed: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', source: 'String', answer: 'Int256', decimals: 'UInt8',
    price: 'Float64',
  },
  fixed_term_description: {
    chain_id: 'UInt32', market: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', name: 'String', symbol: 'String', decimals: 'UInt8',
    sy_decimals: 'Nullable(UInt8)', yield_token: 'String', asset: 'String',
    asset_decimals: 'Nullable(UInt8)', is_liquidity: 'UInt8',
  },
  fixed_term_market: {
    chain_id: 'UInt32', market: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', protocol: 'String', pt: 'String', sy: 'String', yt: 'String',
    expiry: 'UInt32',
  },
  fixed_term_rate: {
    chain_id: 'UInt32', market: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', ln_rate_wad: 'UInt256', told_at: 'UInt32',
  },
  fixed_term_state: {
    chain_id: 'UInt32', market: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', total_pt: 'UInt256', total_sy: 'UInt256', total_lp: 'UInt256',
    ln_rate_wad: 'UInt256', pt_supply: 'Nullable(UInt256)', exchange_rate: 'Nullable(UInt256)',
    py_index: 'Nullable(UInt256)', oracle_rate_wad: 'Nullable(UInt256)',
  },
  fixed_term_trade: {
    chain_id: 'UInt32', market: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', tx_hash: 'String', log_index: 'UInt32', kind: 'String',
    receiver: 'String', pt_out: 'Int256', sy_out: 'Int256', sy_fee: 'UInt256', lp: 'Int256',
    total_pt: 'Int256', total_sy: 'Int256',
  },
  flow: {
    chain_id: 'UInt32', vault: 'String', account: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', kind: 'String', assets: 'UInt256',
    shares: 'UInt256', sender: 'String', tx_hash: 'String', log_index: 'UInt32',
  },
  holder: {
    chain_id: 'UInt32', vault: 'String', holder: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', balance: 'Int256', holder_key: 'UInt128',
  },
  identity: {
    store: 'String',
  },
  lending_event: {
    chain_id: 'UInt32', protocol: 'String', account: 'String', contract: 'String',
    market: 'String', side: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', event_type: 'String', assets: 'UInt256', tx_hash: 'String',
    log_index: 'UInt32', part: 'UInt8',
  },
  lending_setting: {
    chain_id: 'UInt32', protocol: 'String', source: 'String', market: 'String', key: 'String',
    timestamp: 'DateTime', position: 'UInt64', block_number: 'UInt64', value: 'String',
  },
  migration: {
    name: 'String', checksum: 'String', applied_at: 'DateTime',
  },
  morpho_fee_recipient: {
    chain_id: 'UInt32', morpho: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', account: 'String',
  },
  morpho_market: {
    chain_id: 'UInt32', morpho: 'String', market: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', loan_asset: 'String',
    collateral_asset: 'Nullable(String)', oracle: 'Nullable(String)', irm: 'Nullable(String)',
    lltv_wad: 'UInt256',
  },
  morpho_position: {
    chain_id: 'UInt32', morpho: 'String', account: 'String', market: 'String',
    timestamp: 'DateTime', position: 'UInt64', block_number: 'UInt64', supply_shares: 'Int256',
    borrow_shares: 'Int256', collateral: 'Int256',
  },
  morpho_rate: {
    chain_id: 'UInt32', irm: 'String', market: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', average_rate_wad: 'UInt256', rate_at_target_wad: 'UInt256',
  },
  morpho_sampled_rate: {
    chain_id: 'UInt32', market: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', rate_wad: 'UInt256',
  },
  morpho_state: {
    chain_id: 'UInt32', morpho: 'String', market: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', supply_assets: 'Int256', supply_shares: 'Int256',
    borrow_assets: 'Int256', borrow_shares: 'Int256', collateral: 'Int256', last_update: 'UInt32',
    fee_wad: 'UInt256', borrow_rate_wad: 'Nullable(UInt256)',
  },
  oracle_price: {
    chain_id: 'UInt32', contract: 'String', market: 'String', asset: 'String',
    timestamp: 'DateTime', position: 'UInt64', block_number: 'UInt64', oracle: 'String',
    price: 'Nullable(UInt256)',
  },
  position_change: {
    account: 'String', chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', kind: 'String',
  },
  pt_balance: {
    chain_id: 'UInt32', pt: 'String', holder: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', delta: 'Int256', balance: 'Int256',
  },
  registry_fact: {
    subject: 'String', kind: 'String', position: 'UInt64', block_number: 'UInt64',
    timestamp: 'DateTime', value: 'String', removed: 'UInt8',
  },
  retracted: {
    stream: 'Int32', position: 'UInt64', retracted_by: 'UInt64',
  },
  reward_claim: {
    account: 'String', chain_id: 'UInt32', token: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', source: 'String', distributor: 'String',
    receiver: 'Nullable(String)', amount: 'UInt256', tx_hash: 'String', log_index: 'UInt32',
  },
  reward_period: {
    chain_id: 'UInt32', vault: 'String', reward: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', name: 'String', symbol: 'String',
    decimals: 'UInt8', amount: 'UInt256', starts_at: 'UInt32', ends_at: 'UInt32',
  },
  reward_stream: {
    chain_id: 'UInt32', vault: 'String', reward: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', name: 'String', symbol: 'String',
    decimals: 'UInt8', rate: 'UInt256', ends_at: 'UInt32',
  },
  svm_balance: {
    holder: 'String', chain_id: 'UInt32', mint: 'String', token_account: 'String',
    timestamp: 'DateTime', position: 'UInt64', block_number: 'UInt64', amount: 'UInt256',
  },
  svm_farm: {
    chain_id: 'UInt32', mint: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', vault: 'String', farm: 'String', farm_vault: 'String',
  },
  svm_flow: {
    account: 'String', chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime',
    position: 'UInt64', block_number: 'UInt64', kind: 'String', assets: 'Nullable(UInt256)',
    shares: 'UInt256', sender: 'String', tx_hash: 'String', instruction_index: 'UInt32',
    place: 'UInt32', path: 'String',
  },
  svm_holders_listed: {
    chain_id: 'UInt32', mint: 'String', farm: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', holders: 'UInt64',
  },
  svm_mint: {
    chain_id: 'UInt32', mint: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', token_program: 'String', decimals: 'UInt8', mint_authority: 'String',
    freeze_authority: 'String', name: 'String', symbol: 'String',
  },
  svm_price: {
    chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', price_assets: 'UInt256', price_shares: 'UInt256', tx_hash: 'String',
  },
  svm_stake: {
    holder: 'String', chain_id: 'UInt32', mint: 'String', stake_account: 'String',
    timestamp: 'DateTime', position: 'UInt64', block_number: 'UInt64', farm: 'String',
    amount: 'Int256',
  },
  svm_vault: {
    chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', protocol: 'String', program: 'String', share_mint: 'String',
    asset_mint: 'String', authority: 'String', reserve: 'String',
  },
  svm_vault_hourly: {
    chain_id: 'UInt32', vault: 'String', hour: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', timestamp: 'DateTime', total_assets: 'Nullable(UInt256)',
    total_supply: 'Nullable(UInt256)', price_assets: 'Nullable(UInt256)',
    price_shares: 'Nullable(UInt256)', share_price: 'Nullable(Float64)',
    apy_1h: 'Nullable(Float64)', apy_1d: 'Nullable(Float64)', apy_7d: 'Nullable(Float64)',
    apy_30d: 'Nullable(Float64)',
  },
  svm_vault_sample: {
    chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', reason: 'String', total_assets: 'Nullable(UInt256)',
    total_supply: 'Nullable(UInt256)', price_assets: 'Nullable(UInt256)',
    price_shares: 'Nullable(UInt256)', share_price: 'Nullable(Float64)',
    idle_assets: 'Nullable(UInt256)', epoch: 'Nullable(UInt64)', updated_epoch: 'Nullable(UInt64)',
  },
  vault: {
    chain_id: 'UInt32', vault: 'String', position: 'UInt64', block_number: 'UInt64',
    timestamp: 'DateTime', protocol: 'String', name: 'String', symbol: 'String', decimals: 'UInt8',
    asset: 'String', asset_name: 'String', asset_symbol: 'String', asset_decimals: 'UInt8',
    deployed_block: 'Nullable(UInt64)', deployed_at: 'Nullable(DateTime)',
    async_deposits: 'Nullable(UInt8)', async_redemptions: 'Nullable(UInt8)',
  },
  vault_daily: {
    chain_id: 'UInt32', vault: 'String', day: 'Date', position: 'UInt64', block_number: 'UInt64',
    timestamp: 'DateTime', total_assets: 'Nullable(UInt256)', total_supply: 'Nullable(UInt256)',
    share_price_raw: 'Nullable(UInt256)', share_price: 'Nullable(Float64)',
    apy_1h: 'Nullable(Float64)', apy_1d: 'Nullable(Float64)', apy_7d: 'Nullable(Float64)',
    apy_30d: 'Nullable(Float64)',
  },
  vault_hourly: {
    chain_id: 'UInt32', vault: 'String', hour: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', timestamp: 'DateTime', total_assets: 'Nullable(UInt256)',
    total_supply: 'Nullable(UInt256)', share_price_raw: 'Nullable(UInt256)',
    share_price: 'Nullable(Float64)', apy_1h: 'Nullable(Float64)', apy_1d: 'Nullable(Float64)',
    apy_7d: 'Nullable(Float64)', apy_30d: 'Nullable(Float64)', opens_day: 'UInt8',
    growth: 'Nullable(Int256)', growth_weight: 'Nullable(UInt256)',
    supply_changes: 'Nullable(UInt32)',
  },
  vault_made: {
    chain_id: 'UInt32', vault: 'String', position: 'UInt64', block_number: 'UInt64',
    timestamp: 'DateTime', factory: 'String', protocol: 'String',
  },
  vault_sample: {
    chain_id: 'UInt32', vault: 'String', timestamp: 'DateTime', position: 'UInt64',
    block_number: 'UInt64', total_assets: 'Nullable(UInt256)', total_supply: 'Nullable(UInt256)',
    share_price_raw: 'Nullable(UInt256)', fine_price: 'Nullable(UInt256)', fine_digits: 'UInt8',
    share_price: 'Nullable(Float64)', max_deposit: 'Nullable(UInt256)',
    idle_assets: 'Nullable(UInt256)', borrowed_assets: 'Nullable(UInt256)', decimals: 'UInt8',
    asset_decimals: 'UInt8',
  },
  vault_setting: {
    chain_id: 'UInt32', vault: 'String', setting: 'String', market: 'String', position: 'UInt64',
    block_number: 'UInt64', timestamp: 'DateTime', value: 'Nullable(UInt256)',
  },
} as const
