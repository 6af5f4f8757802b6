import type { Run } from "../../protocol/conversation/run.ts"
import type { ConversationId, RunId } from "../../protocol/ids.ts"
import type { StreamPorts } from "./ports.ts"

export interface NewestRun extends Pick<Run, "status" | "endedAt"> {
  readonly runId: RunId
  /** Where it begins. */
  readonly start: number
}

/** The newest run that answers somebody: a summary is none. */
export async function newestRun(
  { conversations, journal }: Pick<StreamPorts, "conversations" | "journal">,
  id: ConversationId,
): Promise<NewestRun | undefined> {
  for (let cursor: string | undefined; ;) {
    const page = await conversations.runs(id, { limit: 1, ...(cursor === undefined ? {} : { cursor }) })
    const [run] = page.items
    // By its id: the newest may be another by now, and how this one stands would be told of that.
    const rows = run && (await conversations.rowsOfRun(id, run.id))
    if (!rows) return undefined
    const { start } = rows
    const [started] = await journal.read(id, { after: start - 1, upTo: start })
    if (started?.type !== "run_started" || !("runId" in started)) return undefined
    const { status, endedAt } = run
    if (!started.compacts) return { runId: started.runId, start, status, endedAt }
    cursor = page.nextCursor ?? undefined
    if (cursor === undefined) return undefined
  }
}

/** It is at work, or waits for a person. */
export const isOpen = ({ status }: Pick<NewestRun, "status">): boolean => status === "running" || status === "paused"
