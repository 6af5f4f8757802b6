import fc from "fast-check"
import { expect, test } from "vitest"
import { type Conversation, conversationStatus, pauseReason } from "../../core/engine/conversation.ts"
import { emptyTranscript, fromDetail, reduce, type Transcript } from "../../client/index.ts"
import { stateByProposal, turnOf } from "../../core/protocol/calls/call-state.ts"
import type { UnknownFrame } from "../../core/protocol/frames.ts"
import { isSettled } from "../../core/protocol/proposals/proposal.ts"
import { AnyCalls, type Moment } from "./any-calls.ts"

const dice = fc.array(fc.nat(10_000), { minLength: 20, maxLength: 200 })
const isPause = ({ type, data }: UnknownFrame) => type === "done" && (data as { status: string }).status === "paused"

/** A frame without calls, after which a transcript shows the state that it derives from its calls. */
const aside = (position: number): UnknownFrame => ({
  id: String(position + 1),
  type: "step",
  data: { step: "x", at: "" },
})

const openIn = ({ items }: Transcript) =>
  items.flatMap((item) =>
    item.type === "proposal" && !isSettled(item.proposal.status) ? [`${item.key} ${item.proposal.status}`] : [],
  )

/** Whether the proposals show whose turn the calls are, because a snapshot has nothing else. */
const isTold = ({ calls, proposals }: Conversation) =>
  calls.every(({ state, proposal }) => {
    const open = proposal && proposals.get(proposal)
    return state === "ended" || turnOf(open ? stateByProposal(open.status) : "new") === turnOf(state)
  })

/** The rows for which reducer, stream, transcript and snapshot differ. */
function* disagreements({ event, frames, conversation, detail }: Moment, before: Transcript, waited: boolean) {
  const after = frames.reduce(reduce, before)
  const waits = pauseReason(conversation) !== undefined
  const status = conversationStatus(conversation)
  const open = [...conversation.proposals].map(([id, each]) => `${id} ${each.status}`).sort()
  const told = frames.some(isPause)
  const where = `${event.type} at ${event.position}:`
  if (told !== (waits && !waited)) yield `${where} the fold ${waits ? "waits" : "works"}, the stream says otherwise`
  if (after.status !== status) yield `${where} the fold is ${status}, the transcript ${after.status}`
  if (openIn(after).sort().join() !== open.join())
    yield `${where} open are ${open.join()}, shown ${openIn(after).join()}`
  if (!isTold(conversation)) return
  const snapshot = reduce(fromDetail(detail), aside(detail.position)).status
  if (snapshot !== status) yield `${where} the fold is ${status}, a snapshot ${snapshot}`
}

test("reducer, stream, transcript and snapshot agree on every call, also after rows that the loop never writes", () => {
  const seen = new Set<string>()
  let pauses = 0
  fc.assert(
    fc.property(dice, (rolls) => {
      let transcript = emptyTranscript
      let waited = false
      new AnyCalls(rolls, (moment) => {
        expect([...disagreements(moment, transcript, waited)]).toEqual([])
        transcript = moment.frames.reduce(reduce, transcript)
        waited = pauseReason(moment.conversation) !== undefined
        if (waited) pauses++
        seen.add(moment.event.type)
      })
    }),
    { numRuns: 300 },
  )
  // Enough happened: most cases have one pause or two, and chance may bring fewer.
  expect(pauses).toBeGreaterThan(100)
  expect(seen.size).toBe(13)
}, 120_000)
