import { beforeAll, beforeEach, describe, expect, test } from "vitest"
import { always, scripted, type ScriptedModel, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { calls, fails, replies, says } from "../../../core/models/scripted/script.ts"
import { newId } from "../../../core/protocol/ids.ts"
import { anyDatabase } from "../../support/databases.ts"
import { agUiAs } from "../ag-ui-client.ts"
import { ERAS, mcpAs, type McpPerson } from "../mcp-client.ts"
import { Face, type Visitor } from "../../support/server/face.ts"
import { WordEmbedder } from "../../support/word-embedder.ts"
import { currentScript } from "../../support/current-script.ts"

const [database] = anyDatabase

describe.each(ERAS)("the official MCP client, protocol %s,", (era) => {
  let face: Face
  let ada: McpPerson
  let native: Visitor
  let current: ScriptedModel

  const plays = (...script: ScriptedReply[]) => (current = scripted(...script))
  const transcript = async (id: string) => {
    const { messages } = (await native.get(`/api/conversations/${id}`)).body
    type Told = { role: string; content: string; toolCalls: { name: string; input: unknown }[] | null }
    return messages.map(({ role, content, toolCalls }: Told) => ({
      ...{ role, content: content.replaceAll(/\b(?:prop|call)_\w+/g, "…") },
      calls: toolCalls?.map(({ name, input }) => ({ name, input })),
    }))
  }

  beforeAll(async () => {
    const model = currentScript(() => current)
    face = await Face.open({ url: (await database!.create()).url, model })
    ada = await mcpAs(face, "ada", era)
    native = await face.as("ada")
    return async () => {
      await ada[Symbol.asyncDispose]()
      await face[Symbol.asyncDispose]()
    }
  })
  beforeEach(() => void plays(always(says("Four of them."))))

  test("lists tools to ask, read, search and query, and none to decide", async () => {
    const { tools } = await ada.client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual([
      ...["ask_agent", "list_agents", "list_connections", "list_conversations", "list_proposals", "query_database"],
      ...["read_conversation", "read_database_schema", "read_proposal", "search_library", "search_notes"],
    ])
    expect(tools.filter(({ annotations }) => !annotations?.readOnlyHint).map(({ name }) => name)).toEqual(["ask_agent"])
    expect(ada.client.getInstructions()).toContain("no tool here decides")
  })

  test("asks an agent in an ordinary conversation, which can be continued", async () => {
    const { text, facts, isError } = await ada.call("ask_agent", { message: "How many?", agent: "test" })
    expect([isError, facts.answer, facts.status, facts.proposals]).toEqual([false, "Four of them.", "completed", []])
    expect(text).toBe(`Four of them.\nConversation ${facts.conversation}, completed.`)
    const next = await ada.call("ask_agent", { message: "Why?", conversation: facts.conversation })
    expect(next.facts.conversation).toBe(facts.conversation)
    expect((await transcript(facts.conversation)).map(({ content }: { content: string }) => content)).toEqual([
      ...["How many?", "Four of them.", "Why?", "Four of them."],
    ])
    expect((await native.get(`/api/runs/${facts.run}`)).body).toMatchObject({ status: "completed" })
  })

  test("gets the same transcript as our own client", async () => {
    const script = () =>
      plays(
        replies(says("Let me look."), calls("unknown_tool")),
        calls("list_tasks"),
        replies(says("Shall I?"), calls("create_task", { title: "Buy milk" })),
      )
    script()
    const { facts } = await ada.call("ask_agent", { message: "How many?" })
    script()
    const id = await native.begin()
    const { messages } = (await native.say(id, "How many?")).body
    expect(await transcript(facts.conversation)).toEqual(await transcript(id))
    const said = messages.filter(
      ({ role, content }: { role: string; content: string }) => role === "assistant" && content,
    )
    expect(said).toHaveLength(2)
    const whole = said.map(({ content }: { content: string }) => content).join("\n\n")
    expect(facts.answer.startsWith(`${whole}\n\nWaiting for your decision: Create task "Buy milk"`)).toBe(true)
  })

  test("receives pending changes as text with the address to decide at; the person decides, and the decision counts once", async () => {
    plays(calls("create_task", { title: "Buy milk" }), always(says("Done.")))
    const asked = await ada.call("ask_agent", { message: "milk" })
    const [{ id }] = asked.facts.proposals
    expect(asked.facts).toMatchObject({ status: "paused", decide_at: `http://localhost/c/${asked.facts.conversation}` })
    expect(asked.text).toMatch(/Waiting for your decision: Create task "Buy milk".*\(prop_\w+\)\. Nothing is changed/)
    expect(asked.text).toContain(`The person decides at ${asked.facts.decide_at}`)
    expect((await ada.call("list_proposals")).facts.proposals[0]).toMatchObject({ id })
    const read = await ada.call("read_proposal", { proposal: id })
    expect([read.facts.status, read.text]).toEqual(["pending", expect.stringContaining(`"title":"Buy milk"`)])
    const path = `/api/agent/proposals/${id}`
    const decided = await Promise.all([native.post(`${path}/commit`), native.post(`${path}/reject`, {})])
    expect(decided.map(({ status }) => status).sort()).toEqual([200, 409])
    expect((await ada.call("read_proposal", { proposal: id })).facts.status).toMatch(/^(applied|rejected)$/)
  })

  test("of two decisions about a reported change, by AG-UI and by our own API, one wins", async () => {
    plays(calls("create_task", { title: "Buy tea" }), always(says("Done.")))
    const { facts } = await ada.call("ask_agent", { message: "tea", agent: "workspace" })
    const [{ id }] = facts.proposals
    const thread = (await agUiAs(face, "ada"))(facts.conversation, { agent: "workspace" })
    const resume = [{ interruptId: id, status: "resolved", payload: { approved: true } }]
    const late: { status: string }[] = []
    const onCustomEvent = ({ event }: { event: { name: string; value: { status: string } } }) =>
      void (event.name === "pawl.late" && late.push(event.value))
    const [, rejected] = await Promise.all([
      thread.runAgent({ resume }, { onCustomEvent }),
      native.post(`/api/agent/proposals/${id}/reject`, {}),
    ])
    const { status } = (await ada.call("read_proposal", { proposal: id })).facts
    const hasAgreed = status === "applied"
    expect([rejected.status, late]).toMatchObject(hasAgreed ? [409, []] : [200, [{ status: "rejected" }]])
    expect(["applied", "rejected"]).toContain(status)
    const tasks: { title: string }[] = (await native.get("/api/workspace/tasks")).body.items
    expect(tasks.filter(({ title }) => title === "Buy tea")).toHaveLength(hasAgreed ? 1 : 0)
  })

  test("has every write approved first, even in an automatic conversation and with a token that may approve", async () => {
    plays(always(calls("create_task", { title: "Buy bread" })))
    const conversation = await native.begin({ mode: "auto" })
    const { facts } = await ada.call("ask_agent", { message: "bread", conversation })
    expect([facts.status, facts.proposals.length]).toEqual(["paused", 1])
    const tasks: { title: string }[] = (await native.get("/api/workspace/tasks")).body.items
    expect(tasks.filter(({ title }) => title === "Buy bread")).toEqual([])
  })

  test("reads conversations, with the newest messages first if limited", async () => {
    const { facts } = await ada.call("ask_agent", { message: "Read me", agent: "test" })
    const { conversation } = facts
    const listed = await ada.call("list_conversations", { limit: 1 })
    expect([listed.facts.conversations[0].id, listed.facts.next_cursor]).toEqual([conversation, expect.any(String)])
    const last = await ada.call("read_conversation", { conversation, limit: 1 })
    expect([last.text.includes("2. assistant: Four of them."), last.facts.next_before]).toEqual([true, 2])
    const first = await ada.call("read_conversation", { conversation, before: last.facts.next_before })
    expect([first.text.includes("1. user: Read me"), first.facts.next_before]).toEqual([true, null])
  })

  test("searches notes and the library of its own person only", async () => {
    const note = { title: "Bridge", content: "A suspension bridge hangs on cables." }
    const { id: noteId } = (await native.post("/api/workspace/notes", note)).body
    const user = (await native.get("/api/auth/me")).body.user.id
    const embedder = new WordEmbedder()
    const [numbers] = await embedder.embed([note.content], new AbortController().signal)
    const vector = { embedder: embedder.name, numbers: [...numbers!] }
    // Indexes as the background indexer does.
    await face.store.workspaces.of(user).upsertVector({ id: noteId, projectId: null, content: note.content }, vector)
    const { id } = (await native.post("/api/collections", { name: "Papers" })).body
    await native.post(`/api/collections/${id}/documents`, { name: "a.txt", content: "Suspension bridges of Europe." })
    const bob = await mcpAs(face, "bob", era)
    expect((await ada.call("search_notes", { query: "suspension bridge" })).text).toContain("hangs on")
    const passages = await ada.call("search_library", { query: "suspension bridges" })
    expect(passages.text).toContain("Suspension bridges of Europe.")
    expect((await bob.call("search_notes", { query: "suspension bridge" })).text).toBe("No notes found.")
    expect((await bob.call("search_library", { query: "suspension bridges" })).text).toBe("Nothing found.")
  })

  test("queries a database behind the same SQL guard", async () => {
    const { id: connection } = (await native.post("/api/connections/sample")).body
    expect((await ada.call("list_connections")).facts.connections).toMatchObject([{ id: connection }])
    expect((await ada.call("read_database_schema", { connection })).facts.tables).toBeGreaterThan(0)
    const { facts } = await ada.call("query_database", { connection, sql: "SELECT 1 AS one UNION SELECT 2" })
    expect(facts).toMatchObject({ columns: ["one"], rows: [[1], [2]], truncated: false })
    const write = await ada.call("query_database", { connection, sql: "CREATE TABLE x (a)" })
    const over = await native.post(`/api/connections/${connection}/query`, { sql: "CREATE TABLE x (a)" })
    expect([write.isError, write.text, write.facts.code]).toEqual([true, over.body.detail, over.body.code])
  })

  test("gets a not-found error for everything that belongs to another person", async () => {
    const { facts } = await ada.call("ask_agent", { message: "Mine", agent: "test" })
    plays(calls("create_task", { title: "Mine" }))
    const proposal = (await ada.call("ask_agent", { message: "milk" })).facts.proposals[0].id
    const connection = (await native.post("/api/connections/sample")).body.id
    const bob = await mcpAs(face, "bob", era)
    const told = async (name: string, input: object) => bob.call(name, input as Record<string, unknown>)
    for (const [name, theirs, missing] of [
      ["read_conversation", { conversation: facts.conversation }, { conversation: newId("conv") }],
      ["ask_agent", { message: "x", conversation: facts.conversation }, { message: "x", conversation: "conv_0" }],
      ["ask_agent", { message: "x", connection }, { message: "x", connection: newId("conn") }],
      ["read_proposal", { proposal }, { proposal: newId("prop") }],
      ["query_database", { connection, sql: "SELECT 1" }, { connection: "x", sql: "SELECT 1" }],
      ["read_database_schema", { connection }, { connection: newId("conn") }],
    ] as const) {
      const answer = await told(name, theirs)
      expect([name, answer.isError, answer.facts.code]).toEqual([name, true, "not_found"])
      expect(answer).toEqual(await told(name, missing))
    }
    expect((await bob.call("list_proposals")).facts.proposals).toEqual([])
    expect((await bob.call("list_conversations")).facts.conversations).toEqual([])
  })

  test("is offered the tools that its token allows", async () => {
    const reader = await mcpAs(face, "ada", era, "read")
    const { tools } = await reader.client.listTools()
    expect(tools.map(({ name }) => name)).not.toContain("ask_agent")
    await expect(reader.call("ask_agent", { message: "x" })).rejects.toThrow(/ask_agent/)
    await expect(mcpAs(face, "ada", era, "chat")).rejects.toThrow()
  })

  test.each<[what: string, input: Record<string, unknown>, says: RegExp]>([
    ["an unknown agent", { message: "x", agent: "nobody" }, /nobody/],
    ["an unknown model", { message: "x", model: "gpt-0" }, /gpt-0/],
    ["no words", { message: " " }, /./],
    ["a field that nobody knows", { message: "x", mode: "auto" }, /mode/],
    ["words that cannot be stored", { message: "a\ud800" }, /./],
  ])("%s is an error result, and no conversation is created", async (_what, input, words) => {
    const count = async () => (await native.get("/api/conversations?limit=200")).body.items.length as number
    const before = await count()
    const refused = await ada.call("ask_agent", input).catch((error: Error) => ({ isError: true, text: error.message }))
    expect([refused.isError, refused.text]).toEqual([true, expect.stringMatching(words)])
    expect(await count()).toBe(before)
  })

  test("gets an error result with a code for a failed run", async () => {
    plays(always(fails("quota_spent")))
    const failed = await ada.call("ask_agent", { message: "Hello", agent: "test" })
    expect([failed.isError, failed.facts.code]).toEqual([true, "quota_spent"])
  })
})
