import type { Page } from "playwright-core"
import { expect, inject, test } from "vitest"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { Visitor } from "../support/server/face.ts"
import { isLong, oneIn } from "../support/sizes.ts"
import { doubledLandmarks, seriousFaults } from "./browser/serious-faults.ts"
import { oneVisit } from "./browser/one-visit.ts"
import { Site } from "./browser/site.ts"
import { go } from "./browser/talk.ts"

/** All known attempts to make a page act, and invisible characters, in one line. */
const EVIL = "http://evil.example"
const POISON = `x\u202Efdp.exe\u200B<img src="${EVIL}/a.png" onerror=alert(1)><script>alert(2)</script>![i](${EVIL}/b.png)`
const MARKDOWN = `${POISON}\n\n[c](javascript:alert(3)) <iframe src="${EVIL}/f"></iframe>\n\n![pixel](${EVIL}/p.png)`
const tables = "/api/workspace"
const reach = new OutboundPolicy(["127.0.0.1"])
const visit = oneVisit({ reach })

interface Filled {
  readonly project: string
  readonly note: string
  readonly task: string
  readonly run: string
}

/** Fills a workspace, an audit log and an inbox in which this is every text that another person could have written. */
async function fill(ada: Visitor, text: string, long = text): Promise<Filled> {
  const add = async (table: string, row: object) => (await ada.post(`${tables}/${table}`, row)).body.id as string
  const client = await add("clients", { name: text, industry: text })
  const project = await add("projects", { name: text, clientId: client, aiSummary: text })
  const more = { description: long, projectId: project, assignee: JSON.stringify([text]), dueDate: 1000 }
  const task = await add("tasks", { title: text, priority: "high", ...more })
  await add("tasks", { title: `${text} done`, status: "done", projectId: project })
  await add("taskComments", { taskId: task, author: text, content: long })
  await add("checkpoints", { projectId: project, title: text, date: Date.now() })
  const note = await add("notes", { title: text, content: long, projectId: project })
  await add("notes", { title: text, content: long })
  const place = { kind: "postgres", host: "127.0.0.1", port: 1, database: text, user: text }
  expect((await ada.post("/api/connections", { name: text, ...place })).status).toBe(201)
  await ada.post("/api/tokens", { name: "Backup", scopes: ["read"] })
  await ada.say(await ada.begin({ title: text, mode: "auto" }), text)
  const { run } = (await ada.say(await ada.begin({ title: text }), text)).body
  return { project, note, task, run: run.id }
}

const scriptOf = (title: string) =>
  scripted(
    calls("create_task", { title, description: title }),
    says(title),
    calls("create_task", { title, description: title }),
    always(says("Done.")),
  )

/** Each page, with a word that appears once it has loaded; the default is the `text` that filled it. */
const pagesOf = ({ project, note, task, run }: Filled): readonly (readonly [path: string, word?: string])[] => [
  ...([["/tasks"], [`/tasks/${task}`], ["/projects"], [`/projects/${project}`]] as const),
  ...([
    ["/notes"],
    [`/notes/${note}`],
    ["/clients"],
    ["/inbox"],
    ["/audit"],
    [`/runs/${run}`],
    ["/settings/connections"],
  ] as const),
  ...([
    ["/library", "No documents yet"],
    ["/settings/models", "Anthropic"],
    ["/settings/tokens", "Backup"],
  ] as const),
  ...([
    ["/settings/sessions", "This browser"],
    ["/settings/devices", "No device is connected."],
  ] as const),
  ...([
    ["/settings/connect", "Claude Code"],
    ["/settings/usage", "output tokens"],
    ["/settings/data", "Export my data"],
    ["/settings/shared", "You have not shared any runs."],
  ] as const),
]

/** Opens a page without a reload, and waits until its data has loaded. */
async function open(page: Page, path: string, word: string): Promise<void> {
  await go(page, path)
  await page.locator("#main h1").waitFor()
  await expect.poll(() => page.locator("#main").innerText()).toContain(word)
  await page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
}

test("titles, names, notes and comments cannot run scripts or load resources, and hidden characters are drawn", async () => {
  const { ada, page, faults } = await visit.begin(scriptOf(POISON))
  const filled = await fill(ada, POISON, MARKDOWN)
  for (const [path, word = "U+202E"] of oneIn(3, pagesOf(filled))) {
    await open(page, path, word)
    const made = await page.evaluate(
      "[...document.querySelectorAll('#page :is(script, iframe, object, embed, img, style, link, base, meta, form[action])')].map((each) => each.outerHTML)",
    )
    expect([path, made]).toEqual([path, []])
    // Not in visible text, in an accessible name, in a tooltip, nor in the title of the tab. An input field has to contain the
    // value as it is.
    const raw = await page.evaluate(`[
      document.title,
      document.querySelector("#page").innerText,
      ...[...document.querySelectorAll("#page [aria-label], #page [title]")].flatMap((each) => [each.ariaLabel, each.title]),
    ].filter((each) => /[\\u202E\\u200B]/.test(each ?? ""))`)
    expect([path, raw]).toEqual([path, []])
    const links = (await page.evaluate(
      "[...document.querySelectorAll('#page a[href]')].map(({ href }) => href)",
    )) as string[]
    for (const href of links) expect(href).toMatch(/^https?:/)
  }
  await go(page, "/tasks")
  await page.getByRole("button", { name: "List", exact: true }).click()
  await page
    .getByRole("button", { name: /^More for/ })
    .last()
    .click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  await expect.poll(() => page.getByRole("dialog").innerText()).toContain("U+202E")
  await page.keyboard.press("Escape")
  await go(page, "/settings/connections")
  await page.getByRole("listitem").getByRole("button", { name: "Test" }).click()
  await page.getByRole("button", { name: "Tables" }).click()
  await page.getByRole("alert").waitFor()
  await page.getByRole("button", { name: "Remove" }).click()
  await expect.poll(() => page.getByRole("dialog").innerText()).toContain("U+202E")
  // That database does not answer, which the console reports.
  expect(faults.filter((fault) => !/status of (4|5)\d\d/.test(fault))).toEqual([])
})

const PHONE = { width: 390, height: 844 }
const DESK = { width: 1280, height: 800 }
const MILK = "Buy milk"
/** For tests that check some twenty pages. */
const SLOW = 400_000
const LOOKS = [
  ["light", DESK],
  ["dark", DESK],
  ["light", PHONE],
  ["dark", PHONE],
] as const

/** Elements wider than their container: the page, or a part of it that scrolls vertically. */
const OUT = `[document.documentElement, ...document.querySelectorAll("#main, #main .overflow-y-auto")]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map(({ tagName, className, scrollWidth }) => [tagName, className, scrollWidth].join(" "))`

/**
 * Checks the same page on a desktop and on a phone, where nothing may overflow to the side. Axe checks one in three, by the
 * seed, in one colour scheme and size, others than the time before; in the long run each in all of them.
 */
async function look(page: Page, what: string): Promise<string[]> {
  const faults: string[] = []
  const turn = looked++ + inject("seed")
  const chosen = turn % 3 === 0 ? LOOKS[(turn / 3) % LOOKS.length] : undefined
  for (const each of LOOKS) {
    const [colorScheme, size] = each
    const isAxes = isLong || each === chosen
    if (!isAxes && colorScheme === "dark") continue // no wider than in light
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
    await page.setViewportSize(size)
    const name = `${what} ${colorScheme} ${size.width}`
    if (isAxes) faults.push(...(await seriousFaults(page, name)))
    const out = (await page.evaluate(OUT)) as string[]
    faults.push(...out.map((part) => `${name}: sticks out of ${part}`))
  }
  await page.setViewportSize(DESK)
  return faults
}
let looked = 0

test(
  "axe finds no serious fault on any page in light mode, dark mode and on a phone, where nothing overflows",
  async () => {
    // A site of its own: the audit of another names deleted items.
    await using site = await Site.open({ model: scriptOf(MILK), reach })
    const long = `Some *text* with \`code\` and ${"long".repeat(100)}.\n\n- [x] done`
    const filled = await fill(await site.ada(), MILK, long)
    const { page, faults } = await site.visit()
    for (const [path, word = MILK] of oneIn(3, pagesOf(filled))) {
      await open(page, path, word)
      expect(await look(page, path)).toEqual([])
    }
    await open(page, "/tasks", MILK)
    await page.getByRole("button", { name: "List", exact: true }).click()
    await page.getByRole("checkbox").first().waitFor()
    expect(await look(page, "list")).toEqual([])
    await page
      .getByRole("button", { name: /^More for/ })
      .last()
      .click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("dialog").waitFor()
    expect(await look(page, "confirm")).toEqual([])
    await page.getByRole("button", { name: "Cancel" }).click()
    await open(page, `/notes/${filled.note}`, MILK)
    await page.getByRole("button", { name: "Edit" }).click()
    await page.getByLabel("Text (Markdown)").waitFor()
    expect(await look(page, "note editor")).toEqual([])
    await open(page, "/settings/connections", MILK)
    await page.getByRole("button", { name: "Edit" }).click()
    await page.getByRole("dialog").getByLabel("Port").fill("2")
    expect(await look(page, "a connection being edited")).toEqual([])
    expect(faults).toEqual([])
  },
  SLOW,
)

test("landmarks of a page have unique names, also for items with the same title", async () => {
  const twice = calls(["create_task", { title: "Milk" }], ["create_task", { title: "Milk", description: "Again." }])
  const { ada, page } = await visit.begin(
    scripted(calls("create_task", { title: "x" }), says("x"), twice, twice, always(says("Done."))),
  )
  const filled = await fill(ada, "Milk")
  const second = await ada.begin({ title: "Milk" })
  await ada.say(second, "Milk")
  const pages = [...pagesOf(filled), [`/c/${second}`] as const, ["/", "What would you like to do?"] as const]
  for (const [path, word = "Milk"] of pages) {
    await open(page, path, word)
    expect([path, await doubledLandmarks(page)]).toEqual([path, []])
  }
})

test("on a phone the drawer leads to every page, and an open note replaces the list", async () => {
  const { site, ada } = await visit.begin(scriptOf("Buy milk"))
  await fill(ada, "Buy milk")
  const { page, faults } = await site.visit({ viewport: PHONE, hasTouch: true, isMobile: true })
  const go = async (name: string) => {
    await page.getByRole("button", { name: "Open the list of conversations" }).tap()
    await page.getByRole("navigation").getByRole("link", { name }).tap()
    await page.getByRole("navigation").waitFor({ state: "hidden" })
  }
  await go("Notes")
  await page.getByRole("list", { name: "Notes" }).getByRole("link").first().tap()
  await page.getByRole("article", { name: "Note" }).waitFor()
  await page.getByRole("list", { name: "Notes" }).waitFor({ state: "hidden" })
  await page.getByRole("link", { name: "All notes" }).tap()
  await page.getByRole("list", { name: "Notes" }).waitFor()
  await go("Tasks")
  await page.locator("[data-task]").first().tap()
  const dialog = page.getByRole("dialog")
  await dialog.getByLabel("Status").selectOption("in_progress")
  await dialog.getByRole("button", { name: "Save" }).tap()
  await dialog.waitFor({ state: "detached" })
  await page.getByRole("region", { name: "In progress" }).locator("[data-task]").waitFor()
  await go("Inbox")
  await page.getByRole("button", { name: "Approve", exact: true }).tap()
  await page.getByText("Done", { exact: true }).waitFor()
  expect(faults).toEqual([])
})

test("the conversation page does not load the code of other pages, and a page that fails to load shows it", async () => {
  await using site = await Site.open({ model: scripted() })
  const { page } = await site.visit({ unused: true })
  const loaded: string[] = []
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname))
  await page.reload()
  await page.locator("#composer").waitFor()
  expect(loaded.filter((path) => path.includes("-page-"))).toEqual([])
  await page.route(/tasks-page/, (route) => route.abort())
  await page.getByRole("navigation").getByRole("link", { name: "Tasks" }).click()
  await page.getByRole("heading", { name: "This page could not be loaded" }).waitFor()
  await page.unroute(/tasks-page/)
  await page.getByRole("button", { name: "Reload" }).click()
  await page.getByText("No tasks yet").waitFor()
})
