/**
 * Node's arguments for the read API. From 2 GiB to grow into, V8 lets garbage pile up to four times what is alive: the
 * process peaks at 600 MiB under load where it does with 370, at the same requests per second. The catalogue of 25,000
 * vaults takes 110 of the heap.
 */
export const API_FLAGS = ['--max-old-space-size=1920']

/** What node runs as the read API, in the root of the repository. */
export const API_COMMAND = [...API_FLAGS, 'read-api/main.ts']

/**
 * Node's arguments for processors. What a batch of history leaves behind is garbage at once: with more room for what is young it is
 * collected less often, and a second of CPU stores 70,000 events where it does 61,000 with V8's own 16 MiB. Up to three times as many
 * MiB are taken while there is history, and next to none at the head.
 */
export const PROCESSOR_FLAGS = ['--max-semi-space-size=64']

/** What node runs as a processor; names of networks follow. */
export const PROCESSOR_COMMAND = [...PROCESSOR_FLAGS, 'processors/main.ts']
