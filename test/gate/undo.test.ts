import { describe, expect, test } from "vitest"
import { fork } from "../../core/engine/fork.ts"
import type { UndoInput } from "../../core/engine/input.ts"
import type { Tool } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, type ScriptedReply, scripted } from "../../core/models/scripted/model.ts"
import { type AuditId, type ConversationId, newId } from "../../core/protocol/ids.ts"
import { of, openChecked } from "../support/loop/checked-world.ts"
import { databases, type TestDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { dyingAt } from "../support/loop/faults.ts"
import { auditRows, Shelf } from "../support/loop/shelf.ts"
import { Held, write } from "../support/loop/tools.ts"
import { message, openWorld, type World, type WorldOptions } from "../support/loop/world.ts"

/** Returns the input that the server submits to undo an entry of the audit. */
async function undoOf(world: Pick<World, "store">, tool: string): Promise<UndoInput> {
  const entry = (await auditRows(world)).findLast((row) => row.tool === tool)!
  const inverse = JSON.parse(entry.inverse!) as UndoInput["inverse"]
  const { summary } = entry
  return { type: "undo", auditId: entry.id as AuditId, summary, callId: newId("call"), inverse, by: entry.user_id }
}

async function undo(world: World, id: ConversationId, tool: string): Promise<void> {
  await world.pawl.runtime.submit(id, await undoOf(world, tool))
  await world.pawl.runtime.rest(id)
}

/** Approves every proposal that waits. */
async function agree(world: World, id: ConversationId): Promise<void> {
  for (const { proposed, status } of await world.proposals(id)) {
    if (status === "pending") await world.decide(id, proposed.id, "commit")
  }
}

const put = calls("put", { id: "b1", title: "Emma" })

/** A conversation in which Emma was put on the shelf. */
async function openDone(
  create: TestDatabase["create"],
  { replies = [], ...options }: Partial<WorldOptions> & { replies?: ScriptedReply[] } = {},
) {
  const database = await create()
  const shelf = new Shelf()
  const model = scripted(put, says("Done."), ...replies)
  const world = await openChecked({ url: database.url, model, tools: shelf.tools, ...options })
  const id = await world.begin("Put Emma there.")
  await agree(world, id)
  return {
    ...{ database, world, id, shelf, model },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

describe.each(databases)("on $name", ({ create }) => {
  test("an undo is proposed, changes nothing before its approval, and makes no model request", async () => {
    await using done = await openDone(create, { replies: [says("You are welcome.")] })
    const { world, id, shelf, model } = done
    await undo(world, id, "put")
    const [open] = await world.proposals(id)
    expect(open?.proposed).toMatchObject({ tool: "take", summary: 'Take "Emma" off the shelf', undoable: true })
    expect(shelf.books.size).toBe(1)
    await agree(world, id)
    expect(shelf.log).toEqual(["put b1", "take b1"])
    expect(of(await world.events(id), "run_ended").at(-1)).toMatchObject({ status: "completed", reason: "undo" })
    expect(model.received).toHaveLength(2)
    // The next request contains the undone writes, each call with its result: the scripted model refuses anything
    // else.
    await world.send(id, "Thanks.")
    const roles = model.received[2]!.history.map((turn) => (turn.role === "user" ? turn.text : turn.role))
    expect(roles.slice(-4)).toEqual(['Undo: Put "Emma" on the shelf', "assistant", "tool", "Thanks."])
  })

  test("both are audited, and each names the other", async () => {
    await using done = await openDone(create)
    await undo(done.world, done.id, "put")
    const [before] = await auditRows(done.world)
    expect(before?.undone_by).toBeNull()
    await agree(done.world, done.id)
    const [first, second] = await auditRows(done.world)
    expect(second).toMatchObject({ tool: "take", undoes: first!.id, undone_by: null, before: '"Emma"', after: "null" })
    expect(first).toMatchObject({ tool: "put", undoes: null, undone_by: second!.proposal_id })
  })

  test("an undo can be undone, and that undo too", async () => {
    await using done = await openDone(create)
    const { world, id, shelf } = done
    for (const tool of ["put", "take", "put", "take"]) {
      await undo(world, id, tool)
      await agree(world, id)
    }
    expect(shelf.log).toEqual(["put b1", "take b1", "put b1", "take b1", "put b1"])
    const rows = await auditRows(world)
    expect(rows.map(({ undoes }) => undoes)).toEqual([null, ...rows.slice(0, -1).map((row) => row.id)])
  })

  test("the inverse is the recorded one, whatever a later version of the tool would do", async () => {
    await using done = await openDone(create)
    const { url } = done.database
    const tools = done.shelf.tools.map((tool) => ({ ...tool, inverse: () => ({ tool: "burn", input: {} }) }) as Tool)
    await using world = await openChecked({ url, model: scripted(), tools })
    await undo(world, done.id, "put")
    expect((await world.proposals(done.id))[0]?.proposed.tool).toBe("take")
  })

  test("a rejected undo changes nothing, and may be requested again", async () => {
    await using done = await openDone(create)
    const { world, id, shelf } = done
    await undo(world, id, "put")
    await world.decide(id, (await world.proposals(id))[0]!.proposed.id, "reject")
    expect((await world.load(id)).run).toMatchObject({ status: "completed", reason: "undo" })
    expect((await auditRows(world)).map(({ undone_by }) => undone_by)).toEqual([null])
    await undo(world, id, "put")
    await agree(world, id)
    expect(shelf.books.size).toBe(0)
  })

  test("in auto mode an undo still waits for approval", async () => {
    await using done = await openDone(create)
    const { world, id, shelf } = done
    await world.pawl.runtime.submit(id, { type: "settings", mode: "auto" })
    await undo(world, id, "put")
    expect((await world.proposals(id)).map(({ status }) => status)).toEqual(["pending"])
    expect(shelf.books.size).toBe(1)
  })

  test("a read-only conversation refuses an undo, and one that became read-only denies it", async () => {
    await using done = await openDone(create)
    const { world, id, shelf } = done
    await undo(world, id, "put")
    await world.pawl.runtime.submit(id, { type: "settings", mode: "read-only" })
    await agree(world, id)
    expect(of(await world.events(id), "tool_end").at(-1)?.status).toBe("denied")
    await expect(undo(world, id, "put")).rejects.toMatchObject({ code: "read_only", status: 409 })
    expect(shelf.books.size).toBe(1)
  })

  test("a write that is undone, or whose undo is open, is not undone a second time", async () => {
    await using done = await openDone(create)
    const { world, id, shelf } = done
    await undo(world, id, "put")
    const [open] = await world.proposals(id)
    const by = open!.proposed.id
    await expect(undo(world, id, "put")).rejects.toMatchObject({
      code: "already_undone",
      details: { by, status: "pending" },
    })
    await agree(world, id)
    await expect(undo(world, id, "put")).rejects.toMatchObject({
      code: "already_undone",
      details: { by, status: "applied" },
    })
    await expect(
      (async () => {
        await using other = await openWorld({ url: done.database.url, model: scripted(), tools: shelf.tools })
        await undo(other, id, "put")
      })(),
      "after a restart too",
    ).rejects.toMatchObject({ code: "already_undone" })
    expect(shelf.log).toEqual(["put b1", "take b1"])
  })

  test("of many concurrent requests to undo the same write one gets a proposal", async () => {
    await using done = await openDone(create)
    const { world, id } = done
    const inputs = await Promise.all(Array.from({ length: 8 }, () => undoOf(world, "put")))
    const outcomes = await Promise.allSettled(inputs.map((input) => world.pawl.runtime.submit(id, input)))
    await world.pawl.runtime.rest(id)
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    expect(await world.proposals(id)).toHaveLength(1)
    expect(of(await world.events(id), "run_started")).toHaveLength(2)
  })

  test("a conversation at work refuses an undo instead of queueing it", async () => {
    const held = new Held()
    const slow = write("slow", held.run)
    await using done = await openDone(create, {
      replies: [calls("slow"), says("Done.")],
      tools: [...new Shelf().tools, slow],
    })
    const { world, id } = done
    await world.pawl.runtime.submit(id, { type: "settings", mode: "auto" })
    await world.pawl.runtime.submit(id, message("Go."))
    await held.begun
    await expect(undo(world, id, "put")).rejects.toMatchObject({ code: "busy", status: 409 })
    held.end("Done.")
    await world.pawl.runtime.rest(id)
    expect(of(await world.events(id), "run_started")).toHaveLength(2)
  })

  test("open proposals must be decided before an undo; expired ones are settled by it", async () => {
    const other = calls("put", { id: "b2", title: "Persuasion" })
    const { TurnedClock } = await import("../support/loop/world.ts")
    const clock = new TurnedClock()
    await using done = await openDone(create, { replies: [other], clock })
    const { world, id, shelf } = done
    await world.send(id, "Another.")
    await expect(undo(world, id, "put")).rejects.toMatchObject({ code: "still_pending", details: { count: 1 } })
    await clock.turn(15 * 60_000)
    await undo(world, id, "put")
    expect(of(await world.events(id), "tool_end").map(({ status }) => status)).toEqual(["ok", "expired"])
    await agree(world, id)
    expect(shelf.log).toEqual(["put b1", "take b1"])
  })

  test("an undo whose target is gone says so, and the conversation can continue", async () => {
    await using done = await openDone(create, { replies: [says("I see.")] })
    const { world, id, shelf } = done
    shelf.books.clear()
    await undo(world, id, "put")
    const last = of(await world.events(id), "tool_end").at(-1)
    expect(last).toMatchObject({ status: "error", text: "take failed: there is no book b1" })
    expect((await world.load(id)).run?.status).toBe("completed")
    await world.send(id, "Well?")
    expect((await world.load(id)).run?.status).toBe("completed")
  })

  test("an undo whose tool is gone says so too", async () => {
    await using done = await openDone(create)
    await using world = await openChecked({ url: done.database.url, model: scripted(), tools: [] })
    await undo(world, done.id, "put")
    expect(of(await world.events(done.id), "tool_end").at(-1)).toMatchObject({ status: "error" })
    expect((await world.load(done.id)).run?.status).toBe("completed")
  })

  test("a message that steers into an undo is answered after it", async () => {
    await using done = await openDone(create, { replies: [says("Here.")] })
    const { world, id, model } = done
    const held = Promise.withResolvers<void>()
    const entered = Promise.withResolvers<void>()
    const { pawl } = world
    await undo(world, id, "put")
    const take = pawl.ports.agents.get("test").tools.find("take")!
    const run = take.run
    Object.assign(take, {
      async run(...given: Parameters<Tool["run"]>) {
        entered.resolve()
        await held.promise
        return run(...given)
      },
    })
    const deciding = agree(world, id)
    await entered.promise
    await pawl.runtime.submit(id, message("And?", { when: "steer" }))
    held.resolve()
    await deciding
    await pawl.runtime.rest(id)
    expect(model.received).toHaveLength(3)
    expect(of(await world.events(id), "run_ended").map(({ reason }) => reason)).toEqual([undefined, "undo", undefined])
  })

  test("a new message instead of a decision ends the undo, and it may be requested again", async () => {
    await using done = await openDone(create, { replies: [says("Fine.")] })
    const { world, id } = done
    await undo(world, id, "put")
    await world.send(id, "Never mind.")
    expect(of(await world.events(id), "tool_end").map(({ status }) => status)).toEqual(["ok", "superseded"])
    await undo(world, id, "put")
    expect((await world.proposals(id)).map(({ status }) => status)).toEqual(["pending"])
  })

  test("a fork has nothing to undo, and is not affected by an undo in its original", async () => {
    await using done = await openDone(create)
    const { world, id } = done
    await undo(world, id, "put")
    await agree(world, id)
    const { position } = await world.load(id)
    for (const at of [position - 3, position]) {
      const copy = await fork(world.pawl.ports, id, at)
      const loaded = await world.load(copy.id)
      expect([loaded.undone.size, loaded.run?.undoes, loaded.run?.status === "running"]).toEqual([0, undefined, false])
    }
    expect(await auditRows(world)).toHaveLength(2)
  })

  test.each(["before", "after"] as const)(
    "a crash %s any write of an undo neither loses nor doubles it",
    { timeout: 120_000 },
    async (when) => {
      const model = () => scripted(always(({ history }) => (history.at(-1)?.role === "tool" ? says("Done.") : put)))
      for (let at = 1; ; at++) {
        await using database = await create()
        const shelf = new Shelf()
        const common = { url: database.url, tools: shelf.tools }
        let id: ConversationId
        {
          await using world = await openWorld({ ...common, model: model() })
          id = await world.begin("Put Emma there.")
          await agree(world, id)
        }
        let dying: ReturnType<typeof dyingAt> | undefined
        {
          const between = (journal: Parameters<typeof dyingAt>[1]) => (dying = dyingAt({ at, when }, journal))
          await using world = await openWorld({ ...common, model: model(), between })
          await undo(world, id, "put").catch(() => {})
          await agree(world, id).catch(() => {})
        }
        await using world = await openChecked({ ...common, model: model() })
        await world.pawl.runtime.recover()
        await world.pawl.runtime.rest(id)
        await undo(world, id, "put").catch(() => {}) // if the first process did not get so far
        await agree(world, id)
        expect(shelf.log, `death ${when} write ${at}`).toEqual(["put b1", "take b1"])
        expect((await auditRows(world)).map(({ tool }) => tool)).toEqual(["put", "take"])
        expect((await world.load(id)).run).toMatchObject({ status: "completed", reason: "undo" })
        if (!dying?.dead) {
          expect(at).toBeGreaterThan(4)
          break
        }
      }
    },
  )

  describe("over HTTP", () => {
    /** A server on which ada has put a book on the shelf. */
    async function openFace() {
      const { url } = await create()
      const shelf = new Shelf()
      const model = scripted(put, says("Done."), always(says("Well.")))
      const face = await Face.open({ url, model, tools: [...shelf.tools, write("forever")] })
      const ada = await face.as("ada")
      const id = await ada.begin({ agent: "test" })
      const [proposal] = (await ada.say(id, "Put.")).body.proposals
      await ada.post(`/api/agent/proposals/${proposal.id}/commit`)
      await ada.post(`/api/conversations/${id}/resume`)
      const [entry] = (await ada.get("/api/agent/audit")).body.items
      return { face, ada, id, shelf, entry, [Symbol.asyncDispose]: () => face[Symbol.asyncDispose]() }
    }

    test("undo returns the proposal, which commit carries out", async () => {
      await using world = await openFace()
      const { ada, entry, shelf, id } = world
      const undoing = await ada.post(`/api/agent/audit/${entry.id}/undo`)
      expect(undoing.status).toBe(201)
      expect(undoing.body).toMatchObject({
        conversationId: id,
        tool: "take",
        arguments: { id: "b1" },
        status: "pending",
      })
      const again = await ada.post(`/api/agent/audit/${entry.id}/undo`)
      expect([again.status, again.body.code, again.body.proposal]).toEqual([409, "already_undone", undoing.body])
      const committed = await ada.post(`/api/agent/proposals/${undoing.body.id}/commit`)
      expect([committed.status, committed.body.status, shelf.books.size]).toEqual([200, "applied", 0])
      const { body } = await ada.get(`/api/agent/audit/${entry.id}`)
      expect(body.undoneBy).toBe(undoing.body.id)
      const late = await ada.post(`/api/agent/audit/${entry.id}/undo`)
      expect([late.status, late.body.code, late.body.proposal.status]).toEqual([409, "already_undone", "applied"])
    })

    test("undo needs the scope to chat, and deciding it the scope to approve", async () => {
      await using world = await openFace()
      const reader = await world.face.as("ada", "read")
      expect((await reader.post(`/api/agent/audit/${world.entry.id}/undo`)).status).toBe(403)
      const speaker = await world.face.as("ada", "chat", "read")
      const { status, body } = await speaker.post(`/api/agent/audit/${world.entry.id}/undo`)
      expect(status).toBe(201)
      expect((await speaker.post(`/api/agent/proposals/${body.id}/commit`)).status).toBe(403)
      expect(world.shelf.books.size).toBe(1)
    })

    test("revoking the token that requested an undo stops its run", async () => {
      await using world = await openFace()
      const { face, ada, entry, id } = world
      const { credential } = (await ada.get("/api/auth/me")).body
      const asked = Promise.withResolvers<void>()
      const revoked = Promise.withResolvers<void>()
      // The tool searches the book before its removal is proposed; here that takes until the token is revoked.
      world.shelf.beforeTaking = () => (asked.resolve(), revoked.promise)
      const undoing = ada.post(`/api/agent/audit/${entry.id}/undo`)
      await asked.promise
      const other = await face.as("ada")
      expect((await other.ask("DELETE", `/api/tokens/${credential.id}`)).status).toBe(204)
      revoked.resolve()
      await undoing
      await face.pawl.runtime.rest(id as ConversationId)
      expect((await face.store.journal.load(id as ConversationId, true)).run).toMatchObject({
        ...{ status: "cancelled", credential: credential.id },
      })
      const { items } = (await other.get("/api/agent/proposals")).body
      expect(items.filter(({ status }: { status: string }) => status === "pending")).toEqual([])
    })

    test("another user's entry cannot be undone, nor distinguished from a missing one", async () => {
      await using world = await openFace()
      const bob = await world.face.as("bob")
      const foreign = await bob.post(`/api/agent/audit/${world.entry.id}/undo`)
      const missing = await bob.post("/api/agent/audit/aud_nothing/undo")
      expect([foreign.status, foreign.text]).toEqual([404, missing.text])
    })

    test("an entry that cannot be undone has a reason", async () => {
      await using world = await openFace()
      const { ada, entry, shelf } = world
      shelf.books.clear()
      const gone = await ada.post(`/api/agent/audit/${entry.id}/undo`)
      expect([gone.status, gone.body.code]).toEqual([409, "not_undoable"])
      expect(gone.body.detail).toContain("there is no book b1")
      const { engine } = world.face.store
      await engine.change({
        type: "statements",
        statements: [{ sql: "UPDATE audit_entry SET inverse = NULL", values: [] }],
      })
      const never = await ada.post(`/api/agent/audit/${entry.id}/undo`)
      expect([never.status, never.body.code]).toEqual([409, "not_undoable"])
    })

    test("a task completes the cycle: created, undone, restored under its old id, deleted by the model", async () => {
      const { url } = await create()
      const { offlineModel } = await import("../../labs/offline-model/model.ts")
      await using face = await Face.open({ url, model: offlineModel() })
      const ada = await face.as("ada")
      const id = await ada.begin()
      const decide = async (proposal: { id: string }) => {
        const { body } = await ada.post(`/api/agent/proposals/${proposal.id}/commit`)
        expect(body.status).toBe("applied")
        await ada.post(`/api/conversations/${id}/resume`)
      }
      const undoNewest = async () => {
        const [entry] = (await ada.get("/api/agent/audit?limit=1")).body.items
        const { status, body } = await ada.post(`/api/agent/audit/${entry.id}/undo`)
        expect(status, JSON.stringify(body)).toBe(201)
        await decide(body)
        return body
      }
      const { id: user } = await face.store.people.ensure("ada", 0)
      const tasks = () => face.store.workspaceOf(user).select("tasks")
      await decide((await ada.say(id, "add a task: buy milk")).body.proposals[0])
      const [made] = await tasks()
      const deleting = await undoNewest()
      expect(deleting).toMatchObject({ tool: "delete_task", action: "destructive_delete", undoable: true })
      expect(await tasks()).toEqual([])
      expect(await undoNewest()).toMatchObject({ tool: "restore_task" })
      expect(await tasks()).toEqual([made])
      await decide((await ada.say(id, "delete task buy milk")).body.proposals[0])
      expect(await tasks()).toEqual([])
      await undoNewest()
      expect(await tasks()).toEqual([made])
    })

    test("the model cannot call a tool that is reserved for undo", async () => {
      const { url } = await create()
      const task = {
        id: "task_x",
        title: "Forged",
        projectId: null,
        description: null,
        status: "todo",
        priority: "low",
      }
      const forged = { ...task, assignee: null, dueDate: null, isAiSuggested: 0, isApproved: 1, createdAt: 1 }
      const model = scripted(calls("restore_task", { task: forged }), says("Oh."))
      await using face = await Face.open({ url, model })
      const ada = await face.as("ada")
      const { body } = await ada.say(await ada.begin({ mode: "auto" }), "Forge.")
      expect(body.proposals).toEqual([])
      expect(body.messages.find(({ role }: { role: string }) => role === "tool").content).toContain("There is no tool")
    })
  })
})
