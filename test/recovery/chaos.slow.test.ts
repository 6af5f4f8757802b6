import fc from "fast-check"
import { expect, test } from "vitest"
import { loadLazyModules } from "../../core/shared/concurrency/lazy-module.ts"
import { replay } from "../../core/engine/replay/replay.ts"
import { EVENT_VERSION, JournalEvent } from "../../core/protocol/events.ts"
import { CallStatus } from "../../core/protocol/conversation/message.ts"
import { openStore } from "../../core/store/store.ts"
import { seedOf, sizes } from "../support/sizes.ts"
import { type Action, Chaos, type PlannedCall, type PlannedReply } from "./chaos.ts"

/** A failure prints the seed and path that reproduce it. */
const CASES = sizes.chaosCases

const call: fc.Arbitrary<PlannedCall> = fc.record({
  tool: fc.constantFrom(
    "look",
    "look",
    "pay",
    "pay",
    "mail",
    "mail",
    "notes",
    "fetch",
    "more_tools",
    "find_earlier",
    "read_earlier",
    "nonsense",
  ),
  input: fc.constantFrom("good", "good", "good", "good", "bad", "not-json"),
  key: fc.integer({ min: 0, max: 2 }),
})

const reply: fc.Arbitrary<PlannedReply> = fc.record({
  kind: fc.constantFrom("words", "calls", "calls", "calls", "empty", "blank", "breaks-off", "fails"),
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  wait: fc.boolean(),
  thinks: fc.constantFrom("first", "last", "both", "no"),
  finish: fc.constantFrom("stop", "stop", "limit", "refused"),
})

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("say"), when: fc.constantFrom("queue", "steer") }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("decide"),
      decision: fc.constantFrom("commit", "commit", "reject", "edit"),
      which: fc.nat(3),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("resolve"), choice: fc.constantFrom("retry", "done", "abandon") }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("open"), which: fc.nat(3), how: fc.constantFrom("ok", "ok", "throw") }),
  },
  // 3 s exceeds a write's grace, 40 s a tool's limit, 1,000 s a proposal's expiry.
  { weight: 3, arbitrary: fc.record({ do: fc.constant("turn"), seconds: fc.constantFrom(3, 3, 40, 1000) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("kill"),
      in: fc.integer({ min: 1, max: 6 }),
      when: fc.constantFrom("before", "after"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("switch"), model: fc.constantFrom("a", "b") }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("mode"), mode: fc.constantFrom("confirm", "confirm", "auto", "read-only") }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("cancel", "cancel", "resume", "settle", "compact") }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("grant", "grant", "undo"), which: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("revoke") }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("interrupt-write", "die-in-write") }) },
) as fc.Arbitrary<Action>

test(`in ${CASES} interleavings of answers, faults, decisions and crashes every promise holds`, async () => {
  // As on a server a second after its start, because reading a file for the first time takes as long as the disk does.
  await loadLazyModules()
  await using store = await openStore({ url: ":memory:", durability: "normal" })
  const { id: user } = await store.people.ensure("ada", Date.now())
  const seen = new Set<string>()
  const property = fc.asyncProperty(
    fc.array(reply, { maxLength: 10 }),
    fc.array(action, { maxLength: 24 }),
    async (replies, actions) => {
      const chaos = new Chaos(store.engine, user, replies)
      for (const step of actions) await chaos.act(step)
      const conversation = await chaos.finish()
      const events = await chaos.events()
      for (const event of events) {
        seen.add(event.type === "tool_end" ? event.status : event.type)
        if (event.type === "step" && event.step === "routing") seen.add("routing")
        if (event.type === "run_ended" && event.reason) seen.add(event.reason)
        if (event.type === "compaction") seen.add(event.what)
        if (event.type === "proposal" && event.approvedBy === "grant") seen.add("grant")
      }
      expectPromises(chaos, events)
      await expectAudit(chaos, events)
      expectWall(events)
      expectRouted(events)
      expect(conversation.run?.status).not.toBe("running")
      // A new process reads the same state that the old one had.
      const cold = replay(conversation.id, user, events)
      expect({ ...cold, inbox: 0, arrivals: 0 }).toEqual({ ...conversation, inbox: 0, arrivals: 0 })
    },
  )
  await fc.assert(property, { numRuns: CASES, endOnFailure: CASES > 1000, seed: seedOf("PAWL_CHAOS_SEED") })
  if (CASES < 1000) return
  // A run in which nothing happened does not pass: every kind of ending must have occurred. Some come once in
  // a thousand cases, so a run of the usual size may lack them.
  const met: string[] = [...CallStatus.options]
  met.push("restarted", "late_result", "history_cut", "resolution", "settings", "proposal", "awaiting_confirmation")
  met.push("due", "summary", "failed")
  met.push("undo", "grant", "grant_revoked", "routing", "empty_reply", "limit", "refused")
  const missed = met.filter((what) => !seen.has(what))
  expect(missed.length, missed.join()).toBeLessThanOrEqual(CASES < 10_000 ? 5 : 0)
}, 1_800_000)

function expectPromises(chaos: Chaos, events: JournalEvent[]): void {
  expect(chaos.brokenHistories).toEqual([])
  expect(chaos.problems).toEqual([])
  events.forEach((event, index) => {
    expect(event).toMatchObject({ position: index + 1, version: EVENT_VERSION })
    const parsed = JournalEvent.safeParse(event)
    if (!parsed.success) throw new Error(`not an event: ${JSON.stringify(event)}: ${parsed.error.message}`)
  })
  const words = events.flatMap((event) => (event.type === "message" && event.role === "user" ? event.parts : []))
  const texts = words.flatMap((part) => (part.type === "text" ? [part.text] : []))
  const said = texts.filter((text) => !text.startsWith("Undo: "))
  expect(new Set(said).size, "a message entered twice").toBe(said.length)
  expect(
    chaos.acknowledged.filter((text) => !said.includes(text)),
    "an acknowledged message is lost",
  ).toEqual([])

  const ends = events.filter((event) => event.type === "tool_end")
  expect(new Set(ends.map((event) => event.callId)).size, "a call has two results").toBe(ends.length)
  const seqs = events
    .flatMap((event) => (event.type === "message" || event.type === "tool_end" ? [event.seq] : []))
    .sort((a, b) => a - b)
  expect(seqs).toEqual(seqs.map((_, index) => index + 1))

  const proposed = events.flatMap((event) =>
    event.type === "awaiting_confirmation" ? event.proposals : event.type === "proposal" ? [event.proposal] : [],
  )
  const approved = new Set(
    events.flatMap((event) => {
      if (event.type === "decision" && event.decision === "commit") return [event.proposalId]
      return event.type === "proposal" && event.approvedBy ? [event.proposal.id] : []
    }),
  )
  const allowed = new Set(proposed.filter(({ id }) => approved.has(id)).map(({ callId }) => callId))
  for (const [callId, times] of chaos.effects) {
    expect(allowed.has(callId), "a write ran that nobody approved").toBe(true)
    expect(times, "a write ran too often").toBeLessThanOrEqual(1 + (chaos.retries.get(callId) ?? 0))
  }
  for (const end of ends) {
    const isWrite = proposed.some(({ callId, tool }) => callId === end.callId && tool !== "fetch")
    const byTool = end.status === "ok" && !end.text.includes("the person has checked")
    if (isWrite && byTool)
      expect(chaos.effects.get(end.callId) ?? 0, "said to be applied, but it was not").toBeGreaterThan(0)
  }
}

/** One row for each applied write and none for any other; nothing is undone twice; grants are counted. */
async function expectAudit(chaos: Chaos, events: JournalEvent[]): Promise<void> {
  const rows = await chaos.audit()
  expect(rows.map((row) => row.proposal_id).sort(), "applied writes and the audit differ").toEqual(
    await chaos.applied(),
  )
  const undone = rows.flatMap(({ undoes }) => (undoes === null ? [] : [undoes]))
  expect(new Set(undone).size, "something was taken back twice").toBe(undone.length)
  let left = 0
  for (const event of events) {
    if (event.type === "decision") left += event.grant?.uses ?? 0
    if (event.type === "proposal" && event.approvedBy === "grant") left--
    expect(left, "a grant was used more often than it was given").toBeGreaterThanOrEqual(0)
  }
}

/**
 * Messages are routed before they are answered, and once, whichever process died in between. A step without messages
 * widens to all tools until the last reply of a run. The tools stay visible, so a conversation has one such step.
 */
function expectRouted(events: JournalEvent[]): void {
  let [waiting, undoes, widened] = [false, false, 0]
  for (const event of events) {
    if (event.type === "run_started") undoes = event.undoes !== undefined
    if (event.type === "step") {
      if (!waiting) expect(++widened, "decided about twice").toBe(1)
      waiting = false
    }
    if (event.type !== "message") continue
    if (event.role === "assistant") expect(waiting && !undoes, "answered without a decision").toBe(false)
    waiting = event.role === "user"
  }
}

/** If a model that had read untrusted and private data wrote a reply, each of its fetches needs a decision. */
function expectWall(events: JournalEvent[]): void {
  const holds = { outside: false, private: false }
  const gated = new Set<string>()
  const agreed = new Set<string>()
  const proposedFor = new Map<string, string>()
  for (const event of events) {
    if (event.type === "message" && holds.outside && holds.private)
      for (const part of event.parts) if (part.type === "call" && part.name === "fetch") gated.add(part.id)
    if (event.type === "awaiting_confirmation")
      for (const { id, callId } of event.proposals) proposedFor.set(id, callId)
    if (event.type === "proposal") expect(holds.outside && holds.private, "policy agreed behind the wall").toBe(false)
    if (event.type === "decision" && event.decision === "commit") agreed.add(proposedFor.get(event.proposalId) ?? "")
    if (event.type === "tool_start" && gated.has(event.callId)) expect(agreed).toContain(event.callId)
    if (event.type !== "tool_end" && event.type !== "late_result") continue
    // An identical call of the same reply is not carried out again: it gets the result of the approved one.
    if (event.type === "tool_end" && event.status === "ok" && gated.has(event.callId) && !agreed.has(event.callId))
      expect(agreed).toContain(event.reusedFrom)
    if (event.brings === "outside") holds.outside = true
    if (event.brings === "private") holds.private = true
  }
}
