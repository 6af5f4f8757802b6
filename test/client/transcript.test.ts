import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type Conversation, conversationStatus, runStatus } from "../../core/engine/conversation.ts"
import { emptyTranscript, fromDetail, type Item, reduce, type Transcript, withDetail } from "../../client/index.ts"
import { parseCursor } from "../../core/protocol/cursor.ts"
import { frames as frameSchemas, type UnknownFrame } from "../../core/protocol/frames.ts"
import { isSettled } from "../../core/protocol/proposals/proposal.ts"
import { Story } from "./client-story.ts"

const dice = fc.array(fc.nat(10_000), { minLength: 20, maxLength: 250 })
const fold = (frames: readonly UnknownFrame[], from: Transcript = emptyTranscript) => frames.reduce(reduce, from)
const positionOf = ({ id }: UnknownFrame) => parseCursor(id)?.position ?? 0
/** Events that repeat the cursor of the event before them. */
const BESIDE = ["usage", "done", "error", "reasoning_delta", "tool_progress"]
const runs = { numRuns: 150 }

/** Seed: two changes are proposed, and the first is edited and proposed again while the client is away. */
const editedWhileAway = "1799 1044 0 903 5486 0 0 4977 8 0 0 37 4 0 0 0 0 495 0 168 0 0 0 0 0 0 0 0 0"
  .split(" ")
  .map(Number)

/** Returns the open proposals, which a transcript and the loop's state must agree on. */
function openIn({ items }: Transcript): string[] {
  return items.flatMap((item) =>
    item.type === "proposal" && !isSettled(item.proposal.status) ? [`${item.key} ${item.proposal.status}`] : [],
  )
}

const openOf = ({ proposals }: Conversation) => [...proposals].map(([id, { status }]) => `${id} ${status}`)

/** Returns all that a snapshot contains: not the progress of unfinished tool calls, and not the run. */
function known({ items, run: _run, usage: _usage, ...rest }: Transcript) {
  const parts = items.flatMap((item: Item): unknown[] => {
    if (item.type === "message") return [item.message.content]
    if (item.type === "call")
      return [[item.key, item.name, item.input, item.isOver, item.isOver && [item.state, item.ms, item.text]]]
    if (item.type !== "proposal") return []
    const { decidedBy, reason, proposal } = item
    const { status, arguments: given } = proposal
    return [[item.key, given, status, decidedBy, reason]]
  })
  // An item before the first message cannot be attached to a message in a snapshot.
  const first = items.findIndex(({ type }) => type === "message")
  const beside = items.slice(Math.max(first, 0)).flatMap((item) => {
    if (item.type === "step") return [[item.key, item.step]]
    return item.type === "notice" ? [[item.key, item.notice, item.detail]] : []
  })
  return { ...rest, parts, beside: first < 0 ? [] : beside }
}

describe("the transcript of any conversation", { timeout: 120_000 }, () => {
  test("agrees with the loop's state at each position", () => {
    fc.assert(
      fc.property(dice, (rolls) => {
        let transcript = emptyTranscript
        let read = 0
        new Story(rolls, ({ frames, conversation }) => {
          transcript = fold(frames.slice(read), transcript)
          read = frames.length
          expect(transcript.cursor).toBe(String(conversation.position))
          expect(transcript.status).toBe(conversationStatus(conversation))
          expect(transcript.run?.status).toBe(runStatus(conversation))
          expect(openIn(transcript).sort()).toEqual(openOf(conversation).sort())
          const { title, mode, calls } = conversation
          expect(transcript).toMatchObject({ title, mode })
          for (const { id, input, state } of calls) {
            expect(transcript.items).toContainEqual(
              expect.objectContaining({ key: id, input, isOver: state === "ended" }),
            )
          }
          expect(new Set(transcript.items.map(({ key }) => key)).size).toBe(transcript.items.length)
        })
      }),
      runs,
    )
  })

  test("is tested with stories that cover every kind of frame and status", () => {
    const stories = fc.sample(dice, { numRuns: 150, seed: 7 }).map((rolls) => new Story(rolls))
    const types = new Set(stories.flatMap(({ frames }) => frames.map(({ type }) => type)))
    expect([...types].sort()).toEqual(Object.keys(frameSchemas).sort())
    const statuses = new Set(stories.flatMap(({ details }) => details.map(({ status }) => status)))
    expect(statuses.size).toBe(4)
  })

  test("is unchanged if frames are repeated, at any time and in any order", () => {
    fc.assert(
      fc.property(dice, fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 40 }), (rolls, repeats) => {
        const { frames } = new Story(rolls)
        const doubled = frames.flatMap((frame, index) => {
          const again = repeats.filter(([at]) => at % frames.length === index)
          return [frame, ...again.map(([, which]) => frames[which % (index + 1)] as UnknownFrame)]
        })
        expect(fold(doubled)).toEqual(fold(frames))
      }),
      runs,
    )
  })

  test("shows the text of an open reply, and never that of a failed attempt", () => {
    fc.assert(
      fc.property(dice, (rolls) => {
        let transcript = emptyTranscript
        let text = ""
        for (const frame of new Story(rolls).frames) {
          transcript = reduce(transcript, frame)
          if (frame.type === "text_delta") text += (frame.data as { text: string }).text
          else if (positionOf(frame) > 0 && !BESIDE.includes(frame.type)) text = ""
          expect(transcript.writing ?? "").toBe(text)
        }
      }),
      runs,
    )
  })

  test("is the same if a snapshot replaces missed frames", () => {
    fc.assert(
      fc.property(dice, fc.nat(), fc.nat(), fc.nat(), (rolls, first, second, overlap) => {
        const { frames, details } = new Story(rolls)
        const heard = frames.slice(0, first % (frames.length + 1))
        const detail = details[second % details.length]
        if (!detail) return
        const before = fold(heard)
        const caughtUp = withDetail(before, detail)
        // An older snapshot changes nothing.
        if (detail.position <= positionOf({ id: before.cursor } as UnknownFrame)) {
          expect(caughtUp).toBe(before)
          return
        }
        const from = Math.max(0, detail.position - (overlap % 5))
        const rest = frames.filter((frame) => positionOf(frame) >= from)
        const whole = fold(frames)
        expect(known(fold(rest, caughtUp))).toEqual(known(whole))
        expect(known(fold(rest, fromDetail(detail)))).toEqual(known(whole))
      }),
      { ...runs, examples: [[editedWhileAway, 6, 1165506848, 0]] },
    )
  })
})
