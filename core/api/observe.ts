import { parseCursor } from "../protocol/cursor.ts"
import { failure } from "../protocol/errors.ts"
import { type ConversationId, isId, type RunId } from "../protocol/ids.ts"
import { conversationOf } from "../server/conversation/find.ts"
import { isOpen, runRows } from "../server/stream/journal-runs.ts"
import { type Answer, answerOf } from "./answer.ts"
import type { EventOptions } from "./conversations.ts"
import { followConversation, type PlacedRun, runAt } from "./follow.ts"
import { orClosed, type PawlEvent, type PersonalParts, refuseClosed } from "./parts.ts"

/** Waits for the latest run of a conversation and returns its answer. */
export async function newestAnswer(parts: PersonalParts, conversation: string): Promise<Answer> {
  const { id, run } = await findRun(parts, conversation)
  return answerOf(parts, id, run)
}

/** Yields the events of a run after a cursor until the run ends, also through pauses, and returns its answer. */
export async function* observeRun(
  parts: PersonalParts,
  runOrConversation: string,
  { after: cursor, signal }: EventOptions = {},
): AsyncGenerator<PawlEvent, Answer, undefined> {
  signal?.throwIfAborted()
  const { id, run, position } = await orClosed(parts, findRun(parts, runOrConversation))
  const first = run.position - 1
  const given = cursor === undefined ? { position: first, offset: 0 } : parseCursor(cursor)
  if (!given || given.position > position)
    throw failure("bad_request", { problem: `after: "${cursor?.slice(0, 50)}" is no position in ${id}.` })
  const after = given.position < first ? { position: first, offset: 0 } : given
  const stop = AbortSignal.any(signal ? [signal, parts.closing] : [parts.closing])
  if (!(await orClosed(parts, endedBefore(parts, id, run, after.position)))) {
    const source = await followConversation(parts, { id, user: await parts.user(), after })
    const leave = () => source.close()
    stop.addEventListener("abort", leave, { once: true })
    try {
      if (stop.aborted) leave()
      read: for (let some = await source.next(); some; some = await source.next())
        for (const event of some as PawlEvent[]) {
          yield event
          if (event.type === "error" || (event.type === "done" && event.data.status !== "paused")) break read
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

/** Returns true if the run ended at the position or before it. */
async function endedBefore(parts: PersonalParts, id: ConversationId, run: PlacedRun, position: number) {
  const { conversations } = parts.store
  const view = await conversations.run(await parts.user(), run.runId as RunId)
  if (!view || isOpen(view)) return false
  const { upTo } = (await conversations.rowsOfRun(id, run.runId)) ?? { upTo: 0 }
  for await (const rows of runRows(parts.ports, { id, start: position + 1, position: upTo }))
    if (rows.some(({ type }) => type === "run_ended")) return false
  return true
}
