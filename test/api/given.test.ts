import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool, hasCode, openPawl, type AskOptions, type Pawl, type PawlOptions } from "../../core/index.ts"
import { always, calls, says, scripted } from "../../core/testing.ts"

const open = (more: Partial<PawlOptions> = {}) =>
  openPawl({ store: ":memory:", models: scripted(always(says("Hello."))), ...more })

test.each<[name: string, options: object]>([
  ["mode", { mode: "readonly" }],
  ["title", { title: "x".repeat(2_000_000) }],
  ["maxIterations", { maxIterations: -3 }],
  ["when", { when: "later" }],
  ["timeZone", { timeZone: "Mars/X" }],
  ["key", { key: "" }],
  ["signal", { signal: {} }],
  ["tilte", { tilte: "Greeting" }],
])(
  "a question with an invalid %s is refused with the option's name, and no conversation is created",
  async (name, options) => {
    await using pawl = await open()
    const asked = pawl.ask("Hi.", options as AskOptions)
    await expect(asked).rejects.toThrow(name)
    await expect(asked).rejects.toSatisfy((error) => hasCode(error, "bad_request"))
    expect((await pawl.conversations.list()).items).toEqual([])
  },
)

test("text that is not a string is refused", async () => {
  await using pawl = await open()
  await expect(pawl.ask(5 as never)).rejects.toThrow(/text: /)
  expect((await pawl.conversations.list()).items).toEqual([])
})

test.each([-1, 0, 1e9, Number.NaN, 1.5])("a page size of %d is refused on every list", async (limit) => {
  await using pawl = await open()
  const { conversationId: id } = await pawl.ask("Hi.")
  await expect(pawl.conversations.list({ limit })).rejects.toThrow(/limit: /)
  await expect(pawl.conversations.messages(id, { limit })).rejects.toThrow(/limit: /)
  await expect(pawl.proposals.list({ limit })).rejects.toThrow(/limit: /)
})

type Decide = (proposals: Pawl["proposals"], id: string) => Promise<unknown>

test.each<[what: string, named: RegExp, decide: Decide]>([
  ["a yes to -1 more", /uses: /, (proposals, id) => proposals.approve(id, { uses: -1 })],
  ["a yes to all more", /uses: /, (proposals, id) => proposals.approve(id, { uses: "all" as never })],
  ["a yes by somebody else", /by/, (proposals, id) => proposals.approve(id, { by: "usr_other" } as never)],
  ["a yes with a number", /object/, (proposals, id) => proposals.approve(id, 3 as never)],
  ["a no for a reason that is no text", /reason: /, (proposals, id) => proposals.reject(id, { why: "No." } as never)],
  ["a no for too long a reason", /reason: /, (proposals, id) => proposals.reject(id, "x".repeat(2001))],
  ["no arguments", /arguments: /, (proposals, id) => proposals.edit(id, undefined as never)],
  ["arguments in a list", /arguments: /, (proposals, id) => proposals.edit(id, ["a"] as never)],
  ["arguments that JSON cannot say", /arguments: .*JSON/, (proposals, id) => proposals.edit(id, { text: 1n })],
  ["a choice that is none", /choice: /, (proposals, id) => proposals.resolve(id, "again" as never)],
])("%s is refused by name, and decides nothing", async (_, named, decide) => {
  const ran: unknown[] = []
  const save = defineTool({
    name: "save",
    description: "Saves.",
    input: z.object({ text: z.unknown() }),
    effect: "write",
    preview: () => ({ summary: "Save", action: "safe_update" }),
    run: (input) => ran.push(input),
  })
  const models = scripted(calls("save", { text: "a" }), always(says("Done.")))
  await using pawl = await open({ models, agents: [{ name: "keeper", tools: [save] }] })
  const asked = await pawl.ask("Save it.")
  const [proposal] = asked.status === "waiting" ? asked.proposals : []
  const decided = decide(pawl.proposals, proposal!.id)
  await expect(decided).rejects.toThrow(named)
  await expect(decided).rejects.toSatisfy((error) => hasCode(error, "bad_request"))
  expect([await pawl.proposals.get(proposal!.id), ran]).toMatchObject([{ status: "pending" }, []])
})

test("an unknown mode is refused", async () => {
  await using pawl = await open()
  const { conversationId: id } = await pawl.ask("Hi.")
  await expect(pawl.conversations.change(id, { mode: "readonly" as never })).rejects.toThrow(/mode: /)
  expect(await pawl.conversations.get(id)).toMatchObject({ mode: "confirm" })
})

test.each<[named: RegExp, options: Partial<PawlOptions>]>([
  [/timeZone: /, { timeZone: "Mars/X" }],
  [/limits\.runSeconds: /, { limits: { runSeconds: Number.NaN } }],
  [/limits\.proposalMinutes: /, { limits: { proposalMinutes: -1 } }],
  [/^models: /, { models: {} }],
])("opening reports an invalid %s", async (named, options) => {
  await expect(open(options)).rejects.toThrow(named)
})

test("of two concurrent questions with one key and different text, one is asked and the other fails with `key_reused`", async () => {
  await using pawl = await open()
  const asked = [pawl.ask("A", { key: "k" }), pawl.ask("B", { key: "k" })]
  const outcomes = (await Promise.allSettled(asked)).map(({ status }) => status)
  expect(outcomes.toSorted()).toEqual(["fulfilled", "rejected"])
  await expect(Promise.all(asked)).rejects.toSatisfy((error) => hasCode(error, "key_reused"))
})

test.each([
  [{ url: ":memory:", durability: "none" }],
  [{ url: ":memory:", connections: 0 }],
  [{ file: "pawl.db" }],
  [""],
  [5],
])("an invalid store is refused by name, also one with an invalid durability: %j", async (store) => {
  await expect(open({ store: store as never })).rejects.toThrow(/store: |store\./)
})

test.each([
  ["/proc/pawl/pawl.db", "/proc/pawl/pawl.db"],
  [{ url: "file:/dev/null/pawl.db" }, "/dev/null/pawl.db"],
])("a store that cannot be opened is refused with a message that names it: %j", async (store, file) => {
  await expect(open({ store })).rejects.toThrow(`The store ${file} cannot be opened: `)
})

test.each<[what: string, options: object, problem: RegExp]>([
  ["an unknown option", { stroe: ":memory:" }, /stroe/],
  ["a prefix without a slash", { http: { prefix: "pawl" } }, /http\.prefix: must start with/],
  ["agents that are no list", { agents: "clerk" }, /agents: must be a list/],
  [
    "an unknown field of an agent",
    { agents: [{ name: "clerk", instruction: "Pay." }] },
    /Agent "clerk": .*instruction/,
  ],
  ["instructions that are no text", { agents: [{ name: "clerk", instructions: 5 }] }, /Agent "clerk": instructions/],
  ["a limit that is no number", { agents: [{ name: "clerk", maxIterations: "9" }] }, /Agent "clerk": maxIterations/],
  ["a tool that is none", { agents: [{ name: "clerk", tools: [{}] }] }, /Tool "undefined": /],
])("%s is refused by name when the program starts", async (_, options, problem) => {
  await expect(open(options)).rejects.toThrow(problem)
})
