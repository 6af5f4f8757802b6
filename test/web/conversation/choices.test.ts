import { expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../../core/engine/definition/tool.ts"
import { calls, replies, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { TurnedClock } from "../../support/loop/world.ts"
import { PacedModel } from "../../support/loop/paced-model.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { Site } from "../browser/site.ts"
import { go, reopen, say } from "../browser/talk.ts"

const kinds = [
  {
    kind: "table",
    columns: ["Name", { name: "Sum" }],
    rows: [["Ada", 12], { Name: "Grace", Sum: 7 }],
    truncated: true,
  },
  { kind: "text", text: "just text" },
  { kind: "markdown", text: "## Found\n\n<img src=x onerror=alert(1)>" },
  { kind: "diff", before: { title: "old name" }, after: { title: "new name" } },
  { kind: "table", columns: 3 },
  { kind: "of tomorrow", secret: "unfolded" },
  { kind: "files", files: [{ id: "file_0000", name: "report.pdf", type: "application/pdf", size: 12 }] },
]
const show = defineTool({
  name: "show",
  description: "For tests.",
  input: z.object({ index: z.number() }),
  effect: "read",
  afterCrash: "run-again",
  run: ({ index }) => answer(`result ${index}`, { data: kinds[index] }),
})
const change = defineTool({
  name: "change_settings",
  description: "For tests.",
  input: z.object({}),
  effect: "write",
  afterCrash: "run-again",
  inverse: false,
  preview: () => ({ summary: "Change the settings", action: "destructive_update", insists: true }),
  run: () => answer("changed"),
})

let dug = Promise.withResolvers<void>()
const dig = defineTool({
  name: "dig",
  description: "For tests.",
  input: z.object({}),
  effect: "read",
  afterCrash: "run-again",
  async run(_, { progress }) {
    progress?.({ text: "Half of it", done: 1, total: 2 })
    await dug.promise
    return answer("dug")
  },
})

const ask = defineTool({
  name: "ask",
  description: "For tests.",
  input: z.object({}),
  effect: "read",
  afterCrash: "run-again",
  async run(_, { lasting }) {
    const size = { name: "size", label: "Which size?", kind: "choice", isRequired: true } as const
    const options = ["Small", "Large"].map((label) => ({ value: label.toLowerCase(), label }))
    const note = { name: "note", label: "A note", kind: "text", isRequired: false, least: 3 } as const
    const question = { server: "shop", tool: "ask", message: "Before I order:", fields: [{ ...size, options }, note] }
    return answer(JSON.stringify(await lasting?.ask?.(question)))
  },
})

const visit = oneVisit({ tools: [show, change, dig, ask] })

test("agent and mode are chosen before the first message, the mode also later; the colour scheme is stored", async () => {
  const { ada, page, faults } = await visit.begin(scripted(always(says("ok"))))
  await page.getByRole("button", { name: "Agent: Workspace" }).click()
  await page.getByRole("menuitemradio", { name: /^Test/ }).click()
  await page.getByRole("button", { name: "Mode: Ask first" }).click()
  await page.getByRole("menuitemradio", { name: /^Read only/ }).click()
  await say(page, "hello")
  await page.getByText("ok", { exact: true }).waitFor()
  const id = page.url().split("/").at(-1)
  expect((await ada.get(`/api/conversations/${id}`)).body).toMatchObject({
    agent: "test",
    mode: "read-only",
    title: "hello",
  })
  await page.getByRole("button", { name: "Mode: Read only" }).click()
  await page.getByRole("menuitemradio", { name: /^Automatic/ }).click()
  await page.getByRole("button", { name: "Mode: Automatic" }).waitFor()
  await expect.poll(async () => (await ada.get(`/api/conversations/${id}`)).body.mode).toBe("auto")

  await page.getByRole("button", { name: "Use dark theme" }).click()
  await page.reload()
  await page.getByRole("button", { name: "Use light theme" }).waitFor()
  expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(23, 24, 23)")
  await page.getByRole("button", { name: "Use light theme" }).click()
  expect(faults).toEqual([])
})

test("a steering message joins the current run; another message supersedes pending changes", async () => {
  const model = new PacedModel()
  const { page, faults } = await visit.begin(model)
  await say(page, "go")
  model.write("working")
  await page.getByText("working", { exact: true }).waitFor()
  await page.getByRole("textbox", { name: "Message" }).fill("to the left")
  await page.getByRole("button", { name: "Steer" }).click()
  await page.getByRole("list", { name: "Queued messages" }).getByText("to the left").waitFor()
  model.end()
  await page.getByRole("article", { name: "You" }).getByText("to the left").waitFor()
  model.call("create_task", { title: "x" }).end("calls")
  await page.getByRole("button", { name: "Approve", exact: true }).waitFor()
  await say(page, "never mind")
  await page.getByText("Not applied", { exact: true }).waitFor()
  model.write("fine").end()
  await page.getByText("fine", { exact: true }).waitFor()
  expect(model.requests).toHaveLength(3)
  expect(faults).toEqual([])
})

test("an undecided proposal expires on time, and the page shows it", async () => {
  const model = scripted(calls("create_task", { title: "x" }), always(says("Too late.")))
  const clock = new TurnedClock(Date.now())
  await using site = await Site.open({ model, clock, policy: { proposalMinutes: 1.5 } })
  const { page } = await site.visit({ unused: true })
  await page.clock.install()
  await page.reload()
  await say(page, "go")
  await page
    .getByRole("timer")
    .getByText(/\d s left/)
    .waitFor()
  const approve = page.getByRole("button", { name: "Approve", exact: true })
  await approve.waitFor()
  await clock.turn(91_000)
  await page.clock.fastForward(91_000)
  await page.getByText("No one decided in time. Nothing was changed.").waitFor()
  expect(await approve.count()).toBe(0)
  await page.getByRole("button", { name: "Propose again" }).waitFor()
  expect((await (await site.ada()).get("/api/agent/audit")).body.items).toEqual([])
})

test("a failed run shows why and can be retried, also after reopening", async () => {
  let tries = 0
  const model = new PacedModel()
  const stream = model.stream.bind(model)
  model.stream = async function* (request, signal) {
    if (++tries <= 4) throw new Error("the model broke")
    yield* stream(request, signal)
  }
  const { page } = await visit.begin(model)
  await say(page, "go")
  await page.getByRole("button", { name: "Retry" }).waitFor({ timeout: 90_000 })
  await reopen(page)
  tries = 10
  model.write("There you are.").end()
  await page.getByRole("button", { name: "Retry" }).click()
  await page.getByText("There you are.").waitFor()
})

test("results are drawn by their kind, others are folded, and a broken one breaks only its own view", async () => {
  const asked = kinds.map((_, index) => ["show", { index }] as const)
  const { ada, page, faults } = await visit.begin(scripted(replies(says("Look:"), calls(...asked)), says("Seen.")))
  const id = await ada.begin({ agent: "test" })
  await go(page, `/c/${id}`)
  await say(page, "show me")
  await page.getByText("Seen.").waitFor()
  await page.getByText("7 steps").click()
  await page.getByRole("cell", { name: "Grace" }).waitFor()
  await page.getByText("2 rows · the query returns more").waitFor()
  await page.getByText("just text").waitFor()
  await page.getByRole("heading", { name: "Found" }).waitFor()
  await page.locator("ins", { hasText: "new" }).waitFor()
  await page.getByRole("list", { name: "Files" }).getByText("report.pdf").waitFor()
  expect(await page.getByText("unfolded").isVisible()).toBe(false)
  expect(faults).toEqual([])
})

test("the progress of a tool call is shown next to it while it runs, and not afterwards", async () => {
  dug = Promise.withResolvers<void>()
  const { ada, page, faults } = await visit.begin(scripted(calls("dig", {}), says("Over.")))
  const id = await ada.begin({ agent: "test" })
  await go(page, `/c/${id}`)
  await say(page, "dig")
  await page.getByText("Half of it · 50 %").waitFor()
  dug.resolve()
  await page.getByText("Over.").waitFor()
  expect(await page.getByText("Half of it").count()).toBe(0)
  expect(faults).toEqual([])
})

test("a tool that always needs approval can be approved once, but not for all times", async () => {
  const { ada, page, faults } = await visit.begin(scripted(calls("change_settings", {}), says("Over.")))
  const id = await ada.begin({ agent: "test" })
  await go(page, `/c/${id}`)
  await say(page, "change it")
  const approve = page.getByRole("button", { name: "Approve", exact: true })
  await approve.waitFor()
  expect(await page.getByRole("button", { name: "More ways to approve" }).count()).toBe(0)
  await approve.click()
  await page.getByText("Over.").waitFor()
  expect(faults).toEqual([])
})

test("a question of a tool's server stands above the composer, with its sender, also after reopening; the answer is sent to the server", async () => {
  const { page, ada, faults } = await visit.begin(scripted(calls("ask"), says("Ordered.")))
  const { id } = (await ada.post("/api/conversations", { agent: "test" })).body
  await go(page, `/c/${id}`)
  await say(page, "order it")
  const card = page.getByRole("form", { name: "Question from shop" })
  await card.getByText("Before I order:").waitFor()
  await reopen(page)
  await card.getByText("The text comes from outside").waitFor()
  await card.getByLabel("Which size?").selectOption("large")
  // An invalid value is reported at its field, and the rest of the answer stays.
  const note = card.getByLabel("A note")
  await note.fill("no")
  await card.getByRole("button", { name: "Send answer" }).click()
  await card.getByRole("alert").getByText("must have at least 3 characters").waitFor()
  expect(await note.getAttribute("aria-describedby")).toBe(await card.getByRole("alert").getAttribute("id"))
  await note.fill("no hurry")
  await card.getByRole("button", { name: "Send answer" }).click()
  await page.getByText("Ordered.").waitFor()
  expect(await card.count()).toBe(0)
  const { messages } = (await ada.get(`/api/conversations/${id}`)).body
  const result = messages.find(({ role }: { role: string }) => role === "tool")
  expect(JSON.parse(result.content)).toMatchObject({ outcome: "accept", content: { size: "large", note: "no hurry" } })
  // The browser itself logs the refused answer.
  expect(faults.filter((fault) => !fault.includes("400 (Bad Request)"))).toEqual([])
})
