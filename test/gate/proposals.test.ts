import { describe, expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { of, openChecked, repliesOf, resultsOf } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { Note, openWithProposal, proposalRows } from "./note.ts"
import { Held, read, write } from "../support/loop/tools.ts"
import { TurnedClock } from "../support/loop/world.ts"

const MINUTE = 60_000

describe.each(databases)("on $name", ({ create }) => {
  describe("a proposal", () => {
    test("holds all that a person needs to decide, and nothing changes before the decision", async () => {
      await using asked = await openWithProposal(create)
      const { world, id, note, proposal, clock } = asked
      const conversation = await world.load(id)
      expect(proposal).toEqual({
        id: expect.stringMatching(/^prop_/),
        callId: conversation.calls[0]?.id,
        tool: "change_note",
        action: "safe_update",
        summary: 'Change the note to "new"',
        diff: { before: { text: "old" }, after: { text: "new" } },
        undoable: true,
        version: 1,
        hash: expect.stringMatching(/^[\w-]{43}$/),
        target: "note",
        revision: "1",
        expiresAt: clock.now() + 15 * MINUTE,
      })
      expect(conversation.calls[0]?.input).toEqual({ text: "new" })
      expect([...conversation.proposals.values()]).toMatchObject([{ runId: conversation.run?.id, status: "pending" }])
      expect(note).toMatchObject({ text: "old", written: [] })
    })

    test("runs exactly what was shown when it is committed, without another model request", async () => {
      await using asked = await openWithProposal(create)
      const { world, id, note, model, proposal } = asked
      expect(model.received).toHaveLength(1)
      await world.decide(id, proposal.id, "commit")
      expect(note.written).toEqual(["new"])
      expect(await proposalRows(world)).toMatchObject([{ status: "applied", decided_by: world.user }])
      expect((await world.types(id)).slice(5)).toEqual(["decision", "tool_start", "tool_end", "message", "run_ended"])
    })

    test("of a write without an action class is shown with the most severe class", async () => {
      await using database = await create()
      const policy = { proposalMinutes: 2 }
      const clock = new TurnedClock()
      const tools = [write("zap")]
      const model = scripted(calls("zap", { q: "all of it" }))
      await using world = await openChecked({ url: database.url, model, tools, policy, clock })
      const id = await world.begin("Go.")
      const [open] = await world.proposals(id)
      expect(open?.proposed).toMatchObject({ action: "destructive_update", undoable: false })
      expect(open?.proposed.summary).toContain("zap")
      expect(open?.proposed.expiresAt).toBe(clock.now() + 2 * MINUTE)
    })

    test("is not made if its target cannot be read; the model gets the error", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const looking = Promise.withResolvers<void>()
      const tools = [
        write("broken", undefined, { preview: () => Promise.reject(new Error("no such note")) }),
        write("stuck", undefined, { preview: () => (looking.resolve(), new Promise(() => {})) }),
      ]
      const model = scripted(calls(["broken"], ["stuck"]), says("Oh."))
      await using world = await openChecked({ url: database.url, model, tools, clock })
      const { id } = await world.start("Go.")
      await looking.promise
      await clock.turn(30_000)
      await world.pawl.runtime.rest(id)
      const [broken, stuck] = await resultsOf(world, id)
      expect(broken).toMatchObject({ status: "error", text: "broken failed: no such note" })
      expect(stuck).toMatchObject({ status: "error", text: expect.stringContaining("could not be read in time") })
      expect(await repliesOf(world, id)).toEqual(["", "Oh."])
    })
  })

  describe("a decision", () => {
    test("to reject sends the model the reason", async () => {
      await using asked = await openWithProposal(create)
      await asked.world.decide(asked.id, asked.proposal.id, "reject", "It is my favourite note.")
      expect(await asked.told()).toMatchObject([
        { status: "rejected", text: expect.stringContaining("my favourite note") },
      ])
      expect(asked.model.received[1]?.history.at(-1)).toMatchObject({
        results: [{ status: "rejected", text: expect.stringContaining("my favourite note") }],
      })
      expect(await proposalRows(asked.world)).toMatchObject([{ status: "rejected" }])
      expect(asked.note.written).toEqual([])
    })

    test("to edit makes a new proposal with its own id, diff and expiry; the old one is superseded", async () => {
      await using asked = await openWithProposal(create)
      const { world, id, proposal, clock } = asked
      await clock.turn(5 * MINUTE)
      await asked.submit({ type: "edit", proposalId: proposal.id, arguments: { text: "mine" }, by: world.user })
      const [edited, ...others] = await world.proposals(id)
      expect(others).toEqual([])
      expect(edited?.proposed).toMatchObject({
        callId: proposal.callId,
        arguments: { text: "mine" },
        diff: { before: { text: "old" }, after: { text: "mine" } },
        expiresAt: clock.now() + 15 * MINUTE,
      })
      expect(edited?.proposed.id).not.toBe(proposal.id)
      expect(edited?.proposed.hash).not.toBe(proposal.hash)
      const rows = await proposalRows(world)
      expect(new Map(rows.map((row) => [row.id, row.status]))).toEqual(
        new Map([
          [proposal.id, "superseded"],
          [edited?.proposed.id, "pending"],
        ]),
      )
      const late = world.decide(id, proposal.id, "commit")
      await expect(late).rejects.toMatchObject({ code: "proposal_decided", details: { status: "superseded" } })
      expect(asked.model.received).toHaveLength(1)
      expect(asked.note.written).toEqual([])
    })

    test("about an edited proposal runs the edited arguments, and the model learns what changed", async () => {
      await using asked = await openWithProposal(create)
      const { world, id } = asked
      await asked.submit({ type: "edit", proposalId: asked.proposal.id, arguments: { text: "mine" }, by: world.user })
      await asked.submit({
        type: "edit",
        proposalId: (await world.proposals(id))[0]!.proposed.id,
        arguments: { text: "no, mine" },
        by: world.user,
      })
      await world.decide(id, (await world.proposals(id))[0]!.proposed.id, "commit")
      expect(asked.note.written).toEqual(["no, mine"])
      const [result] = await asked.told()
      expect(result?.status).toBe("ok")
      expect(result?.text).toMatch(/person changed the arguments to \{"text":"no, mine"\}.*The note says "no, mine"/)
    })

    test("about an edited proposal sends the model the changes also if it fails", async () => {
      await using asked = await openWithProposal(create)
      const { world, id } = asked
      await asked.submit({
        type: "edit",
        proposalId: asked.proposal.id,
        arguments: { text: "impossible" },
        by: world.user,
      })
      await world.decide(id, (await world.proposals(id))[0]!.proposed.id, "commit")
      const [result] = await asked.told()
      expect(result?.status).toBe("error")
      expect(result?.text).toMatch(/person changed the arguments to \{"text":"impossible"\}.*the note is full/)
    })

    test("to edit with arguments that do not fit is a result like any other, and nothing runs", async () => {
      await using asked = await openWithProposal(create)
      await asked.submit({ type: "edit", proposalId: asked.proposal.id, arguments: { text: 5 }, by: asked.world.user })
      expect(await asked.told()).toMatchObject([{ status: "error", text: expect.stringContaining("text:") }])
      expect(asked.note.written).toEqual([])
    })

    test("about each of several proposals counts for that one only", async () => {
      await using asked = await openWithProposal(create, { texts: ["a", "b", "c"] })
      const { world, id, proposals } = asked
      expect(of(await world.events(id), "awaiting_confirmation")).toHaveLength(1)
      await world.decide(id, proposals[2]!.id, "reject")
      await world.decide(id, proposals[0]!.id, "commit")
      expect(asked.note.written).toEqual(["a"])
      expect(asked.model.received).toHaveLength(1)
    })

    test("about an unknown proposal is not found", async () => {
      await using asked = await openWithProposal(create)
      const none = asked.world.decide(asked.id, "prop_none" as never, "commit")
      await expect(none).rejects.toMatchObject({ code: "not_found", status: 404 })
    })
  })

  test("a write waits for its decision while other tools of the reply still run", async () => {
    await using database = await create()
    const held = new Held()
    const note = new Note()
    const model = scripted(calls(["wait"], ["change_note", { text: "new" }]), says("Done."))
    await using world = await openChecked({ url: database.url, model, tools: [note.change(), read("wait", held.run)] })
    const { id } = await world.start("Go.")
    await held.begun
    expect(note.written).toEqual([])
    held.end("waited")
    await world.pawl.runtime.rest(id)
    expect(note.written).toEqual([])
    await world.decide(id, (await world.proposals(id))[0]!.proposed.id, "commit")
    expect(note.written).toEqual(["new"])
  })
})
