/**
 * Milliseconds of a clock that nobody sets: for how long something lasts, or until when it rests. A machine's own clock may be set back by
 * hours, as at a start with a wrong one, and what is to rest for a second would rest for as long. Far from 0, so that 0 is long ago, as
 * `performance.now()` is not. Of one thread alone: each counts from its own beginning.
 */
export const steadyNow = (): number => performance.timeOrigin + performance.now()
