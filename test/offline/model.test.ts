import { describe, expect, test } from "vitest"
import { collect } from "../../core/models/providers/server.fixture.ts"
import type { HistoryMessage, ModelRequest, UserTurn } from "../../core/index.ts"
import { countWork } from "../support/worked.ts"
import { offlineModel } from "../../labs/offline-model/model.ts"

type CallId = Extract<HistoryMessage, { role: "tool" }>["results"][number]["callId"]

const schema = (required: string[] = [], types: Record<string, string> = {}) => ({
  ...{ type: "object", required },
  properties: Object.fromEntries(required.map((name) => [name, { type: types[name] ?? "string" }])),
})
const tools = [
  { name: "create_task", description: "d", inputSchema: schema(["title"]) },
  { name: "list_tasks", description: "d", inputSchema: schema() },
]
const own = [
  { name: "list_loans", description: "d", inputSchema: schema() },
  { name: "lend_book", description: "d", inputSchema: schema(["title", "to"]) },
  { name: "count", description: "d", inputSchema: schema(["to"], { to: "integer" }) },
]
const model = offlineModel([
  { name: "create_task", examples: ["add a task Buy milk"] },
  { name: "list_tasks", examples: ["show my tasks"] },
])

const ask = (text: string, changes: Partial<ModelRequest> = {}): Promise<Awaited<ReturnType<typeof collect>>> =>
  collect(model, { system: "", history: [{ role: "user", text }], tools, toolChoice: "auto", ...changes })

const textOf = (parts: Awaited<ReturnType<typeof collect>>) =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("")

describe("the offline model", () => {
  test("says that it cannot read attached files, and does not take `@name` for a path", async () => {
    const files = { message: "msg_1", items: [] } as unknown as NonNullable<UserTurn["files"]>
    const about = async (text: string) => textOf(await ask(text, { history: [{ role: "user", text, files }] }))
    for (const text of ["add a task @stock.csv", "What is in this?"])
      expect(await about(text)).toMatch(/^I cannot read attached files\. I am the offline model/)
    const plain = await ask("x", { history: [{ role: "user", text: "show my tasks", files }] })
    expect(plain.some((part) => part.type === "call")).toBe(true)
  })

  test.each([
    ["Show my tasks", "list_tasks", {}],
    ["  list my tasks. ", "list_tasks", {}],
    ["LIST MY TASKS!", "list_tasks", {}],
    ["Show my tasks?", "list_tasks", {}],
    ["Could you show my tasks, please?", "list_tasks", {}],
    ["Add a task Buy milk.", "create_task", { title: "Buy milk" }],
    ["create task Buy milk due friday", "create_task", { title: "Buy milk", due_date: "friday" }],
    ["add a task Why?", "create_task", { title: "Why?" }],
  ])("understands %j as a call of %s", async (text, name, input) => {
    const [call, finish] = await ask(text)
    expect(call).toEqual({ type: "call", name, input: JSON.stringify(input) })
    expect(finish).toMatchObject({ type: "finish", finish: "calls", usage: { inputTokens: 0, outputTokens: 0 } })
    expect((await ask(text))[0]).toEqual(call)
  })

  test.each([
    ["list loans", "list_loans", {}],
    ["list_loans", "list_loans", {}],
    ["lend Dune to Grace", "lend_book", { title: "Dune", to: "Grace" }],
    ["lend book title: Dune, to: Grace", "lend_book", { title: "Dune", to: "Grace" }],
    ["count to 10", "count", { to: 10 }],
    ["count 10", "count", { to: 10 }],
  ])("understands %j by the name of an unknown tool", async (text, name, input) => {
    expect((await ask(text, { tools: own }))[0]).toEqual({ type: "call", name, input: JSON.stringify(input) })
  })

  test.each(["lend Dune", "count to many", "lend", "loans"])(
    "makes no call of %j, which lacks an argument",
    async (text) => {
      expect(textOf(await ask(text, { tools: own }))).toMatch(/^I did not understand that/)
    },
  )

  test("answers with the text of its tools, in plain words", async () => {
    const history: HistoryMessage[] = [
      { role: "user", text: "show my tasks" },
      {
        role: "assistant",
        parts: ["a", "b"].map((id) => ({ type: "call", id: id as CallId, name: "list_tasks", input: {} })),
      },
      {
        role: "tool",
        results: [
          { callId: "a" as CallId, name: "list_tasks", status: "ok", text: "Found 1 task(s): Buy milk." },
          { callId: "b" as CallId, name: "list_tasks", status: "error", text: "" },
        ],
      },
    ]
    const parts = await ask("", { history })
    expect(textOf(parts)).toBe("Found 1 task(s): Buy milk.\n\nlist_tasks: error")
    expect(parts.at(-1)).toMatchObject({ type: "finish", finish: "stop" })
  })

  test("comes in a few pieces, as a stream does, and splits no character", async () => {
    const deltas = (await ask("Sing!")).filter((part) => part.type === "text")
    expect(deltas.length).toBeGreaterThan(1)
    expect(deltas.length).toBeLessThan(10)
    for (const { text } of deltas) expect(text.isWellFormed()).toBe(true)
  })

  test.each(["Write me a poem about tasks", "please show my tasks and then delete them", "x".repeat(5000)])(
    "does not pretend to understand %.40j: it says what it is, what it understands and how to connect a real model",
    async (text) => {
      const answer = textOf(await ask(text))
      expect(answer).toContain("not a language model")
      expect(answer).toContain("- `show my tasks`")
      for (const name of ["Settings → Models", "/connect", "OPENAI_API_KEY"]) expect(answer).toContain(name)
    },
  )

  test("understands only requests for the available tools", async () => {
    const answer = textOf(await ask("add a task Buy milk", { tools: tools.slice(1) }))
    expect(answer).toContain("- `show my tasks`")
    expect(answer).not.toContain("add a task")
    expect(textOf(await ask("show my tasks", { tools: [] }))).toContain("None of my tools can be used here.")
  })

  test("answers with text if it may call no tool", async () => {
    const parts = await ask("show my tasks", { toolChoice: "none" })
    expect(textOf(parts)).toContain("list_tasks")
    expect(parts.some((part) => part.type === "call")).toBe(false)
  })

  test("stops when it is aborted", async () => {
    const request: ModelRequest = { system: "", history: [{ role: "user", text: "?" }], tools, toolChoice: "auto" }
    await expect(collect(model, request, AbortSignal.abort("no"))).rejects.toBe("no")
  })
})

test("the offline model makes two calls for two requests joined by `and`", async () => {
  const parts = await ask("show my tasks and then show my tasks, please.")
  expect(parts.map((part) => (part.type === "call" ? part.name : part.type))).toEqual([
    "list_tasks",
    "list_tasks",
    "finish",
  ])
  // A title may contain an `and`.
  expect(await ask("add a task Buy milk and bread")).toMatchObject([
    { type: "call", input: '{"title":"Buy milk and bread"}' },
    { type: "finish" },
  ])
  expect(textOf(await ask("show my tasks and sing and dance"))).toContain("I did not understand that")
})

test("the offline model searches a hostile message in bounded time", async () => {
  for (const word of [", please", " and ", " and then ", "?!.", " to ", " in project ", " due ", " is "]) {
    const worked = countWork()
    await ask(`show${word.repeat(150)}`)
    await ask(`add a task${word.repeat(150)}`)
    expect(worked()).toBeLessThan(200)
  }
})

test.each<[string, string, object | undefined]>([
  ["Draw a chart", "ask_analyst", { query: "a chart of the result" }],
  ["show it as a line chart", "ask_analyst", { query: "a line chart of the result" }],
  ["plot it", "ask_analyst", { query: "a chart of the result" }],
  [
    "draw a pie chart of revenue by category",
    "ask_analyst",
    { query: "a pie chart of revenue by category", question: "revenue by category" },
  ],
  ["chart revenue by month", "ask_analyst", { query: "a chart of revenue by month", question: "revenue by month" }],
  ["show my tasks", "ask_analyst", undefined],
])("understands plain requests for charts: %s", async (text, name, input) => {
  const charts = [{ name, description: "d", inputSchema: schema(["query"]) }]
  const [first] = await ask(text, { tools: charts })
  if (input) expect(first).toEqual({ type: "call", name, input: JSON.stringify(input) })
  else expect(first).toMatchObject({ type: "text" })
})
