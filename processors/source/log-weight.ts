/** Hex digits of 256 bytes. */
const HEX_DIGITS = 512
/** Bytes of a log's data that are kept: no event that is decoded has as many. */
const BYTES_KEPT = 16_384

/** A log counts once, and once more for each 256 bytes of its data: a megabyte of it costs who logs it cents. */
export const weightOf = ({ data }: { data: string }): number => 1 + Math.floor(data.length / HEX_DIGITS)

/** The beginning of a log's data, by itself: a part of a string would hold the whole of it. */
export function beginningOf(data: string): string {
  const most = 2 + 2 * BYTES_KEPT
  return data.length <= most ? data : Buffer.from(data.slice(0, most), 'latin1').toString('latin1')
}
