import { describe, expect, test } from "vitest"
import type { HistoryMessage, ModelRequest } from "../../agent/model.ts"
import type { CallId } from "../../protocol/ids.ts"
import { collect } from "../providers/server.fixture.ts"
import type { ToolPhrases } from "../../agent/definition/phrases.ts"
import { offlineModel } from "./model.ts"
import { countWork } from "../../../test/support/worked.ts"

const phrases: ToolPhrases[] = [
  {
    tool: "create_task",
    phrases: [
      {
        pattern: /(?:add|create) (?:a )?task (?<title>.+?)(?: due (?<due>\w+))?/g,
        arguments: ({ title, due }) => ({ title, ...(due ? { due } : {}) }),
        example: "add a task Buy milk",
      },
    ],
  },
  {
    tool: "list_tasks",
    phrases: [{ pattern: /(show|list) my tasks/, arguments: () => ({}), example: "show my tasks" }],
  },
]
const tools = ["create_task", "list_tasks"].map((name) => ({ name, description: "d", inputSchema: { type: "object" } }))
const model = offlineModel(() => phrases)

const ask = (text: string, changes: Partial<ModelRequest> = {}): Promise<Awaited<ReturnType<typeof collect>>> =>
  collect(model, { system: "", history: [{ role: "user", text }], tools, toolChoice: "auto", ...changes })

const textOf = (parts: Awaited<ReturnType<typeof collect>>) =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("")

describe("the offline model", () => {
  test.each([
    ["Show my tasks", "list_tasks", {}],
    ["  list my tasks. ", "list_tasks", {}],
    ["LIST MY TASKS!", "list_tasks", {}],
    ["Show my tasks?", "list_tasks", {}],
    ["Add a task Buy milk.", "create_task", { title: "Buy milk" }],
    ["create task Buy milk due friday", "create_task", { title: "Buy milk", due: "friday" }],
    ["add a task Why?", "create_task", { title: "Why?" }],
  ])("understands %j as a call of %s", async (text, name, input) => {
    const [call, finish] = await ask(text)
    expect(call).toEqual({ type: "call", name, input: JSON.stringify(input) })
    expect(finish).toMatchObject({ type: "finish", finish: "calls", usage: { inputTokens: 0, outputTokens: 0 } })
    // The same pattern a second time: one written with a `g` flag would remember where it stopped.
    expect((await ask(text))[0]).toEqual(call)
  })

  test("answers with what its tools said, plainly", async () => {
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

  test("comes in a few pieces, as a stream does", async () => {
    const deltas = (await ask("Sing!")).filter((part) => part.type === "text")
    expect(deltas.length).toBeGreaterThan(1)
    expect(deltas.length).toBeLessThan(10)
  })

  test.each(["Write me a poem about tasks", "please show my tasks and then delete them", "x".repeat(5000)])(
    "does not pretend to understand %.40j: it says what it is, what it understands and how to connect a real model",
    async (text) => {
      const answer = textOf(await ask(text))
      expect(answer).toContain("not a language model")
      expect(answer).toContain("- add a task Buy milk\n- show my tasks")
      for (const name of [
        ...["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "LM_STUDIO_ENDPOINT", "OLLAMA_HOST"],
        "OPENROUTER_API_KEY",
      ]) {
        expect(answer).toContain(name)
      }
    },
  )

  test("understands only what the tools at hand serve", async () => {
    const answer = textOf(await ask("add a task Buy milk", { tools: tools.slice(1) }))
    expect(answer).toContain("- show my tasks")
    expect(answer).not.toContain("- add a task")
    expect(textOf(await ask("show my tasks", { tools: [] }))).toContain("None of my tools can be used here.")
  })

  test("answers in words where it may not call", async () => {
    const parts = await ask("show my tasks", { toolChoice: "none" })
    expect(textOf(parts)).toContain("list_tasks")
    expect(parts.some((part) => part.type === "call")).toBe(false)
  })

  test("stops when it is aborted", async () => {
    const request: ModelRequest = { system: "", history: [{ role: "user", text: "?" }], tools, toolChoice: "auto" }
    await expect(collect(model, request, AbortSignal.abort("no"))).rejects.toBe("no")
  })
})

test("the offline model makes two calls of two requests with an `and` between them, where each is one", async () => {
  const parts = await ask("show my tasks and then show my tasks, please.")
  expect(parts.map((part) => (part.type === "call" ? part.name : part.type))).toEqual([
    "list_tasks",
    "list_tasks",
    "finish",
  ])
  // A title may have one in it.
  expect(await ask("add a task Buy milk and bread")).toMatchObject([
    { type: "call", input: '{"title":"Buy milk and bread"}' },
    { type: "finish" },
  ])
  expect(textOf(await ask("show my tasks and sing and dance"))).toContain("I did not understand that")
})

test("the offline model does not search long through a hostile message", async () => {
  for (const word of [", please", " and ", " and then ", "?!."]) {
    const worked = countWork()
    await ask(`show${word.repeat(150)}`)
    expect(worked()).toBeLessThan(200)
  }
})
