import { readFileSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { buildDocs } from "../../scripts/build-docs.ts"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { openPageFiles } from "../../core/server/routes/page.ts"
import { databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

/** The documentation of this checkout, built once. */
let built: Promise<string> | undefined
const build = () =>
  (built ??= (async () => {
    const folder = join(await mkdtemp(join(tmpdir(), inject("testRun"), "docs-")), "site")
    await buildDocs({ folder })
    return folder
  })())

const open = async (folder: string) => {
  const { url } = await databases[0]!.create()
  return Face.open({ url, model: scripted(always(says("ok"))), instead: { docs: openPageFiles(folder) } })
}

const get = (face: Face, path: string) => face.fetch(new Request(`http://localhost${path}`, { redirect: "manual" }))

test("the documentation is served below /docs, under a policy that runs only its own script", async () => {
  await using face = await open(await build())
  expect((await get(face, "/docs")).headers.get("location")).toBe("docs/")
  for (const path of ["/docs/reference/settings.html", "/docs/reference/settings"]) {
    const response = await get(face, path)
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("PAWL_PORT")])
    expect(response.headers.get("content-security-policy")).toContain("script-src 'self'")
  }
  expect((await get(face, "/docs/reference/settings.md")).headers.get("content-type")).toContain("text/markdown")
})

test("an unknown page is reported, and nothing outside the documentation is sent", async () => {
  await using face = await open(await build())
  for (const path of ["/docs/nothing", "/docs/.sources", "/docs/..%2f..%2fpackage.json"]) {
    const response = await get(face, path)
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("begins at /docs")])
  }
})

test("llms.txt lists every page of the guide as Markdown that is served", async () => {
  await using face = await open(await build())
  expect((await get(face, "/llms.txt")).headers.get("location")).toBe("docs/llms.txt")
  const text = await (await get(face, "/docs/llms.txt")).text()
  const pages = [...text.matchAll(/\((guide\/[^)]+\.md)\)/g)].map(([, page]) => page!)
  expect(pages.length).toBeGreaterThan(5)
  for (const page of pages)
    expect((await get(face, new URL(page, "http://localhost/docs/llms.txt").pathname)).status).toBe(200)
})

test("without a built documentation /docs leads to the reference of the API", async () => {
  await using face = await open(join(tmpdir(), inject("testRun"), "not-built"))
  expect((await get(face, "/docs")).headers.get("location")).toBe("docs/api")
  expect(await (await get(face, "/docs/api")).text()).toContain("/api/conversations")
})

test("the files that a folder is exported to are the ones that are served", async () => {
  const folder = await build()
  const html = readFileSync(join(folder, "guide", "page.html"), "utf8")
  expect(html).toContain('href="../site.css"')
  expect(html).not.toMatch(/(src|href)="(https?:)?\/\/(?!github\.com)[^"]*\.(js|css)"/)
})
