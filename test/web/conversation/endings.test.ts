import { expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool, failed } from "../../../core/engine/definition/tool.ts"
import { calls, fails, finishes, replies, says, thinks, waits } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { dollars } from "../../../apps/web/strings/format.ts"
import { COST, Priced } from "../../support/loop/priced.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { Site } from "../browser/site.ts"
import { go, reopen, say } from "../browser/talk.ts"

const reading = { input: z.looseObject({}), effect: "read", afterCrash: "run-again" } as const
const look = defineTool({ ...reading, name: "look", description: "For tests.", run: () => answer("Seen.") })
const stumble = defineTool({ ...reading, name: "stumble", description: "For tests.", run: () => failed("It fell.") })
const send = defineTool({
  ...{ name: "send_mail", description: "For tests.", input: z.looseObject({}), effect: "write", inverse: false },
  ...{ afterCrash: "in-doubt", timeoutSeconds: 1 },
  run: () => (tried++, new Promise<never>(() => {})),
} as const)
let tried = 0

const passage = "What was found. ".repeat(40)
const sources = [
  {
    id: "s1",
    title: "Handbook",
    url: "https://example.org/handbook",
    authors: ["A. Author", "B. Author", "C. Author", "D. Author"],
    collection: "coll_1",
    collectionName: "Manuals",
    documentId: "doc_1",
    passage,
    score: 0.873,
  },
  {
    id: "s2",
    title: "<img src=x onerror=alert(1)>\u202E",
    url: "javascript:alert(2)",
    passage: "![p](http://evil.example/p.png)",
  },
  { id: "s3", passage: "# A **heading**\n\nNo title.", url: "/api/auth/sign-out" },
]
const find = defineTool({
  ...{ ...reading, name: "search_documents", description: "For tests." },
  run: () => answer("Found.", { data: { kind: "sources", sources } }),
})

const visit = oneVisit({ tools: [look, stumble, send, find] })

test("each tool call shows its outcome and duration, also after reopening and in a branch", async () => {
  const model = scripted(
    replies(says("Let me see."), calls(["look"], ["stumble"], ["send_mail"])),
    always(says("So be it.")),
  )
  const { ada, page, faults } = await visit.begin(model)
  const id = await ada.begin({ agent: "test" })
  await go(page, `/c/${id}`)
  const line = (name: string) => page.locator("summary", { hasText: name })
  await say(page, "go")
  await page.getByRole("button", { name: "Reject" }).click()
  await page.getByRole("button", { name: "Reject" }).click()
  await page.getByText("So be it.").waitFor()
  const seen = async () => {
    await page.getByText("So be it.").waitFor()
    await expect.poll(() => line("Look").innerText()).toMatch(/\d+ ms/)
    expect(await line("Look").innerText()).not.toMatch(/done|failed/)
    await expect.poll(() => line("Stumble").innerText()).toMatch(/failed · \d+ ms/)
  }
  // A decided change is shown as its card; in a branch, which has no proposals, as its tool call.
  const rejected = () => page.locator("summary", { hasText: /rejected/i }).waitFor()
  await seen()
  await reopen(page)
  await seen()
  await rejected()
  await page.getByRole("button", { name: "Branch from here" }).click()
  await page.waitForURL((url) => !url.pathname.endsWith(id))
  await seen()
  await rejected()
  expect(faults).toEqual([])
})

test("the profile chosen for a message is shown as a step with its name and duration", async () => {
  const profile = { name: "eyes", description: "To look.", tools: ["look"] }
  const routed = { profiles: ["eyes"], reason: "It says look.", scores: {}, by: "rules" as const }
  await using site = await Site.open({
    model: scripted(says("None.")),
    tools: [look],
    agent: { profiles: [profile], route: async () => routed },
  })
  const id = await (await site.ada()).begin({ agent: "test" })
  const { page, faults } = await site.visit({}, `/c/${id}`)
  await say(page, "look")
  await page.getByText("None.").waitFor()
  const step = page.locator("summary", { hasText: "Routing" })
  await expect.poll(() => step.innerText()).toMatch(/Routing · eyes[\s\S]*\d+ ms/)
  await step.click()
  await page.getByText('"reason"').waitFor()
  expect(faults).toEqual([])
})

test("an interrupted reply that starts over, and a shortened history, are shown where they happen", async () => {
  const model = scripted(
    says("One."),
    says("Two."),
    fails("overloaded", { after: "Once up", retriable: true }),
    says("Once upon a time."),
    fails("context_overflow"),
    says("Four."),
  )
  const { ada, page, faults } = await visit.begin(model)
  const id = await ada.begin({ agent: "test" })
  await go(page, `/c/${id}`)
  await say(page, `1 ${"x".repeat(400)}`)
  await page.getByText("One.").waitFor()
  await say(page, `2 ${"x".repeat(400)}`)
  await page.getByText("Two.").waitFor()
  await say(page, "a story")
  await page.getByText("The reply was interrupted: the provider is overloaded. Starting over.").waitFor()
  await page.getByText("Once upon a time.").waitFor()
  // The text of the failed attempt is gone.
  expect(await page.getByText("Once up", { exact: true }).count()).toBe(0)
  await say(page, "4")
  await page.getByText("Four.").waitFor()
  const small = [
    page.getByText("The reply was interrupted: the provider is overloaded. Starting over."),
    page.getByText(/only what follows message \d+/),
  ]
  for (const line of small) await line.waitFor()
  // A page that is opened later shows the same text at the same position.
  const text = () => page.getByRole("log").innerText()
  const before = await text()
  await reopen(page)
  for (const line of small) await line.waitFor()
  await expect.poll(text).toBe(before)
  expect(faults).toEqual([])
})

test("a failed reply keeps its text, and each wait or failure is explained in a sentence, also after reopening", async () => {
  const model = scripted(
    replies(waits(20_000), fails("overloaded", { after: "Half of the sto" })),
    replies(thinks("Hm"), finishes("limit")),
    replies(says("Whole, as it seems."), finishes("unknown")),
  )
  const { ada, page, faults } = await visit.begin(model)
  const id = await ada.begin({ agent: "test" })
  await go(page, `/c/${id}`)
  const log = page.getByRole("log")
  await say(page, "a story")
  const seen = async () => {
    await page.getByText("Half of the sto").waitFor()
    await page.getByText("The reply was interrupted here.").waitFor()
    await page.getByText("scripted limits requests. Trying again in 20 s.").waitFor()
    expect(await log.innerText()).not.toMatch(/\b[a-z]+_[a-z_]+\b/)
  }
  await seen()
  await reopen(page)
  await seen()
  await say(page, "go on")
  await page.getByText("The model reached its output limit before it wrote any text").waitFor()
  await say(page, "shorter")
  await page.getByText("without a reason. It may be incomplete").waitFor()
  await reopen(page)
  await seen()
  await page.getByText("without a reason. It may be incomplete").waitFor()
  expect(faults).toEqual([])
})

test("a reply cut by its limit offers Continue and keeps its text; afterwards the offer is gone", async () => {
  const model = scripted(replies(says("One, two,"), finishes("limit")), says("three."))
  const { ada, page, faults } = await visit.begin(model)
  const id = await ada.begin({ agent: "test" })
  await go(page, `/c/${id}`)
  await say(page, "count")
  const goOn = page.getByRole("button", { name: "Continue" })
  await goOn.waitFor()
  await reopen(page)
  await goOn.click()
  await page.getByText("three.").waitFor()
  await page.getByText("One, two,").waitFor()
  await page.getByText("continue", { exact: true }).waitFor()
  await expect.poll(() => goOn.count()).toBe(0)
  const [half, next] = model.received.at(-1)!.request.history.slice(1)
  expect(half).toMatchObject({ role: "assistant", parts: [{ type: "text", text: "One, two," }] })
  expect(next).toMatchObject({ role: "user", text: "continue" })
  expect(faults).toEqual([])
})

test("a change in doubt is counted in the inbox and settled there with each of the three answers", async () => {
  const model = scripted(
    ...[calls("send_mail", { to: "Ada" }), calls("send_mail", { to: "Bo" }), calls("send_mail", { to: "Cy" })],
    always(says("Noted.")),
  )
  tried = 0
  const { ada, page, faults } = await visit.begin(model)
  await go(page, "/inbox")
  const inbox = page.getByRole("navigation").getByRole("link", { name: /^Inbox/ })
  for (const title of ["Ada", "Bo", "Cy"]) await ada.say(await ada.begin({ agent: "test", title }), "send it")
  const approve = page.getByRole("button", { name: "Approve", exact: true })
  await expect.poll(() => approve.count()).toBe(3)
  for (let left = 3; left > 0; left--) {
    await approve.first().click()
    await expect.poll(() => page.getByRole("button", { name: "Mark as done" }).count()).toBe(4 - left)
  }
  await expect.poll(() => inbox.innerText()).toContain("3")
  const of = (title: string) => page.getByRole("group", { name: `In ${title}` })
  await of("Ada").getByRole("button", { name: "Mark as done" }).click()
  await of("Ada").getByText("Done", { exact: true }).waitFor()
  await of("Bo").getByRole("button", { name: "Leave as is" }).click()
  await of("Bo").getByText("Abandoned", { exact: true }).waitFor()
  await expect.poll(() => inbox.innerText()).toContain("1")
  const done = of("Cy").getByRole("button", { name: "Mark as done" })
  const held = Promise.withResolvers<void>()
  await page.route("**/proposals/*/resolve", async (route) => {
    await held.promise
    await route.continue()
  })
  await of("Cy").getByRole("button", { name: "Run again" }).click()
  await expect.poll(() => done.isDisabled()).toBe(true) // while it is on its way there is nothing to press
  held.resolve()
  await expect.poll(() => tried).toBe(4)
  // It is interrupted again, and asks again.
  const inDoubt = async () => (await ada.get("/api/agent/proposals?status=in_doubt")).body.items.length
  await expect.poll(inDoubt).toBe(1)
  await done.and(page.locator(":enabled")).click()
  await expect.poll(() => inbox.innerText()).toBe("Inbox")
  expect(faults).toEqual([])
})

test("usage is shown by model, by day and by conversation, with its cost", async () => {
  await using site = await Site.open({ model: new Priced() })
  const ada = await site.ada()
  const id = await ada.begin({ agent: "test", title: "Costly" })
  await ada.say(id, "Hello.")
  const { page, faults } = await site.visit({}, `/c/${id}`)
  await say(page, "Hello again.")
  await page.getByText(`Used 1,100 tokens · ${dollars(COST)}`).waitFor()
  await go(page, "/settings/usage")
  await page.getByText(`2 model calls, 2,000 input tokens, 200 output tokens: ${dollars(2 * COST)}`).waitFor()
  const today = new Date().toISOString().slice(0, 10)
  const row = (table: string) => page.getByRole("group", { name: table }).getByRole("row").last()
  const day = new Date(`${today}T00:00`).toLocaleDateString("en", { dateStyle: "medium" })
  const firsts = { "By model": "priced", "By day": day, "By conversation": "Costly" }
  for (const [table, first] of Object.entries(firsts))
    await expect
      .poll(async () => (await row(table).innerText()).split(/\s+/))
      .toEqual([...first.split(" "), "2", "2,000", "200", dollars(2 * COST)])
  await page.getByLabel(/^Since/).fill(today)
  await page.getByText("2 model calls, 2,000 input tokens").waitFor()
  await row("By conversation").getByRole("link", { name: "Costly" }).click()
  await page.getByText("Hello again.").waitFor()
  expect(faults).toEqual([])
})

test("the list stays at its end while it grows, stays put while a person reads, and has a button to jump to the end", async () => {
  const long = Array.from({ length: 60 }, (_, index) => `Line ${index + 1}.`).join("\n\n")
  const model = scripted(says(`${long}\n\nFirst end.`), says(`${long}\n\nSecond end.`))
  const { ada, page, faults } = await visit.begin(model)
  await say(page, "go")
  await page.getByText("First end.").waitFor()
  const log = page.getByRole("log")
  const fromEnd = () =>
    log.evaluate((each) => each.scrollHeight - each.scrollTop - each.clientHeight) as Promise<number>
  await expect.poll(fromEnd).toBeLessThan(5)
  expect(await page.getByRole("button", { name: "Jump to the end" }).count()).toBe(0)
  await log.hover()
  await page.mouse.wheel(0, -2000)
  await page.getByRole("button", { name: "Jump to the end" }).waitFor()
  // The wheel scrolls on for a moment.
  let before = 0
  await expect
    .poll(async () => {
      const [last, now] = [before, await fromEnd()]
      before = now
      return now > 500 && now === last
    })
    .toBe(true)
  // Another client sends a message; the scroll position stays.
  const id = new URL(page.url()).pathname.split("/").at(-1)
  const top = await log.evaluate((each) => each.scrollTop)
  await ada.say(id as string, "more")
  await expect.poll(fromEnd).toBeGreaterThan(before + 500)
  expect(Math.abs((await log.evaluate((each) => each.scrollTop)) - top)).toBeLessThan(40)
  await page.getByRole("button", { name: "Jump to the end" }).click()
  await page.getByText("Second end.").waitFor()
  await expect.poll(fromEnd).toBeLessThan(5)
  await page.getByRole("button", { name: "Jump to the end" }).waitFor({ state: "detached" })
  expect(faults).toEqual([])
})

test("sources are cards that lead only to the web, and load nothing", async () => {
  const { ada, page, faults } = await visit.begin(scripted(calls("search_documents"), says("There.")))
  const id = await ada.begin({ agent: "test" })
  await go(page, `/c/${id}`)
  await say(page, "find")
  // Search results are shown at the search; an answer carries the sources it cites.
  await page.getByText("There.").waitFor()
  const cards = page.getByRole("group", { name: "Sources" })
  expect(await cards.isVisible()).toBe(false)
  await page.locator("summary", { hasText: "Search documents" }).click()
  await cards.getByText("3 sources").waitFor()
  const links = await cards
    .getByRole("link")
    .evaluateAll((all) => all.map((each) => [each.getAttribute("href"), each.getAttribute("rel")]))
  expect(links).toEqual([["https://example.org/handbook", "noopener noreferrer"]])
  const text = await cards.innerText()
  const shown = ["A. Author, B. Author, C. Author et al. · Manuals · example.org", "U+202E", "A heading No title."]
  for (const words of [...shown, "Untitled"]) expect(text).toContain(words)
  for (const id of ["coll_1", "doc_1", "s3", "fits", "0.87", "**"]) expect(text).not.toContain(id)
  await cards.getByRole("button", { name: "Show passage of source 3" }).click()
  await cards.locator(".passage strong", { hasText: "heading" }).waitFor()
  expect(await cards.locator("img").count()).toBe(0)
  expect(faults).toEqual([])
})
