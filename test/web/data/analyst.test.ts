import { mkdirSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { expect, inject, test } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../../core/engine/definition/tool.ts"
import { offlineModel } from "../../../labs/offline-model/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { makeShop } from "../../analyst/shop.ts"
import type { Visitor } from "../../support/server/face.ts"
import { oneIn } from "../../support/sizes.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { seriousFaultsInBothColours } from "../browser/serious-faults.ts"
import { Site } from "../browser/site.ts"
import { go, reopen, say } from "../browser/talk.ts"

const EVIL = "http://evil.example"

const folder = () => {
  const root = mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))
  mkdirSync(join(root, "shared"))
  makeShop(join(root, "shared", "shop.db"))
  return root
}

/** Scrolls a table to its start or its end. */
const scrollTo = (page: Page, place: string) =>
  page.evaluate(`(() => {
    const table = document.querySelector("[role=group][aria-label=Table]")
    table.scrollTop = ${place}
  })()`)

const fenced = (sql: string) => says(`\`\`\`sql\n${sql}\n\`\`\``)
const MANY =
  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i AS number, 'row ' || i AS name FROM n"

const results: unknown[] = []
const show = defineTool({
  ...{ name: "show", description: "For tests.", input: z.looseObject({}), effect: "read", afterCrash: "run-again" },
  run: () => answer("Here.", { data: results.shift() }),
} as const)

const visit = oneVisit({ sqliteRoot: folder(), tools: [show] })

test("a new user queries the sample database at once, without a model, and sees the SQL", async () => {
  const model = offlineModel()
  await using site = await Site.open({ model, sqliteRoot: folder() })
  const { page, faults } = await site.visit()
  await page.getByRole("button", { name: /^Agent:/ }).click()
  await page.getByRole("menuitemradio", { name: /^Analyst/ }).click()
  const sample = page.getByRole("button", { name: "Try the sample database" })
  await sample.waitFor()
  await sample.click()
  await page.getByRole("button", { name: "Database: Sample shop" }).waitFor()
  const first = page.getByRole("list", { name: "Suggestions for Analyst" })
  await first.getByRole("button").first().click()
  await page.getByRole("cell", { name: /^\d+/ }).first().waitFor()
  await page.getByRole("button", { name: "Database: Sample shop" }).waitFor()
  await say(page, "revenue by category")
  // The result suits a chart, so it is drawn; its rows are a click away.
  await page.getByTitle("Chart: revenue by category").waitFor()
  await page.getByRole("button", { name: "Table", exact: true }).click()
  await page.getByRole("columnheader", { name: "revenue real" }).waitFor()
  await page.getByText("SQL", { exact: true }).last().click()
  await page.locator(".hljs-keyword", { hasText: "SELECT" }).last().waitFor()
  expect(faults).toEqual([])
})

test("a database is chosen for a conversation, before its first message and later; a deleted one is shown as deleted", async () => {
  const { ada, page, faults } = await visit.begin(scripted(says("ok")))
  const add = async (name: string) =>
    (await ada.post("/api/connections", { name, kind: "sqlite", path: "shared/shop.db" })).body.id as string
  const [first, second] = [await add("First"), await add("Second")]
  await page.getByRole("button", { name: /^Agent:/ }).click()
  await page.getByRole("menuitemradio", { name: /^Analyst/ }).click()
  await page.getByRole("button", { name: "Database: Second" }).click() // the newest is the default
  await page.getByRole("menuitemradio", { name: /^First/ }).click()
  await say(page, "hello")
  await page.getByText("ok", { exact: true }).waitFor()
  const id = new URL(page.url()).pathname.split("/").at(-1)
  const chosen = async () => (await ada.get(`/api/conversations/${id}`)).body.connectionId
  expect(await chosen()).toBe(first)
  await page.getByRole("button", { name: "Database: First" }).click()
  await page.getByRole("menuitemradio", { name: /^Second/ }).click()
  await page.getByRole("button", { name: "Database: Second" }).waitFor()
  await expect.poll(chosen).toBe(second)
  await ada.delete(`/api/connections/${second}`)
  await reopen(page)
  await page.getByRole("button", { name: "Database: Deleted database" }).click()
  await page.getByRole("menuitemradio", { name: "No database" }).click()
  await page.getByRole("button", { name: "Database: No database" }).waitFor()
  await expect.poll(chosen).toBeNull()
  expect(faults).toEqual([])
})

test("all rows of a result load by scrolling or sorting, and as a file; its SQL can be edited and run in place", async () => {
  const model = scripted(calls("ask_database", { query: "Count" }), fenced(MANY), says("Counted."))
  const { ada, page, faults } = await visit.begin(model)
  const { body } = await ada.post("/api/connections", { name: "Shop", kind: "sqlite", path: "shared/shop.db" })
  const id = await ada.begin({ agent: "analyst", connectionId: body.id })
  await go(page, `/c/${id}`)
  await say(page, "count")
  await page.getByText("Counted.").waitFor()
  await page.getByText("5,000 rows · first 100 shown").waitFor()
  const table = page.getByRole("table")
  expect(await table.getByRole("row").count()).toBeLessThan(60)
  const asked = page.waitForResponse((response) => /\/results\/res_\w+$/.test(response.url()))
  await scrollTo(page, "table.scrollHeight")
  await asked
  await page.getByText("5,000 rows", { exact: true }).waitFor()
  await expect
    .poll(async () => {
      await scrollTo(page, "table.scrollHeight")
      return table.getByRole("cell", { name: "row 5000" }).count()
    })
    .toBe(1)
  await table.getByRole("button", { name: /name/ }).click()
  await table.getByRole("button", { name: /name/ }).click()
  await expect
    .poll(() => table.getByRole("columnheader", { name: /name/ }).getAttribute("aria-sort"))
    .toBe("descending")
  await scrollTo(page, "0")
  await expect.poll(() => table.getByRole("row").nth(1).innerText()).toMatch(/5000\s+row 5000/)

  const downloading = page.waitForEvent("download")
  await page.getByRole("button", { name: "CSV" }).click()
  const lines = readFileSync(await (await downloading).path(), "utf8")
    .trim()
    .split(/\r?\n/)
  expect([lines.length, lines[0], lines[5000]]).toEqual([5001, "number,name", "5000,row 5000"])

  await page.getByText("SQL", { exact: true }).click()
  await page.getByRole("button", { name: "Edit and run" }).click()
  const editor = page.getByRole("textbox", { name: "SQL" })
  await expect.poll(() => editor.inputValue()).toContain("WITH RECURSIVE")
  await editor.fill("DELETE FROM customer")
  await page.getByRole("button", { name: "Run", exact: true }).click()
  await page
    .getByRole("alert")
    .getByText(/^Not run: .*Only one SELECT/)
    .waitFor()
  await editor.fill("SELECT nothing FROM customer")
  await editor.press("Control+Enter")
  await page
    .getByRole("alert")
    .getByText(/The database reported: .*nothing/)
    .waitFor()
  await editor.fill("SELECT name, town FROM customer ORDER BY name")
  await editor.press("Control+Enter")
  await page.getByText("You ran this query yourself.").waitFor()
  await table.getByRole("cell", { name: "London" }).waitFor()
  const again = page.waitForEvent("download")
  await page.getByRole("button", { name: "CSV" }).click()
  expect(
    readFileSync(await (await again).path(), "utf8")
      .trim()
      .split(/\r?\n/),
  ).toEqual(["name,town", "Ada,London", "Bo,"])
  await page.getByRole("button", { name: "Back to the assistant’s result" }).click()
  await page.getByText("5,000 rows", { exact: true }).waitFor()
  // The console also reports refused and failed queries.
  expect(faults.filter((fault) => !/status of 4(00|22)/.test(fault))).toEqual([])
})

test("cells, headings and SQL cannot run scripts or load resources, and hidden characters are drawn", async () => {
  const poison = `<img src="${EVIL}/a.png" onerror=alert(1)>`
  const sql = `SELECT '${poison}' AS "${poison.replaceAll('"', '""')}", 'a\u202Eb\u200Bc' AS "h\u202Ed", '![p](${EVIL}/p.png)' || '${"long ".repeat(40)}' AS c /* \u202E <script>alert(2)</script> ![q](${EVIL}/q.png) */`
  const model = scripted(calls("ask_database", { query: "Poison" }), fenced(sql), says("Shown."))
  const { ada, page, faults } = await visit.begin(model)
  const { body } = await ada.post("/api/connections", {
    name: `a\u202Eb${poison}`,
    kind: "sqlite",
    path: "shared/shop.db",
  })
  const id = await ada.begin({ agent: "analyst", connectionId: body.id })
  await go(page, `/c/${id}`)
  await say(page, "poison")
  await page.getByText("Shown.").waitFor()
  await page.getByRole("table").waitFor()
  await page.getByText("SQL", { exact: true }).click()
  await page.locator(".hljs-keyword").first().waitFor()
  await page.getByRole("button", { name: "Show full value" }).last().click()
  await page.getByRole("dialog").getByText(`${EVIL}/p.png`).waitFor()
  await page.keyboard.press("Escape")
  await page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
  const shown = await page.locator("#main").innerText()
  for (const code of ["U+202E", "U+200B", "<script>alert(2)</script>"]) expect(shown).toContain(code)
  const made = await page.evaluate(
    "[...document.querySelectorAll('#page :is(script, iframe, object, embed, img, style, link, base, meta, form[action])')].map((each) => each.outerHTML)",
  )
  expect(made).toEqual([])
  const raw = await page.evaluate(`[
    document.querySelector("#page").innerText,
    ...[...document.querySelectorAll("#page [aria-label], #page [title]")].flatMap((each) => [each.ariaLabel, each.title]),
  ].filter((each) => /[\\u202E\\u200B]/.test(each ?? ""))`)
  expect(raw).toEqual([])

  // Also SQL that the person wrote, with the end marker of a code block in it.
  await page.getByRole("button", { name: "Edit and run" }).click()
  const editor = page.getByRole("textbox", { name: "SQL" })
  await editor.fill("SELECT 1 AS one -- \n/*\n```\n<script>alert(3)</script>\n*/")
  await editor.press("Control+Enter")
  await page.getByText("You ran this query yourself.").waitFor()
  await page.getByRole("button", { name: "Close" }).click()
  await page.locator("code", { hasText: "<script>alert(3)</script>" }).waitFor()
  expect(await page.locator("#page script").count()).toBe(0)
  expect(faults).toEqual([])
})

/** A conversation with a table and a chart of the same result, which is stored on the server. */
async function drawn(ada: Visitor): Promise<string> {
  const { body } = await ada.post("/api/connections", { name: "Shop", kind: "sqlite", path: "shared/shop.db" })
  const sql = "SELECT name, id FROM customer"
  const { resultId, columns, rows } = (await ada.post(`/api/connections/${body.id}/query`, { sql })).body
  const common = { connectionId: body.id, resultId, sql, resultHash: "h" }
  const values = rows.map(([name, id]: [string, number]) => ({ name, id }))
  const encoding = { x: { field: "name", type: "nominal" }, y: { field: "id", type: "quantitative" } }
  results.length = 0
  results.push({ kind: "table", ...common, columns, rows, rowCount: 2, truncated: false })
  results.push({ kind: "chart", ...common, spec: { title: "Customers", mark: "bar", encoding, data: { values } } })
  return ada.begin({ agent: "test", connectionId: body.id })
}

test("a chart is marked as outdated while its rows are replaced by those of other SQL", async () => {
  const model = scripted(calls(["show", { n: 1 }], ["show", { n: 2 }]), says("Drawn."))
  const { ada, page, faults } = await visit.begin(model)
  await go(page, `/c/${await drawn(ada)}`)
  await say(page, "draw")
  await page.getByText("Drawn.").waitFor()
  await page.getByRole("figure", { name: "Customers" }).waitFor()
  expect(await page.getByText("This chart shows an earlier result").count()).toBe(0)
  await page.getByText("SQL", { exact: true }).first().click()
  await page.getByRole("button", { name: "Edit and run" }).click()
  await page.getByRole("textbox", { name: "SQL" }).fill("SELECT town FROM customer")
  await page.keyboard.press("Control+Enter")
  await page.getByText("This chart shows an earlier result").waitFor()
  await page.getByRole("button", { name: "Back to the assistant’s result" }).click()
  await page.getByText("This chart shows an earlier result").waitFor({ state: "detached" })
  expect(faults).toEqual([])
})

test("axe finds no serious fault in tables, SQL, uploads and the database menu, in light and dark mode", async () => {
  const model = scripted(calls(["show", { n: 1 }], ["show", { n: 2 }]), says("Drawn."))
  const { ada, page } = await visit.begin(model)
  await go(page, `/c/${await drawn(ada)}`)
  // Each check takes seconds: one of them by the seed, all in the long run.
  const chosen = oneIn(4, ["results", "editor", "choice", "uploads"])
  const look = async (what: string) =>
    chosen.includes(what) && expect(await seriousFaultsInBothColours(page, what)).toEqual([])
  await say(page, "draw")
  await page.getByText("Drawn.").waitFor()
  await page.getByRole("table").getByRole("button", { name: /name/ }).click()
  await page.getByText("SQL", { exact: true }).first().click()
  await page.locator(".hljs-keyword").first().waitFor()
  await look("results")
  await page.getByRole("button", { name: "Edit and run" }).click()
  await page.getByRole("textbox", { name: "SQL" }).fill("DROP TABLE customer")
  await page.keyboard.press("Control+Enter")
  await page.getByRole("alert").waitFor()
  await look("editor")
  await page.getByRole("button", { name: "Database: Shop" }).click()
  await page.getByRole("menuitemradio", { name: /^Shop/ }).waitFor()
  await look("choice")
  await go(page, "/settings/connections")
  const csv = Buffer.from("town;people\nLisbon;545923\nPorto;\n")
  await page.getByLabel("CSV file").setInputFiles({ name: "towns.csv", mimeType: "text/csv", buffer: csv })
  await page.getByText("2 rows, 2 columns").waitFor()
  await page.getByRole("button", { name: "Tables" }).click()
  await page.getByRole("group", { name: "Tables and columns" }).waitFor()
  await look("uploads")
  await page.setViewportSize({ width: 390, height: 844 })
  const widths = "[document.documentElement.scrollWidth, document.querySelector('#main').scrollWidth]"
  await expect.poll(async () => Math.max(...((await page.evaluate(widths)) as number[]))).toBe(390)
})
