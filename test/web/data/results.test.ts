import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { expect, inject, test } from "vitest"
import { offlineModel } from "../../../labs/offline-model/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { makeShop } from "../../analyst/shop.ts"
import { seriousFaultsInTurn } from "../browser/serious-faults.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { go, reopen, say } from "../browser/talk.ts"

const folder = () => {
  const root = mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))
  mkdirSync(join(root, "shared"))
  makeShop(join(root, "shared", "shop.db"))
  return root
}

const inFrame = (page: Page) => page.frameLocator("iframe[title^='Chart'], iframe[title^='Diagramm']")
const offline = offlineModel()

const visit = oneVisit({ sqliteRoot: folder() })

/** A conversation whose model answers each question with the next of these statements. */
async function asking(...statements: readonly string[]) {
  const model = scripted(
    ...statements.flatMap((sql) => [
      calls("ask_database", { query: "q" }),
      says(`\`\`\`sql\n${sql}\n\`\`\``),
      says("Done."),
    ]),
  )
  const { ada, ...opened } = await visit.begin(model)
  const { body } = await ada.post("/api/connections", { name: "Shop", kind: "sqlite", path: "shared/shop.db" })
  const path = `/c/${await ada.begin({ agent: "analyst", connectionId: body.id })}`
  await go(opened.page, path)
  return { ...opened, path }
}

const values = (...rows: readonly string[]) => `WITH t (name, amount) AS (VALUES ${rows.join(", ")}) SELECT * FROM t`

// The example question of README.
test("revenue by month is drawn automatically, with one table, and its SQL on several lines", async () => {
  const { ada, page, faults } = await visit.begin(offline)
  const shop = (await ada.post("/api/connections/sample", {})).body.id
  await go(page, `/c/${await ada.begin({ agent: "analyst", connectionId: shop })}`)
  await say(page, "revenue by month in 2025")
  await inFrame(page).locator("[aria-roledescription=point]").nth(11).waitFor()
  await page.getByText(/^12 rows\. The highest revenue is 10003\.3 \(2025-09\)/).waitFor()
  expect(await page.getByRole("table").count()).toBe(0)
  const label = await inFrame(page).locator("[aria-roledescription=point]").nth(8).getAttribute("aria-label")
  expect(label).toContain("10,003.3")
  await page.getByRole("button", { name: "Table", exact: true }).click()
  expect(await page.getByRole("table").count()).toBe(1)
  expect(await page.getByRole("cell", { name: "10,003.3" }).count()).toBe(1)
  await page.getByText("SQL", { exact: true }).click()
  const lines = (await page.getByRole("group", { name: "SQL" }).locator("code").innerText()).trim().split("\n")
  expect(lines.map((line) => line.trim().split(" ")[0])).toEqual([
    ...["SELECT", "round(sum(line.quantity", "FROM", "JOIN", "WHERE", "GROUP", "ORDER"],
  ])
  expect(await seriousFaultsInTurn(page)).toEqual([])
  expect(faults).toEqual([])
})

test("the editor stays in place when its SQL runs, whatever the result, and a result is one card", async () => {
  const { page, faults } = await asking("SELECT name FROM customer")
  await say(page, "names")
  await page.getByText("Done.").waitFor()
  await page.getByText("SQL", { exact: true }).click()
  await page.getByRole("button", { name: "Edit and run" }).click()
  const editor = page.getByRole("textbox", { name: "SQL" })
  const many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n"
  for (const sql of [many, values("('a', 1)", "('b', 2)"), "SELECT 1 AS one"]) {
    await editor.fill(sql)
    const before = await editor.boundingBox()
    await editor.press("Control+Enter")
    await page.getByText(sql === many ? "500 rows" : sql.startsWith("SELECT") ? "1 row" : "2 rows").waitFor()
    if (sql.includes("VALUES")) await inFrame(page).locator("[aria-roledescription=bar]").nth(1).waitFor()
    expect(await page.evaluate("document.activeElement.tagName")).toBe("TEXTAREA")
    const after = await editor.boundingBox()
    expect(after?.y, sql).toBeGreaterThan(40)
    expect((after?.y ?? 0) + (after?.height ?? 0), sql).toBeLessThan(720)
    // The notice that it is the person's own SQL appears above it, once.
    expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0)), sql).toBeLessThan(120)
  }
  expect(await page.locator("figure figure, figure .code-block.border").count()).toBe(0)
  expect(faults).toEqual([])
})

test("numbers are grouped in the reader's locale, in tables and charts, and years are not", async () => {
  const { site, path } = await asking(
    "SELECT 2024 AS year, 1234567.5 AS amount, 1234 AS customer_id UNION ALL SELECT 2025, 0.5, 99999",
    values("('Berlin', 12345.5)", "('Hamburg', 54321)"),
  )
  const { page, faults } = await site.visit({ locale: "de-DE" }, path)
  // The page uses the language of the browser.
  const ask = async (text: string) => {
    await page.getByRole("textbox", { name: "Nachricht" }).fill(text)
    await page.keyboard.press("Enter")
  }
  await ask("years")
  await page.getByRole("cell", { name: "1.234.567,5", exact: true }).waitFor()
  for (const name of ["2024", "99999", "0,5"]) await page.getByRole("cell", { name, exact: true }).waitFor()
  await ask("towns")
  const bars = inFrame(page).locator("[aria-roledescription=bar]")
  await bars.nth(1).waitFor()
  expect(await bars.first().getAttribute("aria-label")).toContain("12.345,5")
  await inFrame(page).locator(".role-axis-label text", { hasText: "40.000" }).waitFor()
  expect(faults).toEqual([])
})

test("labels below bars are horizontal if they fit, and slanted otherwise", async () => {
  const long = Array.from({ length: 8 }, (_, at) => `('Some name ${at}', ${at + 1})`)
  const { page, faults } = await asking(values("('Machines', 5)", "('Cups', 3)", "('Tea', 2)"), values(...long))
  const angles = () =>
    inFrame(page)
      .locator(".role-axis-label text", { hasText: /[a-z]/ })
      .evaluateAll((all) => [
        ...new Set(all.map((each) => /rotate\(([^)]+)\)/.exec(each.getAttribute("transform") ?? "")?.[1] ?? "0")),
      ])
  await say(page, "few")
  await inFrame(page).locator("[aria-roledescription=bar]").nth(2).waitFor()
  expect(await angles()).toEqual(["0"])
  await page.setViewportSize({ width: 390, height: 800 })
  await say(page, "many")
  await page.getByText("8 rows").waitFor()
  const last = page.frameLocator("iframe[title^='Chart']").last()
  await last.locator("[aria-roledescription=bar]").nth(7).waitFor()
  const turned = await last.locator(".role-axis-label text", { hasText: "Some" }).first().getAttribute("transform")
  expect(turned).toContain("rotate(-40)")
  expect(faults).toEqual([])
})

test("a pie shows the value and the share of each slice that is large enough", async () => {
  const { page, faults } = await asking(values("('a', 6000)", "('b', 3950)", "('c', 50)"))
  await say(page, "pie")
  await inFrame(page).locator("[aria-roledescription=bar]").nth(2).waitFor()
  // As a model would write it.
  const frame = page.frames().find((each) => each.url().endsWith("/chart-frame"))
  await page.evaluate(`(() => {
    const frame = document.querySelector("iframe[title^='Chart']")
    const rows = [{ name: "a", amount: 6000 }, { name: "b", amount: 3950 }, { name: "c", amount: 50 }]
    const encoding = { theta: { field: "amount", type: "quantitative" }, color: { field: "name", type: "nominal" } }
    const spec = { mark: "arc", encoding, data: { values: rows } }
    frame.contentWindow.postMessage({ type: "draw", nonce: "12345678", spec, dark: false, width: 600 }, "*")
  })()`)
  await frame?.waitForSelector("[aria-roledescription='arc mark']")
  await inFrame(page).getByText("6,000 (60%)").waitFor()
  await inFrame(page).getByText("3,950 (40%)").waitFor()
  expect(await inFrame(page).getByText("50 (1%)").count()).toBe(0)
  expect(faults).toEqual([])
})

test("in the dark nothing white is seen before a chart is there", async () => {
  const { page, context, faults } = await asking(values("('a', 1)", "('b', 2)"))
  await page.emulateMedia({ colorScheme: "dark" })
  // A frame whose document has come, and in which nothing is drawn yet.
  const empty = { contentType: "text/html", body: "<!doctype html><title>Chart</title>" }
  await page.route("**/chart-frame", (route) => route.fulfill(empty))
  await say(page, "go")
  await page.getByText("Done.").waitFor()
  const frame = page.locator("iframe[title^='Chart']")
  await frame.waitFor({ state: "attached" })
  const brightest = async () => {
    const box = (await frame.boundingBox())!
    const bytes = (await page.screenshot({ clip: box })).toString("base64")
    const other = await context.newPage()
    const most = await other.evaluate(`(async () => {
      const bytes = Uint8Array.from(atob("${bytes}"), (letter) => letter.charCodeAt(0))
      const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }))
      const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d")
      canvas.drawImage(image, 0, 0)
      const { data } = canvas.getImageData(0, 0, image.width, image.height)
      let white = 0
      for (let at = 0; at < data.length; at += 4) if (data[at] > 240 && data[at + 1] > 240 && data[at + 2] > 240) white++
      return white / (data.length / 4)
    })()`)
    await other.close()
    return most as number
  }
  expect(await brightest()).toBeLessThan(0.01)
  await page.unroute("**/chart-frame")
  await reopen(page)
  await inFrame(page).locator("[aria-roledescription=bar]").nth(1).waitFor()
  expect(await brightest()).toBeLessThan(0.05)
  expect(faults).toEqual([])
})
