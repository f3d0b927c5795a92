/**
 * Milliseconds of a clock that nobody sets: for how long something lasts, or until when it rests. A machine's own clock may be set back by
 * hours, as at a start with a wrong one, and what is to rest for a second would rest for as long. Of one process alone.
 */
export const steadyNow = (): number => performance.timeOrigin + performance.now()
