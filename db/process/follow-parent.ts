/**
 * Node's arguments for a child that is spawned with an IPC channel: it ends, as by SIGTERM, when its parent is gone,
 * however that went. The channel does not keep it alive.
 */
export const FOLLOW_PARENT = [
  '--import',
  `data:text/javascript,${encodeURIComponent(
    'process.once("disconnect", () => process.kill(process.pid, "SIGTERM")); process.channel?.unref()',
  )}`,
]
