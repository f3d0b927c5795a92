/** Lets so many work at the same time; others wait for their turn, in the order in which they came. */
export class Turns {
  private left: number
  private readonly waiting: (() => void)[] = []

  constructor(atOnce: number) {
    this.left = atOnce
  }

  async turn<T>(work: () => Promise<T>): Promise<T> {
    if (this.left > 0) this.left--
    else await new Promise<void>(resolve => this.waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Whoever has ended hands its place to the next.
      const next = this.waiting.shift()
      if (next) next()
      else this.left++
    }
  }
}
