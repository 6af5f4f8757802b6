import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { buildDocs } from "../../scripts/build-docs.ts"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { openPageFiles } from "../../core/server/routes/page.ts"
import { Site } from "./browser/site.ts"
import { seriousFaults } from "./browser/serious-faults.ts"

test("documentation search finds words, and a result opens at its heading", async () => {
  const folder = join(await mkdtemp(join(tmpdir(), inject("testRun"), "docs-")), "site")
  await buildDocs({ folder })
  await using site = await Site.open({ model: scripted(always(says("ok"))), instead: { docs: openPageFiles(folder) } })
  const { page, faults } = await site.visit()
  await page.goto(`${site.url}/docs/reference/settings.html`)
  await page.keyboard.press("/")
  await page.keyboard.type("PAWL_PORT")
  const found = page.locator("#results a")
  await found.first().waitFor()
  const address = await found.first().getAttribute("href")
  expect(await seriousFaults(page)).toEqual([])
  await page.keyboard.press("Enter")
  await page.waitForURL((url) => url.href === new URL(address!, `${site.url}/docs/reference/`).href)
  expect(await page.locator("main").innerText()).toContain("PAWL_PORT")
  await page.goto(`${site.url}/docs/reference/settings.html`)
  await page.getByRole("searchbox").fill("zzzzzz")
  await page.getByText("Nothing found.").waitFor()
  expect(faults).toEqual([])
})
