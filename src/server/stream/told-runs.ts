import type { JournalEvent } from "../../protocol/events.ts"
import type { UnknownFrame } from "../../protocol/frames.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import { rowsLength } from "../../protocol/rows-length.ts"
import { FrameMaker } from "./frame-maker.ts"
import { JournalPages } from "./journal-pages.ts"
import type { StreamPorts } from "./ports.ts"

/** How many runs are told at once, the newest; fewer where they have more than so many characters. */
const MAX_RUNS = 50
const MAX_LENGTH = 1_000_000

interface UpTo {
  readonly id: ConversationId
  /** The last row of the newest run that is told. */
  readonly position: number
}

export interface ToldRuns {
  /** The frames of each, oldest first. */
  readonly runs: readonly (readonly UnknownFrame[])[]
  /** The last row of those before them; null where there are none. */
  readonly before: number | null
}

/** The runs of a conversation up to a row, backwards from the newest, so that nothing is read that is not told. */
export async function readToldRuns(ports: StreamPorts, { id, position }: UpTo): Promise<ToldRuns> {
  const runs: UnknownFrame[][] = []
  let length = 0
  for (let end = position; ;) {
    const start = await ports.conversations.runStart(id, end)
    if (start === 0) return { runs, before: null }
    if (runs.length === MAX_RUNS || length > MAX_LENGTH) return { runs, before: end }
    const run = await readRun(ports, { id, start, end })
    runs.unshift(run.frames)
    length += run.length
    end = start - 1
  }
}

async function readRun(
  { journal }: StreamPorts,
  { id, start, end }: { readonly id: ConversationId; readonly start: number; readonly end: number },
): Promise<{ readonly frames: UnknownFrame[]; readonly length: number }> {
  const maker = new FrameMaker(id)
  const pages = new JournalPages(journal, id)
  const frames: UnknownFrame[] = []
  let length = 0
  for (let [after, more] = [start - 1, true]; more;) {
    const page = await pages.read({ after, upTo: end })
    for (const row of page.events) frames.push(...maker.rows(row, 0))
    length += rowsLength(page.events as readonly JournalEvent[]) // one of a newer Pawl has a length too
    after = page.events.at(-1)?.position ?? after
    more = page.more && after < end
  }
  return { frames, length }
}
