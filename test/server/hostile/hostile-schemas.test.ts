import { describe, expect, test } from "vitest"
import { OutboundPolicy } from "../../../core/models/network/outbound-policy.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { calls, says, type Script } from "../../../core/models/scripted/script.ts"
import type { JournalEvent } from "../../../core/protocol/events.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import { anyDatabase } from "../../support/databases.ts"
import { of } from "../../support/loop/checked-world.ts"
import { PlayedServer } from "../../mcp/played-server.ts"
import { openServer } from "../../support/server/socket.ts"

/** A validator that supports it accepts every value at once, and the error comes later as an unhandled rejection. */
const ASYNC = { $async: true, type: "object", not: {} }

const ALTERNATIVES = "(a|b|ab|aa){500}c"

/** Ten lines that check a million times whether a value is a text. */
const doubled = {
  $ref: "#/$defs/d0",
  $defs: {
    ...Object.fromEntries(
      Array.from({ length: 19 }, (_, at) => {
        const next = { $ref: `#/$defs/d${at + 1}` }
        return [`d${at}`, { allOf: [next, next] }]
      }),
    ),
    d19: { type: "string" },
  },
}

const manyProperties = {
  type: "object",
  properties: Object.fromEntries(Array.from({ length: 1900 }, (_, at) => [`p${at}`, { type: "string" }])),
}

const reach = new OutboundPolicy(["127.0.0.1"])

describe.each(anyDatabase)("on $name, a hostile schema", (database) => {
  const open = (...replies: Script[]) => openServer({ database, model: scripted(...replies), reach })

  /** Sends a message with this schema and returns the answer when its run is over. */
  async function say(server: Awaited<ReturnType<typeof open>>, schema: object) {
    const ada = await server.visitor("ada", "read", "chat")
    const id = (await ada.begin({ agent: "test" })) as ConversationId
    const { status, body } = await ada.say(id, "Answer.", { schema })
    await server.face.pawl.runtime.rest(id)
    const events = (await server.face.store.journal.read(id)) as JournalEvent[]
    return {
      status,
      body,
      judged: of(events, "step").flatMap(({ step, detail }) => (step === "answer" ? [detail] : [])),
    }
  }

  const isAlive = async ({ url }: { readonly url: string }) => (await fetch(`${url}/healthz`)).status

  test("of a message is refused if it defers its verdict, and the server keeps running", async () => {
    await using server = await open(says("{}"))
    const { status, body } = await say(server, ASYNC)
    expect([status, body.detail]).toEqual([400, expect.stringContaining('"$async"')])
    expect(await isAlive(server)).toBe(200)
  })

  test("of /v1 is refused as well", async () => {
    await using server = await open(says("{}"))
    const ada = await server.visitor("ada", "read", "chat")
    const response_format = { type: "json_schema", json_schema: { name: "answer", schema: ASYNC } }
    const messages = [{ role: "user", content: "Answer." }]
    const { status, text } = await ada.post("/v1/chat/completions", { model: "pawl/test", messages, response_format })
    expect([status, text]).toEqual([400, expect.stringContaining("$async")])
    expect(await isAlive(server)).toBe(200)
  })

  test.each([
    ["defers its verdict", ASYNC, {}, "$async"],
    [
      "is slow to match",
      { type: "object", properties: { a: { pattern: ALTERNATIVES } } },
      { a: "ab".repeat(9000) },
      "takes too long",
    ],
    [
      "multiplies",
      { type: "object", properties: { a: { $ref: "#/$defs/d0" } }, $defs: doubled.$defs },
      { a: 1 },
      "a: ",
    ],
  ])("of a tool of an MCP server that %s fails the call, and nothing else", async (_, inputSchema, input, problem) => {
    await using played = await PlayedServer.open([{ name: "echo", inputSchema, annotations: { readOnlyHint: true } }])
    await using server = await open(calls("notes__echo", input), says("Done."))
    const ada = await server.visitor("ada")
    await ada.post("/api/mcp-servers", { name: "notes", url: played.url, agents: ["test"] })
    const id = (await ada.begin({ agent: "test", mode: "auto" })) as ConversationId
    await ada.say(id, "Echo.")
    await server.face.pawl.runtime.rest(id)
    const [end] = of((await server.face.store.journal.read(id)) as JournalEvent[], "tool_end")
    expect(end).toMatchObject({ status: "error", text: expect.stringContaining(problem) })
    expect(played.calls).toEqual([])
    expect(await isAlive(server)).toBe(200)
  })

  test("with many properties takes time that grows only linearly with it", async () => {
    await using server = await open(says('{"p7": 1}'), says('{"p7": "one"}'))
    const { judged } = await say(server, manyProperties)
    expect(judged).toEqual([
      { fits: false, problem: expect.stringContaining("p7: must be string") },
      { fits: true, value: { p7: "one" } },
    ])
  })

  test("with a pattern that is slow for a long text is not matched at all", async () => {
    await using server = await open(...Array.from({ length: 3 }, () => says(JSON.stringify("ab".repeat(99_000)))))
    const { judged } = await say(server, { type: "string", pattern: ALTERNATIVES })
    expect(judged.at(-1)).toEqual({ fits: false, problem: expect.stringContaining("takes too long to check") })
  })

  test("is checked while the server answers others", async () => {
    await using server = await open(...Array.from({ length: 3 }, () => says("1")))
    let isOver = false
    const said = say(server, doubled).finally(() => (isOver = true))
    let answered = 0
    while (!isOver) {
      expect(await isAlive(server)).toBe(200)
      answered++
    }
    const { judged } = await said
    expect(judged.at(-1)).toMatchObject({ fits: false })
    expect(answered).toBeGreaterThan(20)
  })
})
