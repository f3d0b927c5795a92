-- What a processor must know at start, with how pools round.
DROP INDEX event_log_subjects;
CREATE INDEX event_log_subjects ON event_log (stream, position)
  WHERE type IN ('VaultCreated', 'VaultDiscovered', 'VaultRejected', 'ReserveListed', 'MarketCreated', 'BlockRetracted',
    'ImplementationChanged', 'CometConfigured', 'CometAssetConfigured', 'AssetDescribed', 'CollateralOracleNamed',
    'PoolRevisionSampled');
