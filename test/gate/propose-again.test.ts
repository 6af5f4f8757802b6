import { describe, expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"
import { databases } from "../support/databases.ts"
import { Face, type FaceOptions, type Visitor } from "../support/server/face.ts"
import { readFrames } from "../support/server/stream.ts"
import { TurnedClock } from "../support/loop/world.ts"

const MINUTES = 60_000
const milk = calls("create_task", { title: "Buy milk" })

// an expired proposal could not be continued.
describe.each(databases)("an expired proposal on $name", ({ create }) => {
  /** A conversation with one expired proposal. */
  async function openExpired(options: Partial<FaceOptions> = {}) {
    const clock = new TurnedClock(Date.now())
    const { url } = await create()
    const model = options.model ?? scripted(milk, always(says("I see.")))
    const face = await Face.open({ url, clock, ...options, model })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const [proposal] = (await ada.say(id, "milk")).body.proposals
    await clock.advance(16 * MINUTES)
    return { clock, url, face, ada, id, proposal, [Symbol.asyncDispose]: () => face[Symbol.asyncDispose]() }
  }
  const again = (ada: Visitor, { id }: { id: string }) => ada.post(`/api/agent/proposals/${id}/again`)
  const commit = (ada: Visitor, id: string) => ada.post(`/api/agent/proposals/${id}/commit`, {})
  const titles = async (ada: Visitor) =>
    (await ada.get("/api/workspace/tasks")).body.items.map(({ title }: { title: string }) => title)
  const expired = async (ada: Visitor, more = "") =>
    (await ada.get(`/api/agent/proposals?status=expired${more}`)).body.items.map(({ id }: { id: string }) => id)

  test("is proposed again in the run that still waits for it, which then continues as usual", async () => {
    await using open = await openExpired()
    const { ada, id, proposal } = open
    const made = await again(ada, proposal)
    expect([made.status, made.body.status]).toEqual([201, "pending"])
    expect(made.body).toMatchObject({ callId: proposal.callId, runId: proposal.runId, arguments: proposal.arguments })
    expect(made.body.id).not.toBe(proposal.id)
    expect(Date.parse(made.body.expiresAt)).toBeGreaterThan(open.clock.now())
    expect((await ada.get(`/api/agent/proposals/${proposal.id}`)).body.status).toBe("superseded")
    expect((await commit(ada, made.body.id)).body.status).toBe("applied")
    const { body } = await ada.post(`/api/conversations/${id}/resume`)
    expect(body.messages.map(({ content }: { content: string }) => content)).toEqual([
      expect.stringMatching(/^Task created: Buy milk/), // not that the person had changed anything
      "I see.",
    ])
    expect(await titles(ada)).toEqual(["Buy milk"])
  })

  test.each(["message", "resume"])(
    "is proposed again after a %s has settled it, in a run that asks no model",
    async (by) => {
      await using open = await openExpired()
      const { ada, id, proposal } = open
      if (by === "message") await ada.say(id, "never mind")
      else await ada.post(`/api/conversations/${id}/resume`)
      expect((await ada.get(`/api/agent/proposals/${proposal.id}`)).body.status).toBe("expired")
      // The conversation lists the expired proposal until it is proposed again.
      const toldAs = async () =>
        (await ada.get(`/api/conversations/${id}`)).body.expired.map((each: Proposal) => [each.id, each.status])
      expect(await toldAs()).toEqual([[proposal.id, "expired"]])
      const made = await again(ada, proposal)
      expect([made.status, made.body.status]).toEqual([201, "pending"])
      expect(made.body.callId).not.toBe(proposal.callId)
      expect(await expired(ada)).toEqual([])
      expect(await toldAs()).toEqual([])
      expect((await commit(ada, made.body.id)).body.status).toBe("applied")
      expect(await titles(ada)).toEqual(["Buy milk"])
      await open.face.pawl.runtime.rest(id as never)
      const { body } = await ada.get(`/api/conversations/${id}`)
      expect(body.status).toBe("active")
      expect(body.messages.slice(-3).map(({ content }: { content: string }) => content)).toEqual([
        'Propose again: Create task "Buy milk" (status: todo, priority: medium)',
        "",
        expect.stringMatching(/^Task created/),
      ])
      // A later message gets a valid history.
      expect((await ada.say(id, "thanks")).body.messages.at(-1).content).toBe("I see.")
    },
  )

  test("is proposed again once, however many requests arrive at the same time", async () => {
    for (const settled of [false, true]) {
      await using open = await openExpired()
      const { ada, id, proposal } = open
      if (settled) await ada.say(id, "never mind")
      const replies = await Promise.all([1, 2, 3, 4].map(() => again(ada, proposal)))
      expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
      for (const { status, body } of replies)
        if (status === 409) expect([body.code, body.proposal.status]).toEqual(["proposal_decided", "superseded"])
      expect((await ada.get("/api/agent/proposals?status=pending")).body.items).toHaveLength(1)
    }
  })

  test("shows its change against the current state", async () => {
    const update = calls("update_task", { task_id: "Buy milk", priority: "high" })
    await using open = await openExpired({ model: scripted(milk, update, always(says("I see."))) })
    const { ada, clock, proposal, id } = open
    await commit(ada, (await again(ada, proposal)).body.id)
    await ada.post(`/api/conversations/${id}/resume`)
    const [late] = (await ada.get("/api/agent/proposals?status=pending")).body.items
    expect(late.diff.before).toEqual({ priority: "medium" })
    await clock.advance(16 * MINUTES)
    const [task] = (await ada.get("/api/workspace/tasks")).body.items
    await ada.patch(`/api/workspace/tasks/${task.id}`, { updates: { priority: "low" } })
    const { body } = await again(ada, late)
    expect(body.diff).toEqual({ before: { priority: "low" }, after: { priority: "high" } })
    expect(body.hash).not.toBe(late.hash)
    expect((await commit(ada, body.id)).body.status).toBe("applied")
  })

  test("is refused, and stays as it is, if it cannot be proposed", async () => {
    await using open = await openExpired()
    const { ada, id, proposal, face } = open
    await ada.patch(`/api/conversations/${id}`, { mode: "read-only" })
    expect((await again(ada, proposal)).body.code).toBe("read_only")
    await ada.patch(`/api/conversations/${id}`, { mode: "confirm" })
    const bob = await face.as("bob")
    expect((await again(bob, proposal)).status).toBe(404)
    expect((await bob.post(`/api/agent/proposals/${proposal.id}/seen`)).status).toBe(404)
    const looker = await face.as("ada", "read")
    expect((await again(looker, proposal)).status).toBe(403)
    expect(await expired(ada)).toEqual([proposal.id])
    const made = await again(ada, proposal)
    expect((await again(ada, made.body)).body).toMatchObject({ code: "still_pending", status: 409 })
    await commit(ada, made.body.id)
    expect((await again(ada, made.body)).body).toMatchObject({ code: "proposal_decided", status: 409 })
    // An edit of an expired one is refused as before: the new preview must be shown first.
    expect((await ada.post(`/api/agent/proposals/${proposal.id}/edit`, { arguments: {} })).status).not.toBe(201)
  })

  test("keeps the arguments that a person edited, and reports that to the model", async () => {
    await using open = await openExpired()
    const { ada, clock, proposal } = open
    const { body: first } = await again(ada, proposal)
    const edited = await ada.post(`/api/agent/proposals/${first.id}/edit`, { arguments: { title: "Buy oat milk" } })
    await clock.advance(16 * MINUTES)
    const { body: made } = await again(ada, edited.body)
    expect(made.arguments).toEqual({ title: "Buy oat milk" })
    await commit(ada, made.id)
    expect(await titles(ada)).toEqual(["Buy oat milk"])
  })

  test("of an undo is proposed again as that undo, also once its run is over", async () => {
    await using open = await openExpired()
    const { ada, clock, proposal, id } = open
    await commit(ada, (await again(ada, proposal)).body.id)
    await ada.post(`/api/conversations/${id}/resume`)
    const [entry] = (await ada.get("/api/agent/audit")).body.items
    const undo = await ada.post(`/api/agent/audit/${entry.id}/undo`)
    await clock.advance(16 * MINUTES)
    await ada.say(id, "something else")
    const { body: made } = await again(ada, undo.body)
    expect(made).toMatchObject({ tool: "delete_task", status: "pending" })
    expect((await ada.post(`/api/agent/audit/${entry.id}/undo`)).body.code).toBe("already_undone")
    await commit(ada, made.id)
    expect(await titles(ada)).toEqual([])
    expect((await ada.get(`/api/agent/audit/${entry.id}`)).body.undoneBy).toBe(made.id)
  })

  test("stays in the inbox until the person has seen it, on every device and after a restart", async () => {
    const { ada, id, proposal, face, url, clock } = await openExpired()
    expect(await expired(ada, "&seen=false")).toEqual([proposal.id])
    await ada.say(id, "never mind") // settled, but not marked as seen
    expect(await expired(ada, "&seen=false")).toEqual([proposal.id])
    const first = Promise.withResolvers<void>()
    const feed = readFrames(await ada.send("GET", "/api/feed"), (frames) => {
      if (frames.length > 0) first.resolve() // the stream begins before there is a frame
      return frames.length > 1
    })
    await first.promise
    const seen = await ada.post(`/api/agent/proposals/${proposal.id}/seen`)
    const told = (await feed).map(({ data }) => data.proposals.map((each: { id: string }) => each.id))
    expect(told).toEqual([[proposal.id], []])
    expect(seen.body).toMatchObject({ status: "expired", seenAt: new Date(clock.now()).toISOString() })
    expect((await ada.post(`/api/agent/proposals/${proposal.id}/seen`)).body).toEqual(seen.body)
    await face[Symbol.asyncDispose]()
    await using next = await Face.open({ url, clock, model: scripted(always(says("I see."))) })
    const later = await next.as("ada")
    expect([await expired(later, "&seen=false"), await expired(later, "&seen=true")]).toEqual([[], [proposal.id]])
    // A proposal that was seen can still be proposed again.
    expect((await again(later, proposal)).status).toBe(201)
  })

  test("is not seen while it still waits", async () => {
    await using open = await openExpired()
    const { body: made } = await again(open.ada, open.proposal)
    const { body } = await open.ada.post(`/api/agent/proposals/${made.id}/seen`)
    expect(body).not.toHaveProperty("seenAt")
  })
})
