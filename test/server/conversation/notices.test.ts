import { describe, expect, test } from "vitest"
import {
  emptyTranscript,
  fromDetail,
  olderThan,
  reduce,
  type Transcript,
  withOlderMessages,
} from "../../../client/index.ts"
import { fails, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import { FrameMaker } from "../../../core/server/stream/frame-maker.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Face, type Visitor } from "../../support/server/face.ts"

/**
 * Fails for each kind of notice: interrupted once and restarted, over the context size once, and failed for good
 * once.
 */
const script = () =>
  scripted(
    says("One."),
    says("Two."),
    fails("overloaded", { after: "Once up", retriable: true, retryAfterMs: 1 }),
    says("Once upon a time."),
    fails("context_overflow"),
    says("Four."),
    fails("provider_error"),
    always(says("Well.")),
  )

const KINDS = ["restarted", "history_cut", "failed"]

/** The conversation as a client has seen it that was connected from the start. */
async function watched(face: Face, id: string): Promise<Transcript> {
  const maker = new FrameMaker(id as ConversationId)
  const rows = await face.store.journal.read(id as ConversationId)
  return rows.flatMap((row) => maker.rows(row, 0)).reduce(reduce, emptyTranscript)
}

/** The conversation as a page loads it now, back to its start, so many messages at a time. */
async function loaded(ada: Visitor, id: string, limit: number): Promise<Transcript> {
  let transcript = fromDetail((await ada.get(`/api/conversations/${id}`)).body)
  // Keeps as many messages as a smaller page would start with.
  const messages = transcript.items.flatMap((item, index) => (item.type === "message" ? [index] : []))
  transcript = { ...transcript, items: transcript.items.slice(messages.at(-limit)) }
  for (let before = olderThan(transcript); before !== null; before = olderThan(transcript)) {
    const { body } = await ada.get(`/api/conversations/${id}/messages?before=${before}&limit=${limit}`)
    transcript = withOlderMessages(transcript, body)
  }
  return transcript
}

/** Returns the keys of its items in order, with the author and end of each reply. */
const keysOf = ({ items }: Transcript) =>
  items.map((item) => [
    item.type,
    item.key,
    ...(item.type === "message" ? [item.message.model, item.message.finish] : []),
  ])
const noticesOf = ({ items }: Transcript) => items.filter(({ type }) => type === "notice")

describe.each(anyDatabase)("notices on $name", ({ create }) => {
  test("is the same for a client that watches, one that loads it later page by page, and in a branch", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: script() })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    for (const words of [`1 ${"x".repeat(400)}`, `2 ${"x".repeat(400)}`, "a story", "4", "5", "6"]) {
      await ada.say(id, words)
    }
    const live = await watched(face, id)
    expect(noticesOf(live).map((item) => item.type === "notice" && item.notice)).toEqual(KINDS)
    for (const limit of [1, 2, 3, 50]) {
      const later = await loaded(ada, id, limit)
      expect(noticesOf(later)).toEqual(noticesOf(live))
      expect(keysOf(later)).toEqual(keysOf(live))
    }

    const { position } = (await ada.get(`/api/conversations/${id}`)).body
    const { body: branch } = await ada.post(`/api/conversations/${id}/fork`, { position })
    const there = await watched(face, branch.id)
    // The branch does not copy the notice that a reply was restarted.
    expect(noticesOf(there).map((item) => item.type === "notice" && item.notice)).toEqual(["history_cut", "failed"])
    for (const limit of [1, 50]) expect(keysOf(await loaded(ada, branch.id, limit))).toEqual(keysOf(there))
  })
})
