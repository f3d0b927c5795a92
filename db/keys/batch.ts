/**
 * Turns many small questions into few: while one batch is under way the next gathers. A batch is asked once all that has
 * arrived on sockets was read, so that callers who come together are asked for together; a lone question is asked at
 * once, too, and nothing waits for a timer. `ask` answers in the order of its items: an item without an answer fails with
 * `missing`, and all of them where it throws.
 */
export function createBatcher<Item, Answer>(
  ask: (items: readonly Item[]) => Promise<readonly (Answer | undefined)[]>,
  options: { max?: number; missing: () => Error },
): (item: Item) => Promise<Answer> {
  const max = options.max ?? 500
  let waiting: { item: Item; resolve: (answer: Answer) => void; reject: (error: unknown) => void }[] = []
  let isBusy = false

  const run = async () => {
    isBusy = true
    while (waiting.length > 0) {
      await afterIo()
      const batch = waiting.slice(0, max)
      waiting = waiting.slice(max)
      try {
        const answers = await ask(batch.map(({ item }) => item))
        for (const [i, { resolve, reject }] of batch.entries()) {
          const answer = answers[i]
          if (answer === undefined) reject(options.missing())
          else resolve(answer)
        }
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isBusy = false
  }

  return item =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!isBusy) void run()
    })
}

const afterIo = () => new Promise<void>(resolve => setImmediate(resolve))
