import { describe, expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool, type Tool } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { openChecked, resultsOf } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { dyingAt, timingOutAt } from "../support/loop/faults.ts"
import { openWithProposal } from "./note.ts"
import { auditRows, Shelf } from "../support/loop/shelf.ts"
import { aborted, Held, write } from "../support/loop/tools.ts"
import { openWorld, TurnedClock, type World } from "../support/loop/world.ts"

/** Puts a book on the shelf when it is asked, before or after a restart. */
const putting = () =>
  scripted(
    always(({ history }) =>
      history.at(-1)?.role === "tool" ? says("Done.") : calls("put", { id: "b1", title: "Emma" }),
    ),
  )

async function commitAll(world: World, id: ConversationId): Promise<void> {
  for (const { proposed, status } of await world.proposals(id)) {
    if (status === "pending") await world.decide(id, proposed.id, "commit")
  }
}

describe.each(databases)("on $name", ({ create }) => {
  test("an applied write has one row with the state before and after, who decided and when", async () => {
    await using database = await create()
    const shelf = new Shelf()
    shelf.books.set("b1", "Persuasion")
    const clock = new TurnedClock()
    await using world = await openChecked({ url: database.url, model: putting(), tools: shelf.tools, clock })
    const id = await world.begin("Put Emma there.")
    expect(await auditRows(world)).toEqual([]) // nothing was applied yet
    const [open] = await world.proposals(id)
    await clock.turn(5000)
    await commitAll(world, id)
    const [row, ...others] = await auditRows(world)
    expect(others).toEqual([])
    expect(row).toMatchObject({
      id: open!.proposed.callId.replace("call_", "aud_"),
      conversation_id: id,
      user_id: world.user,
      run_id: open!.runId,
      call_id: open!.proposed.callId,
      proposal_id: open!.proposed.id,
      tool: "put",
      action: "safe_create",
      summary: 'Put "Emma" on the shelf',
      arguments: '{"id":"b1","title":"Emma"}',
      before: '"Persuasion"', // as the tool found it, not as the proposal showed it
      after: '"Emma"',
      decided_by: world.user,
      applied_at: clock.now(),
      inverse: '{"tool":"take","input":{"id":"b1"}}',
      undoes: null,
      undone_by: null,
    })
  })

  test("if the tool does not report what it changed, the audit stores the proposal's preview", async () => {
    await using asked = await openWithProposal(create)
    await asked.world.decide(asked.id, asked.proposal.id, "commit")
    const [row] = await auditRows(asked.world)
    expect(row).toMatchObject({ before: '{"text":"old"}', after: '{"text":"new"}' })
  })

  test("an edited write is audited as it ran", async () => {
    await using asked = await openWithProposal(create)
    await asked.submit({ type: "edit", proposalId: asked.proposal.id, arguments: { text: "mine" }, by: "ada" })
    await commitAll(asked.world, asked.id)
    expect(await auditRows(asked.world)).toMatchObject([{ arguments: '{"text":"mine"}', after: '{"text":"mine"}' }])
  })

  test("in auto mode a write is audited as well, as decided by policy", async () => {
    await using database = await create()
    const shelf = new Shelf()
    await using world = await openChecked({ url: database.url, model: putting(), tools: shelf.tools })
    await world.begin("Put Emma there.", { mode: "auto" })
    expect(await auditRows(world)).toMatchObject([{ tool: "put", decided_by: "policy" }])
  })

  test("a write that was not applied has no row", async () => {
    await using database = await create()
    const tools = [
      write("breaks", () => {
        throw new Error("no")
      }),
      write("denied"),
    ]
    const model = scripted(calls(["breaks"], ["denied"]), says("Well."))
    await using world = await openChecked({ url: database.url, model, tools })
    const id = await world.begin("Go.")
    const [breaks, denied] = await world.proposals(id)
    await world.decide(id, breaks!.proposed.id, "commit")
    await world.decide(id, denied!.proposed.id, "reject")
    expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["error", "rejected"])
    expect(await auditRows(world)).toEqual([])
  })

  describe("a write whose outcome was learned later", () => {
    test.each([
      ["done", 1],
      ["abandon", 0],
    ] as const)("that a person marks as %s has %i row(s), of the user who approved it", async (choice, count) => {
      await using database = await create()
      const held = new Held()
      const clock = new TurnedClock()
      await using world = await openChecked({
        ...{ url: database.url, model: scripted(calls("save"), says("Well.")), clock },
        tools: [write("save", held.run)],
      })
      const id = await world.begin("Save.")
      const [open] = await world.proposals(id)
      const deciding = world.decide(id, open!.proposed.id, "commit")
      const signal = await held.begun
      const told = aborted(signal)
      await clock.turn(33_000)
      await told
      await deciding
      expect(await auditRows(world)).toEqual([])
      const proposalId = open!.proposed.id
      await world.pawl.runtime.submit(id, { type: "resolve", proposalId, choice, by: "user_bob" })
      await world.pawl.runtime.rest(id)
      const rows = await auditRows(world)
      expect(rows).toHaveLength(count)
      if (count) expect(rows).toMatchObject([{ decided_by: world.user, inverse: null }])
    })

    test.each(["while the doubt is open", "after the run was cancelled"])(
      "because it ended late, %s, has one row with its inverse",
      async (moment) => {
        await using database = await create()
        const held = new Held()
        const clock = new TurnedClock()
        const shelf = new Shelf()
        const put = { ...(shelf.tools[0] as Tool), run: held.run, afterCrash: "in-doubt" } as Tool
        const tools = [put, shelf.tools[1] as Tool]
        const model = scripted(calls("put", { id: "b1", title: "Emma" }), says("Well."))
        await using world = await openChecked({ url: database.url, model, tools, clock })
        const id = await world.begin("Put.")
        const [open] = await world.proposals(id)
        const deciding = world.decide(id, open!.proposed.id, "commit")
        const told = aborted(await held.begun)
        if (moment === "after the run was cancelled") {
          await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
          await told
          await clock.turn(2000)
        } else await clock.turn(33_000)
        await deciding
        const woken = new Promise<void>((resolve) => world.pawl.ports.bus.onWake(() => resolve()))
        held.end("It is there.")
        await woken
        await world.pawl.runtime.rest(id)
        expect(await auditRows(world)).toMatchObject([{ tool: "put", inverse: '{"tool":"take","input":{"id":"b1"}}' }])
      },
    )
  })

  describe("a tool that returns invalid data about its change", () => {
    const odd = (inverse: unknown, change?: unknown): Tool =>
      defineTool({
        name: "odd",
        description: "Odd.",
        input: z.object({}),
        effect: "write",
        afterCrash: "in-doubt",
        inverse: inverse as never,
        run: () => answer("Done.", change === undefined ? {} : { change: change as never }),
      })
    const circle: Record<string, unknown> = {}
    circle.circle = circle

    test.each<[string, unknown, unknown]>([
      ["an inverse that throws", () => circle.missing!.toString(), undefined],
      ["an inverse that is no call", () => "undo it", undefined],
      ["an inverse without arguments", () => ({ tool: "odd" }), undefined],
      ["an inverse that has no JSON", () => ({ tool: "odd", input: circle }), undefined],
      ["a change that has no JSON", false, { before: circle, after: 1n }],
    ])("such as %s is applied and audited as one that cannot be undone", async (_what, inverse, change) => {
      await using database = await create()
      const model = scripted(calls("odd"), says("Done."))
      await using world = await openChecked({ url: database.url, model, tools: [odd(inverse, change)] })
      const id = await world.begin("Go.", { mode: "auto" })
      expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["ok"])
      expect(await auditRows(world)).toMatchObject([{ tool: "odd", inverse: null }])
      world.problems.length = 0
    })

    test("such as text that cannot be stored is repaired", async () => {
      await using database = await create()
      const bad = "a\0b\ud800"
      const tools = [odd(() => ({ tool: bad, input: { [bad]: bad } }), { before: bad, after: { [bad]: 1 } })]
      await using world = await openChecked({ url: database.url, model: scripted(calls("odd"), says("Done.")), tools })
      await world.begin("Go.", { mode: "auto" })
      const [row] = await auditRows(world)
      expect(JSON.parse(row!.inverse!)).toEqual({
        tool: "a\ufffdb\ufffd",
        input: { "a\ufffdb\ufffd": "a\ufffdb\ufffd" },
      })
      expect(JSON.parse(row!.before)).toBe("a\ufffdb\ufffd")
    })
  })

  describe("at whatever write of the store a process crashes", () => {
    /** Puts a book on the shelf in several processes: each but the last crashes at its n-th write. */
    async function live(url: string, shelf: Shelf, between?: Parameters<typeof openWorld>[0]["between"]) {
      const tools = shelf.tools
      await using world = await openWorld({ url, model: putting(), tools, ...(between ? { between } : {}) })
      const { runtime } = world.pawl
      try {
        const sql = "SELECT conversation_id AS id FROM messages WHERE role = 'user'"
        const [known] = await world.store.engine.query<{ id: ConversationId }>(sql, [])
        const id = known?.id ?? (await world.begin("Put Emma there."))
        for (let round = 0; round < 10; round++) {
          await runtime.recover()
          await runtime.rest(id)
          if ((await world.load(id)).run?.status !== "running") break
          await commitAll(world, id).catch(() => {})
        }
      } catch {
        // the planned crash
      }
      return {
        rows: await auditRows(world),
        status: (await world.store.engine.query("SELECT status FROM runs", []))[0],
      }
    }

    test.each(["before", "after"] as const)(
      "(%s it reaches the disk) there is one row in the end, never two",
      { timeout: 120_000 },
      async (when) => {
        for (let at = 1; ; at++) {
          await using database = await create()
          const shelf = new Shelf()
          let dying: ReturnType<typeof dyingAt> | undefined
          const first = await live(database.url, shelf, (journal) => (dying = dyingAt({ at, when }, journal)))
          // Never a row without the effect, and never an applied write without its row.
          expect(first.rows.length).toBeLessThanOrEqual(shelf.log.length)
          const second = await live(database.url, shelf)
          expect(second.status, `death ${when} write ${at}`).toEqual({ status: "completed" })
          expect(second.rows, `death ${when} write ${at}`).toMatchObject([{ tool: "put" }])
          expect(shelf.log).toEqual(["put b1"])
          if (!dying?.dead) {
            expect(at).toBeGreaterThan(4)
            break
          }
        }
      },
    )

    test("a write that was done and reported as lost leaves one row", { timeout: 120_000 }, async () => {
      for (let at = 1; at <= 6; at++) {
        await using database = await create()
        const shelf = new Shelf()
        await live(database.url, shelf, (journal) => timingOutAt(at, journal))
        const { rows, status } = await live(database.url, shelf)
        expect(status, `lost answer of write ${at}`).toEqual({ status: "completed" })
        expect(rows, `lost answer of write ${at}`).toMatchObject([{ tool: "put" }])
      }
    })
  })

  describe("over HTTP", () => {
    async function applied(count: number) {
      const { url } = await create()
      const shelf = new Shelf()
      const several = Array.from({ length: count }, (_, n) => ["put", { id: `b${n}`, title: `Book ${n}` }] as const)
      const clock = new TurnedClock()
      const face = await Face.open({
        url,
        model: scripted(calls(...several), says("Done.")),
        tools: shelf.tools,
        clock,
      })
      const ada = await face.as("ada")
      const id = await ada.begin({ agent: "test", mode: "auto" })
      await ada.say(id, "Put.")
      return { face, ada, id, [Symbol.asyncDispose]: () => face[Symbol.asyncDispose]() }
    }

    test("a user reads their own entries, newest first, page by page", async () => {
      await using world = await applied(5)
      const titles: string[] = []
      let cursor: string | null = ""
      for (let page = 0; cursor !== null; page++) {
        const { status, body } = await world.ada.get(`/api/agent/audit?limit=2&cursor=${cursor}`)
        expect(status).toBe(200)
        expect(body.items.length).toBe(page < 2 ? 2 : 1)
        titles.push(...body.items.map((entry: { after: string }) => entry.after))
        cursor = body.nextCursor
      }
      expect([...titles].sort()).toEqual(["Book 0", "Book 1", "Book 2", "Book 3", "Book 4"])
      const [newest] = (await world.ada.get("/api/agent/audit?limit=1")).body.items
      expect(newest.after).toBe(titles[0])
      const one = await world.ada.get(`/api/agent/audit/${newest.id}`)
      expect(one.body).toEqual(newest)
      expect(one.body).toMatchObject({ conversationId: world.id, decidedBy: "policy", undoable: true, undoneBy: null })
    })

    test("another user's entry is as missing as one that does not exist", async () => {
      await using world = await applied(1)
      const [mine] = (await world.ada.get("/api/agent/audit")).body.items
      const bob = await world.face.as("bob")
      expect((await bob.get("/api/agent/audit")).body).toEqual({ items: [], nextCursor: null })
      const foreign = await bob.get(`/api/agent/audit/${mine.id}`)
      const missing = await bob.get("/api/agent/audit/aud_nothing")
      expect([foreign.status, foreign.text]).toEqual([404, missing.text])
      expect((await bob.get("/api/agent/audit/prop_x")).status).toBe(404)
      expect((await bob.get("/api/agent/audit?cursor=nonsense")).status).toBe(400)
      const blind = await world.face.as("ada", "chat")
      expect((await blind.get("/api/agent/audit")).status).toBe(403)
    })
  })
})
