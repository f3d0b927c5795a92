import type { Address } from 'viem'
import type { NetworkName } from '../../db/networks.ts'

/**
 * The wrapped form of each chain's own coin: @morpho-org/blue-sdk 6.4.0 (addressesRegistry, wNative) and
 * @aave-dao/aave-address-book 4.68.1 where they have it, 0x4200…0006 on the OP Stack (its predeploys), docs.chain.link
 * (CCIP directory) for Berachain. All 22 networks but Celo, whose coin is itself an ERC-20 (0x471e…a438).
 */
export const wrappedNatives: Partial<Record<NetworkName, Address>> = {
  mainnet: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  optimism: '0x4200000000000000000000000000000000000006',
  arbitrum: '0x82af49447d8a07e3bd95bd0d56f35241523fbab1',
  polygon: '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270',
  gnosis: '0xe91d153e0b41518a2ce8dd3d7944fa863463a97d',
  base: '0x4200000000000000000000000000000000000006',
  unichain: '0x4200000000000000000000000000000000000006',
  swellchain: '0x4200000000000000000000000000000000000006',
  worldchain: '0x4200000000000000000000000000000000000006',
  ink: '0x4200000000000000000000000000000000000006',
  bsc: '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c',
  plasma: '0x6100e367285b01f48d07953803a2d8dca5d19873',
  avalanche: '0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7',
  linea: '0xe5d7c2a44ffddf6b295a15c148167daaaf5cf34f',
  'mega-eth': '0x4200000000000000000000000000000000000006',
  berachain: '0x6969696969696969696969696969696969696969',
  hyperliquid: '0x5555555555555555555555555555555555555555',
  katana: '0xee7d8bcfb72bc1880d0cf19822eb0a2e6577ab62',
  monad: '0x3bd359c1119da7da1d913d1c4d2b7c461115433a',
  etherlink: '0xc9b53ab2679f573e480d01e0f49e2b5cfb7a3eab',
  robinhood: '0x0bd7d308f8e1639fab988df18a8011f41eacad73',
}
