import type { FrameSource } from "./event-stream.ts"
import { type AnyFrame, FrameMaker } from "./frame-maker.ts"
import type { StreamPorts } from "./ports.ts"
import { type RunRange, runRows } from "./run-rows.ts"

/**
 * A run that waits, from one of its rows to that pause, with what has happened since it began to wait: a decision, or a
 * result of several. Read as it is taken.
 */
export function toldPause(
  ports: Pick<StreamPorts, "journal">,
  run: RunRange & { readonly from: number },
): FrameSource<AnyFrame> {
  const frames = pausedFrames(ports, run)
  let isClosed = false
  return {
    async next() {
      const { done, value } = isClosed ? { done: true, value: undefined } : await frames.next()
      return done || isClosed ? undefined : value
    },
    close: () => void (isClosed = true),
  }
}

async function* pausedFrames(
  ports: Pick<StreamPorts, "journal">,
  { from, ...run }: RunRange & { readonly from: number },
): AsyncGenerator<AnyFrame[], void, void> {
  const maker = new FrameMaker(run.id)
  let last = from
  for await (const rows of runRows(ports, run)) {
    const frames = rows.flatMap((row) => {
      const made = maker.rows(row, 0)
      return row.position < from ? [] : made
    })
    yield frames.filter(({ type }) => type !== "done")
    last = rows.at(-1)?.position ?? last
  }
  yield [{ id: String(last), type: "done", data: { status: "paused" } }]
}
