/** The known name with the fewest edits, case apart, where it is so near that it was probably meant. */
export function misspelt(name: string, known: readonly string[]): string | undefined {
  const found = nearest(name, known)
  return found && found.edits <= (name.length > 4 ? 2 : 1) ? found.candidate : undefined
}

function nearest(name: string, known: readonly string[]): { candidate: string; edits: number } | undefined {
  let best: { candidate: string; edits: number } | undefined
  for (const candidate of known) {
    const edits = distance(name.toLowerCase().slice(0, 64), candidate.toLowerCase())
    if (!best || edits < best.edits) best = { candidate, edits }
  }
  return best
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
        ),
      )
    }
    row = next
  }
  return row[b.length] ?? 0
}
