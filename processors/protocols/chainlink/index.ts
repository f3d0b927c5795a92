import { createChainlink } from '../../prices/chainlink.ts'

/**
 * Prices that Chainlink's aggregators log. Which aggregator stands behind a feed only the chain knows, so this
 * protocol reads nothing until it is made anew with resolved feeds (prices/chainlink.ts).
 */
export default createChainlink([])
