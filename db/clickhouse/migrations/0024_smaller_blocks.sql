-- A group of rows that is read by its key is decompressed by the block, which by default has at least 64 KiB of a column: of a time
-- sixteen groups of 1,024 rows. Parts that have a file for each column, as large ones do, so took half as long again to be asked about the
-- states of some thirty vaults (35 ms, 26 since) and the balances of a wallet in them (28 and 20). Parts take it up when they are merged.
ALTER TABLE vault_sample MODIFY SETTING min_compress_block_size = 8192;
ALTER TABLE vault_hourly MODIFY SETTING min_compress_block_size = 8192;
ALTER TABLE vault_daily MODIFY SETTING min_compress_block_size = 8192;
ALTER TABLE balance MODIFY SETTING min_compress_block_size = 8192;
ALTER TABLE holder MODIFY SETTING min_compress_block_size = 8192;
ALTER TABLE account_vault MODIFY SETTING min_compress_block_size = 8192;
ALTER TABLE daily_flow_head MODIFY SETTING min_compress_block_size = 8192;
ALTER TABLE svm_balance MODIFY SETTING min_compress_block_size = 8192;
ALTER TABLE svm_stake MODIFY SETTING min_compress_block_size = 8192;
ALTER TABLE svm_vault_sample MODIFY SETTING min_compress_block_size = 8192;
ALTER TABLE svm_vault_hourly MODIFY SETTING min_compress_block_size = 8192;
