import { readFile } from "node:fs/promises"
import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../../core/engine/definition/tool.ts"
import type { Model } from "../../../core/engine/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { seriousFaultsInTurn } from "../browser/serious-faults.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { go, say } from "../browser/talk.ts"

const rows = [
  { country: "Chile", total: 28 },
  { country: "Peru", total: 55 },
  { country: "Brazil", total: 91 },
]
const spec = {
  title: "Sales by country",
  mark: "bar",
  encoding: { x: { field: "country", type: "nominal" }, y: { field: "total", type: "quantitative" } },
  data: { values: rows },
}
const SQL = "SELECT country, sum(total) AS total FROM invoices GROUP BY country"

/** The results of the tool, one per call. */
const answers: unknown[] = []
const show = defineTool({
  name: "ask_analyst",
  description: "For tests.",
  input: z.looseObject({}),
  effect: "read",
  afterCrash: "run-again",
  run: () => answer("Here it is.", { data: answers.shift() }),
})
const visit = oneVisit({ tools: [show] })

/** Opens a conversation in which these results are drawn. */
async function begin(model: Model, ...data: readonly unknown[]) {
  answers.splice(0, answers.length, ...data)
  const { ada, page, faults } = await visit.begin(model)
  await go(page, `/c/${await ada.begin({ agent: "test" })}`)
  return { page, faults }
}

const chart = (changes: object = {}) => ({
  kind: "chart",
  type: "vega_lite_spec",
  spec,
  sql: SQL,
  resultId: "res_1",
  connectionId: "conn_1",
  resultHash: "h",
  ...changes,
})

const inFrame = (page: Page) => page.frameLocator("iframe[title^='Chart']")

test("a chart is drawn in a frame without an origin, and available as SQL, table and files", async () => {
  const model = scripted(...["First.", "Second.", "Third."].flatMap((words) => [calls("ask_analyst", {}), says(words)]))
  const other = { ...chart(), kind: "table", resultId: "res_2", sql: "SELECT 1", columns: ["a"], rows: [[1]] }
  const again = { ...other, resultId: "res_3", sql: SQL, resultHash: "other rows" }
  const { page, faults } = await begin(model, chart(), other, again)
  await say(page, "Draw it")
  const bars = inFrame(page).locator("[aria-roledescription=bar]")
  await bars.nth(2).waitFor()
  expect(await bars.first().getAttribute("aria-label")).toContain("Chile")
  const figure = page.getByRole("figure", { name: "Sales by country" })
  await figure.getByText("SQL", { exact: true }).click()
  await expect.poll(() => figure.innerText()).toContain("GROUP BY country")

  const frame = page.frames().find((each) => each.url().endsWith("/chart-frame"))
  const wall = await frame?.evaluate(`(async () => {
    const reach = (read) => { try { return String(read()) } catch (error) { return error.name } }
    return {
      origin: self.origin,
      page: reach(() => parent.document.cookie),
      cookies: reach(() => document.cookie),
      storage: reach(() => localStorage.length),
      fetched: await fetch("/api/models").then(() => "fetched", (error) => error.name),
      opened: reach(() => open("about:blank")),
      // In a timeout, because the policy does not apply to code that the debugger runs.
      evaluated: await new Promise((resolve) => setTimeout(() => resolve(reach(() => new Function("return 1")())))),
    }
  })()`)
  expect(wall).toEqual({
    origin: "null",
    page: "SecurityError",
    cookies: "SecurityError",
    storage: "SecurityError",
    fetched: "TypeError",
    opened: "null",
    evaluated: "EvalError",
  })

  const save = async (name: string) => {
    const [download] = await Promise.all([page.waitForEvent("download"), figure.getByRole("button", { name }).click()])
    return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) }
  }
  const png = await save("Save as PNG")
  expect([png.name, png.bytes.subarray(1, 4).toString(), png.bytes.length > 2000]).toEqual([
    "Sales-by-country.png",
    "PNG",
    true,
  ])
  const svg = await save("Save as SVG")
  expect([svg.name, svg.bytes.toString().slice(0, 4)]).toEqual(["Sales-by-country.svg", "<svg"])

  await figure.getByRole("button", { name: "Table" }).click()
  await figure.getByText("3 rows", { exact: true }).waitFor()
  await page.route(/conn_1\/results\/res_1\.csv$/, (route) =>
    route.fulfill({ contentType: "text/csv", body: "country\n" }),
  )
  const csv = await save("CSV")
  expect([csv.name, csv.bytes.toString()]).toEqual(["res_1.csv", "country\n"])
  const cells = async () => (await figure.getByRole("row").allInnerTexts()).map((row) => row.split(/\s+/))
  await expect.poll(cells).toEqual([
    ["country", "total"],
    ["Chile", "28"],
    ["Peru", "55"],
    ["Brazil", "91"],
  ])
  await figure.getByRole("button", { name: "Chart" }).click()
  await bars.nth(2).waitFor()

  // Another question does not make it outdated; the same one with another answer does.
  const outdated = page.getByText("This chart shows an earlier result")
  await say(page, "And something else")
  await page.getByText("Second.").waitFor()
  expect(await outdated.count()).toBe(0)
  await say(page, "And the same again")
  await page.getByText("Third.").waitFor()
  await outdated.waitFor()
  expect(
    faults.filter((fault) => !/sandbox|Content Security Policy|Blocked opening|allow-popups/i.test(fault)),
  ).toEqual([])
})

test("a chart that is invalid, too slow or blank is shown as a table, with the reason", async () => {
  const filtered = (filter: string) => chart({ spec: { ...spec, transform: [{ filter }] } })
  const broken = [
    chart({ spec: { ...spec, data: { url: "/api/tokens" } } }),
    filtered("datum.total > 1000"),
    filtered("test(/^(a+)+$/, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')"),
    { kind: "chart", spec: "no object", sql: "", resultId: "" },
  ]
  const model = scripted(...broken.flatMap((_, at) => [calls("ask_analyst", {}), says(`Answer ${at}.`)]))
  const { page, faults } = await begin(model, ...broken)
  const reasons = ["it fetches its data, and nothing is fetched", "it would contain no data", "drawing took too long"]
  for (const [at, reason] of reasons.entries()) {
    await say(page, `Draw ${at}`)
    await page.getByText(`because the chart could not be drawn: ${reason}.`).waitFor()
    await page.getByText(`Answer ${at}.`).waitFor()
  }
  await say(page, "Draw 3")
  await page.getByText("Answer 3.").waitFor()
  const rows = page.getByRole("figure", { name: "Sales by country" }).nth(1).getByRole("row")
  await expect.poll(() => rows.count()).toBe(4)
  expect(faults).toEqual([])
})

test("on a phone in dark mode a chart fits, and axe finds no serious fault", async () => {
  const { page, faults } = await begin(scripted(calls("ask_analyst", {}), says("Done.")), chart())
  await page.setViewportSize({ width: 390, height: 844 })
  await page.emulateMedia({ colorScheme: "dark" })
  await say(page, "Draw it")
  const bars = inFrame(page).locator("[aria-roledescription=bar]")
  await bars.nth(2).waitFor()
  await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBe(390)
  const svg = inFrame(page).locator("svg")
  expect((await svg.boundingBox())?.width).toBeLessThanOrEqual(390)
  const frame = page.frames().find((each) => each.url().endsWith("/chart-frame"))
  expect(await frame?.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(31, 33, 32)")
  await page.getByText("Done.").waitFor()
  expect(await seriousFaultsInTurn(page)).toEqual([])
  expect(faults).toEqual([])
})
