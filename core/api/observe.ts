import { parseCursor } from "../protocol/cursor.ts"
import { failure } from "../protocol/errors.ts"
import { type ConversationId, isId } from "../protocol/ids.ts"
import { conversationOf } from "../server/conversation/find.ts"
import { RunPauses, runRows } from "../server/stream/journal-runs.ts"
import { type Answer, answerOf } from "./answer.ts"
import type { EventOptions } from "./conversations.ts"
import { followConversation, type PlacedRun, runAt } from "./follow.ts"
import { orClosed, type PawlEvent, type PersonalParts, refuseClosed } from "./parts.ts"
import type { EventsOrigin } from "./run-response.ts"

/** Waits for the latest run of a conversation and returns its answer. */
export async function newestAnswer(parts: PersonalParts, conversation: string): Promise<Answer> {
  const { id, run } = await findRun(parts, conversation)
  return answerOf(parts, id, run)
}

/**
 * Yields the events of a run after a cursor until the run ends, also through pauses, and returns its answer. Omits the
 * `done` of pauses that are over.
 */
export async function* observeRun(
  parts: PersonalParts,
  runOrConversation: string,
  { after: cursor, signal }: EventOptions = {},
  origin: EventsOrigin = {},
): AsyncGenerator<PawlEvent, Answer, undefined> {
  signal?.throwIfAborted()
  const found = await orClosed(parts, findRun(parts, runOrConversation))
  const { id, run, position } = found
  origin.find = () => Promise.resolve(found)
  const first = run.position - 1
  const given = cursor === undefined ? { position: first, offset: 0 } : parseCursor(cursor)
  if (!given || given.position > position)
    throw failure("bad_request", { problem: `after: "${cursor?.slice(0, 50)}" is no position in ${id}.` })
  const after = given.position < first ? { position: first, offset: 0 } : given
  const stop = AbortSignal.any(signal ? [signal, parts.closing] : [parts.closing])
  const { endedAt, overUpTo } = await orClosed(parts, readRun(parts, found))
  if (endedAt === undefined || after.position < endedAt) {
    const source = await followConversation(parts, { id, user: await parts.user(), after })
    const leave = () => source.close()
    stop.addEventListener("abort", leave, { once: true })
    try {
      if (stop.aborted) leave()
      read: for (let some = await source.next(); some; some = await source.next())
        for (const event of some as PawlEvent[]) {
          const isPause = event.type === "done" && event.data.status === "paused"
          if (isPause && Number(event.id) <= overUpTo) continue
          yield event
          if (event.type === "error" || (event.type === "done" && !isPause)) break read
        }
    } finally {
      stop.removeEventListener("abort", leave)
      leave()
    }
  }
  refuseClosed(parts)
  signal?.throwIfAborted()
  return answerOf(parts, id, run)
}

interface FoundRun {
  readonly id: ConversationId
  readonly run: PlacedRun
  /** The conversation's position. */
  readonly position: number
}

/** Finds a run by its id, or the latest run of a conversation. */
async function findRun(parts: PersonalParts, runOrConversation: string): Promise<FoundRun> {
  const { store } = parts
  const user = await parts.user()
  if (isId("run", runOrConversation)) {
    const named = await store.conversations.run(user, runOrConversation)
    const rows = named && (await store.conversations.rowsOfRun(named.conversationId, named.id))
    if (!rows) throw failure("not_found")
    const { id, position } = await conversationOf(store, user, named.conversationId)
    return { id, position, run: { runId: named.id, position: rows.start } }
  }
  if (!isId("conv", runOrConversation)) throw failure("not_found")
  const { id, position } = await conversationOf(store, user, runOrConversation)
  const run = await runAt(parts, id, position)
  if (!run) throw failure("bad_request", { problem: `Nothing was asked in ${id} yet.` })
  return { id, position, run }
}

/** Reads the run so far: the position of its end, and the position up to which its pauses are over. */
async function readRun({ ports }: PersonalParts, { id, run, position }: FoundRun) {
  const pauses = new RunPauses()
  for await (const rows of runRows(ports, { id, start: run.position, position }))
    for (const row of rows) {
      pauses.add(row)
      if (row.type === "run_ended") return { endedAt: row.position, overUpTo: row.position }
    }
  return { endedAt: undefined, overUpTo: pauses.overUpTo(position) }
}
