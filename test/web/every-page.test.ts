import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { Reach } from "../../src/models/reach.ts"
import { calls, says } from "../../src/models/script.ts"
import { always, scripted } from "../../src/models/scripted.ts"
import type { Visitor } from "../face.ts"
import { Site } from "./site.ts"

/** Everything that is known to make a page do something, and what the eye would miss, in one line. */
const EVIL = "http://evil.example"
const POISON = `x\u202Efdp.exe\u200B<img src="${EVIL}/a.png" onerror=alert(1)><script>alert(2)</script>![i](${EVIL}/b.png)`
const MARKDOWN = `${POISON}\n\n[c](javascript:alert(3)) <iframe src="${EVIL}/f"></iframe>\n\n![pixel](${EVIL}/p.png)`
const tables = "/api/workspace"
const reach = new Reach(["127.0.0.1"])

interface Filled {
  readonly project: string
  readonly note: string
  readonly task: string
}

/** A workspace, an audit and an inbox in which every text that somebody else could have written is this one. */
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
  await ada.say(await ada.begin({ title: text }), text)
  return { project, note, task }
}

const scriptOf = (title: string) =>
  scripted(
    calls("create_task", { title, description: title }),
    says(title),
    calls("create_task", { title, description: title }),
    always(says("Done.")),
  )

const pathsOf = ({ project, note, task }: Filled): readonly string[] => [
  ...["/tasks", `/tasks/${task}`, "/projects", `/projects/${project}`, "/notes", `/notes/${note}`, "/clients"],
  ...["/inbox", "/audit", "/settings/models", "/settings/tokens", "/settings/sessions", "/settings/devices"],
  ...["/settings/connections", "/settings/usage", "/settings/data"],
]

/** Goes there and waits until it has read what it shows. */
async function open(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.locator("#main h1").waitFor()
  await page.waitForLoadState("networkidle")
  await page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
}

test("whatever titles, names, notes and comments say, nothing runs, nothing loads, and what is hidden is drawn", async () => {
  await using site = await Site.open({ model: scriptOf(POISON), reach })
  const filled = await fill(await site.ada(), POISON, MARKDOWN)
  const { page, faults } = await site.visit()
  for (const path of pathsOf(filled)) {
    await open(page, site.url + path)
    const made = await page.evaluate(
      "[...document.querySelectorAll('#page :is(script, iframe, object, embed, img, style, link, base, meta, form[action])')].map((each) => each.outerHTML)",
    )
    expect([path, made]).toEqual([path, []])
    const text = await page.locator("#main").innerText()
    if (!path.startsWith("/settings/") || path.endsWith("connections"))
      expect([path, text.includes("U+202E")]).toEqual([path, true])
    // Not in what is read, in a name for whoever cannot see, in a tooltip, nor in the title of the tab. A field that is
    // written into has to hold what it holds.
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
  await page.goto(`${site.url}/tasks`)
  await page.getByRole("button", { name: "List", exact: true }).click()
  await page
    .getByRole("button", { name: /^More for/ })
    .last()
    .click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  expect(await page.getByRole("dialog").innerText()).toContain("U+202E")
  await open(page, `${site.url}/settings/connections`)
  await page.getByRole("listitem").getByRole("button", { name: "Test" }).click()
  await page.getByRole("button", { name: "Tables" }).click()
  await page.getByRole("alert").waitFor()
  await page.getByRole("button", { name: "Remove" }).click()
  expect(await page.getByRole("dialog").innerText()).toContain("U+202E")
  // That database does not answer, which the console tells.
  expect(faults.filter((fault) => !/status of (4|5)\d\d/.test(fault))).toEqual([])
})

/** What would keep somebody from using the page. In this very page: a new one for each look takes seconds. */
async function faultsOf(page: Page, what: string): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page: page as never }).setLegacyMode(true).analyze()
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical")
  return serious.map(({ id, nodes }) => `${what} ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`)
}

const SLOW = 180_000

test.each(["light", "dark"] as const)(
  "axe finds nothing serious on any page in %s",
  async (colorScheme) => {
    await using site = await Site.open({ model: scriptOf("Buy milk"), reach })
    const filled = await fill(await site.ada(), "Buy milk", "Some *text* with `code`.\n\n- [x] done")
    const { page, faults } = await site.visit({ colorScheme })
    for (const path of pathsOf(filled)) {
      await open(page, site.url + path)
      expect(await faultsOf(page, path)).toEqual([])
    }
    await open(page, `${site.url}/tasks`)
    await page.getByRole("button", { name: "List", exact: true }).click()
    expect(await faultsOf(page, "list")).toEqual([])
    await page
      .getByRole("button", { name: /^More for/ })
      .last()
      .click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    expect(await faultsOf(page, "confirm")).toEqual([])
    await open(page, `${site.url}/notes/${filled.note}`)
    await page.getByRole("button", { name: "Edit" }).click()
    expect(await faultsOf(page, "note editor")).toEqual([])
    await open(page, `${site.url}/settings/connections`)
    await page.getByRole("button", { name: "Edit" }).click()
    await page.getByRole("dialog").getByLabel("Port").fill("2")
    expect(await faultsOf(page, "a connection being edited")).toEqual([])
    expect(faults).toEqual([])
  },
  SLOW,
)

test(
  "on a phone nothing sticks out to the side, and axe finds nothing serious",
  async () => {
    await using site = await Site.open({ model: scriptOf("Buy milk"), reach })
    const filled = await fill(await site.ada(), "Buy milk", `${"long".repeat(100)} and more`)
    const { page } = await site.visit({ viewport: { width: 390, height: 844 } })
    for (const path of pathsOf(filled)) {
      await open(page, site.url + path)
      const widths = "[document.documentElement.scrollWidth, document.querySelector('#main').scrollWidth]"
      expect([path, Math.max(...((await page.evaluate(widths)) as number[]))]).toEqual([path, 390])
      if (/^.(tasks|notes|inbox)|tokens|connections/.test(path)) expect(await faultsOf(page, path)).toEqual([])
    }
  },
  SLOW,
)

test("on a phone the drawer leads everywhere, and a note takes the place of the list", async () => {
  await using site = await Site.open({ model: scriptOf("Buy milk"), reach })
  await fill(await site.ada(), "Buy milk")
  const { page, faults } = await site.visit({ viewport: { width: 390, height: 844 }, hasTouch: true })
  const go = async (name: string) => {
    await page.getByRole("button", { name: "Open the list of conversations" }).tap()
    await page.getByRole("navigation").getByRole("button", { name }).tap()
    await page.getByRole("navigation").waitFor({ state: "hidden" })
  }
  await go("Notes")
  await page.getByRole("list", { name: "Notes" }).getByRole("link").first().tap()
  await page.getByRole("article", { name: "Note" }).waitFor()
  expect(await page.getByRole("list", { name: "Notes" }).isVisible()).toBe(false)
  await page.getByRole("button", { name: "Back to all notes" }).tap()
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

test("who comes to talk does not load the other pages, and a page that cannot be loaded says so", async () => {
  await using site = await Site.open({ model: scripted() })
  const { page } = await site.visit()
  const loaded: string[] = []
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname))
  await page.reload()
  await page.locator("#composer").waitFor()
  expect(loaded.filter((path) => path.includes("-page"))).toEqual([])
  await page.route(/tasks-page/, (route) => route.abort())
  await page.getByRole("navigation").getByRole("button", { name: "Tasks" }).click()
  await page.getByRole("heading", { name: "This page could not be loaded" }).waitFor()
  await page.unroute(/tasks-page/)
  await page.getByRole("button", { name: "Reload" }).click()
  await page.getByText("No tasks yet").waitFor()
})
