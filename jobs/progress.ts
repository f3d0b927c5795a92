import { MultiBar, Presets } from 'cli-progress'
import { steadyNow } from '../db/process/steady.ts'

export interface Progress {
  update(done: number): void
  finish(): void
}

export interface ProgressBoard {
  start(title: string, total: number, unit: string): Progress
  close(): void
}

/** Bars on a terminal; where there is none, a line when a tenth more is done, so that logs stay readable. */
export function openProgress(out: NodeJS.WriteStream = process.stderr): ProgressBoard {
  return out.isTTY ? bars(out) : lines(out)
}

function bars(out: NodeJS.WriteStream): ProgressBoard {
  const board = new MultiBar(
    {
      stream: out,
      clearOnComplete: false,
      hideCursor: true,
      format: '{title} {bar} {percentage}% {value}/{total} {unit} {rate}/s, {eta_formatted} left',
    },
    Presets.shades_classic,
  )
  return {
    start(title, total, unit) {
      const started = steadyNow()
      const bar = board.create(total, 0, { title: title.padEnd(28), unit, rate: 0 })
      const update = (done: number) =>
        bar.update(done, { rate: Math.round((done * 1000) / Math.max(1, steadyNow() - started)) })
      return { update, finish: () => update(total) }
    },
    close: () => board.stop(),
  }
}

function lines(out: NodeJS.WriteStream): ProgressBoard {
  return {
    start(title, total, unit) {
      const started = steadyNow()
      let reported = 0
      const report = (done: number) => {
        const rate = Math.round((done * 1000) / Math.max(1, steadyNow() - started))
        out.write(
          `${title}: ${done}/${total} ${unit} (${total === 0 ? 100 : Math.floor((done * 100) / total)}%), ${rate}/s\n`,
        )
      }
      return {
        update(done) {
          if (done - reported < total / 10) return
          reported = done
          report(done)
        },
        finish: () => {
          if (reported < total || total === 0) report(total)
        },
      }
    },
    close() {},
  }
}
