/**
 * Node's arguments for the read API. From 2 GiB to grow into, V8 lets garbage pile up to four times what is alive: the
 * process peaks at 600 MiB under load where it does with 370, at the same requests per second. The catalogue of 25,000
 * vaults takes 110 of the heap.
 */
export const API_FLAGS = ['--max-old-space-size=1920']

/** What node runs as the read API, in the root of the repository. */
export const API_COMMAND = [...API_FLAGS, 'read-api/main.ts']
