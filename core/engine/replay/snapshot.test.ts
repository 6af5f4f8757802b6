import { createHash } from "node:crypto"
import { expect, test } from "vitest"
import type { UnknownEvent } from "../../protocol/events.ts"
import type { MessageId } from "../../protocol/ids.ts"
import type { Conversation } from "../conversation.ts"
import { digestedOf } from "../history/request-digest.ts"
import { ADA, call, ID, staged, type Staged, text } from "../staged.fixture.ts"
import { SNAPSHOT_VERSION, fromSnapshot, toSnapshot } from "./snapshot.ts"
import { replay, replayOn } from "./replay.ts"

/** A conversation with nearly everything that a state contains. */
function eventful(): Staged {
  const story = staged().asks("Hello").routed("tasks").calls("read", "write").starts(1).brings(1, "both").proposes(2)
  story.wait(90_000).grants(1, 3).starts(2).result(2, "in_doubt").says("Half.").ends("failed")
  story.add({ type: "late_result", callId: call(2), status: "ok", text: "It was done." })
  story.asks("Again").restarts("provider").dies("shared").calls("write").granted(3).starts(3).doubts(3)
  story
    .add({ type: "resolution", callId: call(3), choice: "done", by: ADA })
    .result(3)
    .broken("I was")
    .ends("cancelled")
  story.add({ type: "settings", title: "Named", mode: "auto", settings: { temperature: 0.5 } })
  story.asks("Think").says({ type: "reasoning", text: "Hm.", model: "m" }, "Yes.").ends("completed").asks("More")
  story.add({ type: "fallback", from: "m", to: "n", because: "provider_error", message: "It is away.", until: 5 })
  story.says("Well.").ends("completed").asks("Find it").calls("search").starts(4)
  story
    .shows(4, { sources: [{ id: "a", title: "A", passage: "What a says." }] })
    .answers("Found.")
    .cuts(4)
    .revokes()
  story.undoes().ends("completed").run().add({ type: "compaction", what: "summary", seq: 9, summary: "They spoke." })
  return story.ends("completed").asks("Last", 7).answers("Goodbye \u{1F600}.")
}

const comparable = ({ inbox: _, arrivals: __, ...rest }: Conversation) => rest
const whole = ({ events }: Staged, upTo = events.length) => replay(ID, ADA, events.slice(0, upTo))

/** Every state of it that may be a snapshot, by position. */
const kept = (story: Staged) =>
  story.events.flatMap(({ position }) => {
    const text = toSnapshot(whole(story, position))
    return text === undefined ? [] : [{ position, text }]
  })

test("a snapshot continues like the journal, from any position", () => {
  const story = eventful()
  const folds = kept(story)
  expect(folds.length).toBeGreaterThan(5)
  for (const { position, text } of folds) {
    const fold = fromSnapshot({ id: ID, user: ADA }, position, text) as Conversation
    expect(comparable(fold)).toEqual(comparable(whole(story, position)))
    expect(comparable(replayOn(fold, story.events.slice(position)))).toEqual(comparable(whole(story)))
  }
})

test("a request after it continues the previous digest, and does not start again", () => {
  const request = "1.abcdef.abcdef.abcdef..1.zzz"
  const story = staged().asks("Hello")
  story.add({ type: "message", id: "msg_r" as MessageId, seq: 2, role: "assistant", parts: [text("Yes.")], request })
  const position = story.ends("completed").events.length
  const fold = fromSnapshot({ id: ID, user: ADA }, position, toSnapshot(whole(story)) as string) as Conversation
  expect(digestedOf(fold.history)).toEqual({ count: 1, newest: ["zzz"] })
})

test("there is no snapshot during a run, or with an unknown event", () => {
  expect(toSnapshot(staged().asks("Hello").conversation)).toBeUndefined()
  expect(toSnapshot(staged().asks("Hello").calls("write").proposes(1).conversation)).toBeUndefined()
  const unknown = { type: "from_the_future", version: 1, position: 6, at: 0, body: "{}" } as unknown as UnknownEvent
  const { events } = staged().asks("Hello").answers("Yes.")
  expect(toSnapshot(replay(ID, ADA, events))).toBeDefined()
  expect(toSnapshot(replay(ID, ADA, [...events, unknown]))).toBeUndefined()
})

test.each([
  ["torn", (text: string) => text.slice(0, -20)],
  ["of another position", (text: string) => text.replace('"position":5', '"position":4')],
  ["nothing", () => "null"],
  ["something else", () => '{"position":5}'],
  ["without a turn that is marked", (text: string) => text.replace('"history":[', '"history":[{"role":"user"},')],
])("a row that is %s is not a snapshot", (_, change) => {
  const text = toSnapshot(staged().asks("Hello").answers("Yes.").conversation) as string
  expect(fromSnapshot({ id: ID, user: ADA }, 5, text)).toBeDefined()
  expect(change(text)).not.toBe(text)
  expect(fromSnapshot({ id: ID, user: ADA }, 5, change(text))).toBeUndefined()
})

test("the same events give the same states as when the version was set", () => {
  const folds = kept(eventful()).map(({ text }) => text)
  const digest = createHash("sha256").update(JSON.stringify(folds)).digest("hex").slice(0, 16)
  // If this fails, the state has changed: raise the number in SNAPSHOT_VERSION, and put both here. Snapshots of the
  // previous version are then ignored; otherwise conversations would continue with them.
  expect({ version: SNAPSHOT_VERSION, digest }).toEqual({ version: "1021.4", digest: "8d8a361bdf7532db" })
})
