import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { expect, inject, test } from "vitest"
import { scripted } from "../../../core/models/scripted/model.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { go } from "../browser/talk.ts"

const EVIL = "http://evil.example"
const HIDDEN = "x\u202Efdp.exe\u200B"
const POISON = `<img src="${EVIL}/a.png" onerror=alert(1)>`

const folder = () => {
  const root = mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))
  mkdirSync(join(root, "shared"))
  return root
}

const visit = oneVisit({ sqliteRoot: folder() })

const file = (name: string, text: string) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) })

const upload = (page: Page) => page.getByRole("region", { name: "Upload a file" })

/** Drops a file on the page, as from a folder. */
const drop = async (page: Page, name: string, text: string) => {
  await upload(page).waitFor()
  await page.evaluate(
    `(() => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}, { type: "text/csv" }))
      const zone = document.querySelector("input[type=file]").parentElement
      for (const type of ["dragover", "drop"]) zone.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }))
    })()`,
  )
}

test("a dropped file is previewed, named and imported as a database; nothing is stored before that", async () => {
  const { ada, page, faults } = await visit.begin(scripted())
  await go(page, "/settings/connections")
  await page.getByText("No databases yet.").waitFor()
  const csv = `town;people;area;founded\nLisbon;545923;100.05;1147-10-25\nPorto;231800;41.42;\n${"Faro;60995;202.57;1540-01-01\n".repeat(30)}`
  await drop(page, "towns of today.csv", csv)
  await page.getByText("towns of today.csv: 32 rows, 4 columns, separated by semicolons").waitFor()
  const table = page.getByRole("table")
  const heads = () => table.getByRole("columnheader").allInnerTexts()
  await expect
    .poll(async () => (await heads()).map((head) => head.split("\n")[0]))
    .toEqual(["town", "people", "area", "founded"])
  expect((await heads()).join()).toMatch(/integer/i)
  await table.getByRole("cell", { name: "545,923" }).waitFor()
  await page.getByText("First 20 rows").waitFor()
  expect(await upload(page).getByLabel("Name", { exact: true }).inputValue()).toBe("towns of today")
  await page.getByRole("button", { name: "Cancel" }).click()
  expect((await ada.get("/api/connections")).body.items).toEqual([])

  await page.getByLabel("CSV file").setInputFiles(file("towns.csv", csv))
  await upload(page).getByLabel("Name", { exact: true }).fill("Towns")
  await page.getByRole("button", { name: "Create database" }).click()
  const entry = page.getByRole("listitem").filter({ hasText: "Towns" })
  await entry.getByText(/Connected \(\d+ ms\)/).waitFor()
  await entry.getByRole("button", { name: "Tables" }).click()
  await page.getByRole("group", { name: "Tables and columns" }).getByText("founded").first().waitFor()
  expect(await page.getByRole("group", { name: "Tables and columns" }).locator(".prose").getAttribute("dir")).toBe(
    "ltr",
  )
  expect((await ada.get("/api/connections")).body.items).toMatchObject([{ name: "Towns", kind: "sqlite" }])

  // A file that is not CSV is refused with a message.
  await page.getByLabel("CSV file").setInputFiles({ ...file("x.csv", ""), buffer: Buffer.from([0, 1, 2, 255, 254, 0]) })
  await page.getByText(/The file was not accepted/).waitFor()
  await entry.getByRole("button", { name: "Remove" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
  await page.getByText("No databases yet.").waitFor()
  expect(faults.filter((fault) => !fault.includes("400"))).toEqual([])
})

test("ambiguous values in a file are asked about, and previewed as chosen before the database is created", async () => {
  const { ada, page, faults } = await visit.begin(scripted())
  await go(page, "/settings/connections")
  await drop(page, "sales.csv", "day;amount\n03/04/2025;1.234\n05/06/2025;2.500\n")
  await upload(page)
    .getByText(/amount: “1\.234” .* stays text/)
    .waitFor()
  await page.getByLabel("Decimal separator").selectOption("comma")
  await page.getByRole("cell", { name: "1,234" }).waitFor()
  await page.getByLabel("Dates such as 03/04/2025").selectOption("day-first")
  await page.getByRole("cell", { name: "2025-04-03" }).waitFor()
  expect(await page.getByText(/stays text/).count()).toBe(0)
  await page.getByRole("button", { name: "Create database" }).click()
  await page.getByText(/Connected \(\d+ ms\)/).waitFor()
  const [{ id }] = (await ada.get("/api/connections")).body.items
  const answered = await ada.post(`/api/connections/${id}/query`, { sql: "SELECT sum(amount), max(day) FROM sales" })
  expect(answered.body.rows).toEqual([[3734, "2025-06-05"]])
  expect(faults).toEqual([])
})

test("the name, headings and cells of a file cannot run scripts, and hidden characters are drawn", async () => {
  const { page, faults } = await visit.begin(scripted())
  await go(page, "/settings/connections")
  const long = `${HIDDEN} ${POISON} ${"and on ".repeat(30)}`
  const csv = `"${POISON.replaceAll('"', '""')}","${HIDDEN}"\n"${long.replaceAll('"', '""')}","=HYPERLINK(""${EVIL}"")"\n`
  await drop(page, `${HIDDEN}.csv`, csv)
  await page.getByText(/1 row, 2 columns/).waitFor()
  await expect.poll(() => page.locator("#main").innerText()).toContain("U+202E")
  await page.getByRole("button", { name: "Show full value" }).click()
  expect(await page.getByRole("dialog").innerText()).toContain("U+200B")
  await page.keyboard.press("Escape")
  await page.getByRole("button", { name: "Create database" }).click()
  await page.getByText(/Connected/).waitFor()
  await page.getByRole("button", { name: "Tables" }).click()
  await page.getByRole("group", { name: "Tables and columns" }).waitFor()
  const made = await page.evaluate(
    "[...document.querySelectorAll('#page :is(script, iframe, object, embed, img, style, link, base, meta, form[action])')].map((each) => each.outerHTML)",
  )
  expect(made).toEqual([])
  const raw = await page.evaluate(`[
    document.querySelector("#page").innerText,
    ...[...document.querySelectorAll("#page [aria-label], #page [title]")].flatMap((each) => [each.ariaLabel, each.title]),
  ].filter((each) => /[\\u202E\\u200B]/.test(each ?? ""))`)
  expect(raw).toEqual([])
  expect(faults).toEqual([])
})
