import { describe, expect, test } from "vitest"
import { z } from "zod"
import { similarName } from "./read-input.ts"
import { readInput } from "./read-input.ts"
import { answer, defineTool } from "../definition/tool.ts"

const tool = defineTool({
  name: "change",
  description: "Changes it.",
  input: z.strictObject({
    id: z.string().min(1),
    priority: z.enum(["high", "medium", "low"]).nullish(),
    state: z.enum(["todo", "in_progress", "To Do"]).optional(),
    urgent: z.boolean().nullish(),
    count: z.int().max(10).optional(),
    share: z.number().optional(),
    people: z.array(z.string().min(1)).nullish(),
    note: z.string().nullish(),
    when: z.union([z.string().min(2), z.int()]).nullish(),
    either: z.union([z.boolean(), z.number()]).optional(),
  }),
  effect: "read",
  afterCrash: "run-again",
  run: () => answer("ok"),
})
const read = (input: Record<string, unknown>) => readInput(tool, input as never)

describe("arguments as small models write them", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["nothing, as an empty text", { priority: "", people: " ", urgent: "", count: "", when: "" }, {}],
    [
      "a choice in other letters",
      { priority: " High ", state: "In-Progress" },
      { priority: "high", state: "in_progress" },
    ],
    ["a flag in words", { urgent: "Yes" }, { urgent: true }],
    ["a flag as a figure", { urgent: 0 }, { urgent: false }],
    ["a figure as a text", { count: "3", share: "-0.5" }, { count: 3, share: -0.5 }],
    ["a list of one", { people: "Ben" }, { people: ["Ben"] }],
    ["a list as a text", { people: '["Ben", "Ada"]' }, { people: ["Ben", "Ada"] }],
  ])("are understood: %s", async (_, given, meant) => {
    expect(await read({ id: "x", ...given })).toEqual({ given: { id: "x", ...meant }, value: { id: "x", ...meant } })
  })

  test("are not changed if they are valid, whatever else is corrected", async () => {
    const valid = { id: "true", note: "", when: "33" }
    expect(await read({ ...valid, urgent: "true" })).toMatchObject({ given: { ...valid, urgent: true } })
    expect(await read({ ...valid, id: "" })).toHaveProperty("problem") // it must be reported
    const same = { id: "x", priority: "low" }
    expect(((await read(same)) as { given: unknown }).given).toBe(same)
  })

  test.each<Record<string, unknown>>([
    ...[{ state: "to-do" }, { people: "Ben, Ada" }, { people: "Ben and Ada" }, { people: 5 }, { count: "3.5" }],
    ...[{ count: "11" }, { count: "1e3" }, { count: "0x10" }, { urgent: "maybe" }, { urgent: 2 }, { either: "1" }],
    ...[{ priority: "urgent" }, { note: true }, { note: 5 }, { people: "[1]" }, { people: "[" }, { share: "Infinity" }],
    ...[{ id: null }, { people: "x".repeat(100_000) }],
  ])("are refused if they are ambiguous or meaningless: %.60j", async (given) => {
    expect(await read({ id: "x", ...given })).toHaveProperty("problem")
  })

  test("are refused with the name or the choice that was probably meant", async () => {
    expect(await read({ id: "x", prioritty: "low" })).toEqual({
      problem: expect.stringContaining('(prioritty: Did you mean "priority"?)'),
    })
    expect(await read({ id: "x", priority: "hihg" })).toEqual({
      problem: expect.stringContaining('(priority: Did you mean "high"?)'),
    })
    expect(await read({ id: "x", __proto__x: 1, constructor: "y" })).toHaveProperty("problem")
  })
})

test("a similar name is suggested only if no other is as similar", () => {
  const names = ["create_task", "create_note", "list_tasks", "delete_task"]
  expect(similarName("creat_task", names)).toBe("create_task")
  expect(similarName("CreateTask", names)).toBe("create_task")
  expect(similarName("lsit_tasks", names)).toBe("list_tasks")
  expect(similarName("create_", names)).toBeUndefined()
  expect(similarName("frobnicate", names)).toBeUndefined()
  expect(similarName("tost", ["test", "toast"])).toBeUndefined()
  expect(similarName("", names)).toBeUndefined()
})

test("a hostile name is not compared, and no name with too many", () => {
  const hostile = "a".repeat(1_000_000)
  expect(similarName(hostile, [hostile])).toBeUndefined()
  let looked = 0
  const endless = function* () {
    for (;;) {
      looked++
      yield `name${looked}`
    }
  }
  similarName("nothing like it", endless())
  expect(looked).toBeLessThan(2100)
})
