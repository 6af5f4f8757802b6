import { describe, expect, test } from "vitest"
import type { Clock } from "../../core/shared/time/clock.ts"
import { calls, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { RawSocket } from "./raw-socket.ts"
import { openServer } from "../support/server/socket.ts"

const TASK = {
  ...{ id: "t1", projectId: null, title: "Roof", description: null, status: "todo", priority: "medium" },
  ...{ assignee: null, dueDate: null, isAiSuggested: 0, isApproved: 1, createdAt: 5 },
}

const NOTE = { id: "n1", projectId: null, title: "Diary", content: "about it", createdAt: 1, updatedAt: 1 }
const ROOF = { ...NOTE, title: "Roof" }

describe.each(anyDatabase)("a client that knows only six frames, on $name", (database) => {
  async function open(...given: readonly (ScriptedReply | { readonly clock: Clock })[]) {
    const [options, script] = "clock" in (given[0] ?? {}) ? [given[0] as { clock: Clock }, given.slice(1)] : [{}, given]
    const model = scripted(...(script as ScriptedReply[]))
    const server = await openServer({ database, model, ...options })
    const client = await RawSocket.open(server.url, await server.tokenFor("ada"))
    return {
      ...{ server, client, model },
      /** The tool results that the model received. */
      results: () =>
        (model.received.at(-1)?.request.history ?? []).flatMap((turn) =>
          turn.role === "tool" ? turn.results.map(({ text }) => text) : [],
        ),
      async [Symbol.asyncDispose]() {
        client[Symbol.dispose]()
        await server[Symbol.asyncDispose]()
      },
    }
  }

  test.each([
    ["agent", { agent: 5 }],
    ["model", { model: [] }],
    ["mode", { mode: "sometimes" }],
    ["title", { title: { text: "x" } }],
    ["site", { site: "moon" }],
    ["conversationId", { conversationId: "the last one" }],
    ["no object", "words"],
  ])("a malformed context is refused, and the socket stays open: %s", async (_what, context) => {
    await using opened = await open(says("Hello."))
    const { client } = opened
    client.send({ type: "chat_request", message: "hi", context })
    expect(await client.next("error")).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("context"),
    })
    expect(await client.next("final")).toMatchObject({ response: expect.stringMatching(/^Nothing was done: /) })
    const from = client.seen.length
    client.send({ type: "chat_request", message: "hi", context: {} })
    expect(await client.next("final", from)).toMatchObject({ response: "Hello." })
  })

  test("null in a tool result is the same as an absent key", async () => {
    await using opened = await open(calls("list_tasks", {}), says("Listed."), calls("delete_task", { task_id: "t1" }))
    const { client, results, server } = opened
    client.send({ type: "chat_request", message: "list", context: {} })
    const nothing = { row: null, results: null, deleted: null, ok: null, error: null, before: null, with: null }
    client.send({ type: "tool_result", id: (await client.next("tool_call")).id, rows: [TASK], ...nothing })
    expect(await client.next("final")).toMatchObject({ response: "Listed." })
    expect(results()[0]).toContain("Roof")

    const from = client.seen.length
    client.answer = ({ action }) =>
      action === "get" ? { ...nothing, rows: null, row: TASK } : { ...nothing, rows: [] }
    client.send({ type: "chat_request", message: "delete", context: {} })
    const { proposals } = (await client.next("awaiting_confirmation", from)) as unknown as {
      proposals: { id: string }[]
    }
    const ada = await server.visitor("ada")
    expect(proposals).toHaveLength(1)
    expect((await ada.get(`/api/agent/proposals/${proposals[0]!.id}`)).body.status).toBe("pending")
  })

  describe("an answer of more than a mebibyte", () => {
    const MEBIBYTE = 1024 * 1024
    const rowsOf = (bytes: number) =>
      Array.from({ length: Math.ceil(bytes / 100_000) }, (_, n) => ({
        ...{ ...TASK, id: `t${n}`, title: `Roof ${n}` },
        description: "é".repeat(50_000),
      }))

    test.each(["in one frame", "in fragments"])("is read while its call is open, %s", async (how) => {
      await using opened = await open(calls("list_tasks", {}), says("Listed."))
      const { client, results } = opened
      client.send({ type: "chat_request", message: "list", context: {} })
      const call = await client.next("tool_call")
      expect(call).toMatchObject({ action: "select", limit: expect.any(Number) })
      const text = JSON.stringify({ type: "tool_result", id: call.id, rows: rowsOf(3 * MEBIBYTE) })
      const middle = Math.floor(text.length / 2)
      client.sendPieces(how === "in one frame" ? [text] : [text.slice(0, middle), text.slice(middle)])
      expect(await client.next("final")).toMatchObject({ response: "Listed." })
      expect(results()[0]).toContain("Roof 3")
    })

    test.each([
      ["its id first", (id: unknown, rows: object[]) => [JSON.stringify({ type: "tool_result", id, rows })]],
      ["its id last", (id: unknown, rows: object[]) => [JSON.stringify({ rows, type: "tool_result", id })]],
      ["in fragments", (id: unknown, rows: object[]) => piecesOf(JSON.stringify({ type: "tool_result", id, rows }))],
      [
        "of very many values",
        (id: unknown) => [`{"type":"tool_result","id":"${String(id)}","rows":[${"{},".repeat(300_000)}{}]}`],
      ],
      ["that is no JSON", (id: unknown) => [`{"type":"tool_result","id":"${String(id)}","rows":[}`]],
      ["of a wrong shape", (id: unknown) => [JSON.stringify({ type: "tool_result", id, rows: "none" })]],
    ])("fails one call and no connection if it cannot be read: %s", async (_what, pieces) => {
      await using opened = await open(calls("list_tasks", {}), says("It failed."), says("Hello."))
      const { client, results } = opened
      client.send({ type: "chat_request", message: "list", context: {} })
      const { id } = await client.next("tool_call")
      client.sendPieces(pieces(id, rowsOf(20 * MEBIBYTE)))
      expect(await client.next("final")).toMatchObject({ response: "It failed." })
      expect(results()[0]).toMatch(/the device's answer cannot be read: /)
      const from = client.seen.length
      client.send({ type: "chat_request", message: "hi", context: {} })
      expect(await client.next("final", from)).toMatchObject({ response: "Hello." })
    })

    test("closes the connection only without an open call", async () => {
      await using opened = await open()
      opened.client.send({ type: "tool_result", id: "call_1", rows: rowsOf(3 * MEBIBYTE) })
      expect(await opened.client.close()).toEqual({ code: 1009 })
    })

    test("a device learns from the answer to its hello how large an answer may be", async () => {
      await using opened = await open()
      opened.client.send({ type: "hello", deviceId: "laptop", offers: null, ledger: null, knows: null })
      expect(await opened.client.next("hello")).toMatchObject({ limit: 8 * MEBIBYTE })
    })

    function piecesOf(text: string): string[] {
      return Array.from({ length: 9 }, (_, n) => text.slice((n * text.length) / 9, ((n + 1) * text.length) / 9))
    }
  })

  describe("a write that is answered after its run has ended", () => {
    test.each([
      ["done", { row: { ...TASK, title: "Buy milk" } }, "applied"],
      ["refused", { error: "The disk is full." }, "failed"],
    ])("settles the proposal, as %s", async (_what, outcome, status) => {
      const clock = new TurnedClock()
      await using opened = await open({ clock }, calls("create_task", { title: "Buy milk" }), says("Created."))
      const { client, server } = opened
      client.send({ type: "chat_request", message: "add it", context: {} })
      const [proposal] = (await client.next("awaiting_confirmation")).proposals as [{ id: string }]
      await client.next("final")
      const from = client.seen.length
      client.send({ type: "decide", proposalId: proposal.id, decision: "commit" })
      const call = await client.next("tool_call", from)
      await clock.turn(30_000)
      await client.next("tool_status", from) // it knows no such frame
      await clock.turn(5000)
      const ada = await server.visitor("ada")
      const read = async () => (await ada.get(`/api/agent/proposals/${proposal.id}`)).body.status as string
      await expect.poll(read).toBe("in_doubt")
      await clock.turn(60 * 60_000)
      client.send({ type: "tool_result", id: call.id, ...outcome })
      await expect.poll(read).toBe(status)
    })
  })

  test("a model that calls tools instead of answering after the limit of rounds leaves a reason in the final", async () => {
    const look = (search: string) => calls("list_tasks", { search })
    const script = ["a", "b", "c", "d", "e", "f", "g"].map(look)
    await using opened = await open(...script)
    const { client } = opened
    client.answer = () => ({ rows: [TASK] })
    client.send({ type: "chat_request", message: "list", context: {} })
    expect(await client.next("final")).toMatchObject({ response: expect.stringMatching(/after the limit of rounds/) })
  })

  describe("a row is found by its name", () => {
    test.each([
      ["refuses the filter", { error: "unknown filter: search" }],
      ["finds nothing with it", { rows: [] }],
    ])("if the client %s", async (_what, searched) => {
      await using opened = await open(calls("get_note", { note_id: "Roof" }), says("Read."))
      const { client, results } = opened
      const hasSearch = ({ filters }: Record<string, unknown>) => Object.hasOwn(filters ?? {}, "search")
      client.answer = (call) => {
        if (call.action === "get") return { row: (call.data as { id: string }).id === "n1" ? ROOF : null }
        return hasSearch(call) ? searched : { rows: call.table === "notes" ? [ROOF] : [] }
      }
      client.send({ type: "chat_request", message: "read it", context: {} })
      await client.next("final")
      expect(results()[0]).toMatch(/^Note: Roof/)
      expect(client.seen.filter(hasSearch)).toEqual([])
    })

    test("and is searched for only by a client that can, whose exact match is never a suggestion", async () => {
      await using opened = await open(calls("get_note", { note_id: "Roof" }), says("Read."))
      const { client, results } = opened
      client.answer = ({ action, filters, data }) => {
        if (action === "get") return { row: (data as { id: string }).id === "n1" ? ROOF : null }
        return { rows: (filters as { search?: string }).search === undefined ? [ROOF] : [] }
      }
      client.send({ type: "hello", deviceId: "laptop", offers: ["workspace"], knows: ["search"] })
      await client.next("hello")
      client.send({ type: "chat_request", message: "read it", context: {} })
      await client.next("final")
      expect(client.seen).toContainEqual(
        expect.objectContaining({ filters: expect.objectContaining({ search: "Roof" }) }),
      )
      expect(results()[0]).toMatch(/^Note: Roof/)
    })
  })

  describe("the vector of a note", () => {
    test.each([
      [[], false],
      [["vector_delete"], true],
    ])("is deleted with it by a client that knows %j: %s", async (knows, isSent) => {
      await using opened = await open(calls("delete_note", { note_id: "n1" }), says("Deleted."))
      const { client } = opened
      client.answer = ({ action }) => {
        if (action === "get") return { row: NOTE }
        if (action === "delete") return { deleted: true, row: NOTE }
        return action === "vector_delete" ? { ok: true } : { rows: [] }
      }
      client.send({ type: "hello", deviceId: "laptop", offers: ["workspace"], knows })
      await client.next("hello")
      client.send({ type: "chat_request", message: "delete it", context: { mode: "auto" } })
      expect(await client.next("final")).toMatchObject({ response: "Deleted." })
      expect(client.seen.some(({ action }) => action === "delete")).toBe(true)
      expect(client.seen.some(({ action }) => action === "vector_delete")).toBe(isSent)
    })

    test.each([{ ok: false }, { error: "No room for vectors." }])(
      "is reported if it is refused: %j",
      async (answer) => {
        await using opened = await open(calls("create_note", { title: "Diary", content: "x" }), says("Well."))
        const { client, results } = opened
        client.answer = ({ action }) => (action === "insert" ? { row: { ...NOTE, content: "x" } } : answer)
        client.send({ type: "chat_request", message: "note it", context: { mode: "auto" } })
        await client.next("final")
        expect(results()[0]).toMatch(/It cannot be found by meaning: the device refused its vector/)
      },
    )
  })
})
