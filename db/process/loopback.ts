/** Names that mean this machine, as they stand in a Host header. */
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\]|::1)(:\d+)?$/i

/**
 * Whether a request was sent to this machine by one of its own names. A page whose name was made to lead here (DNS
 * rebinding) sends its own name, which its browser does not let it change.
 */
export const isToLoopback = (host: string | undefined): boolean => LOOPBACK.test(host ?? '')
