import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { expect, inject, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { ServerPorts } from "../../core/server/app.ts"
import { openPageFiles } from "../../core/server/routes/page.ts"
import { databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

const HTML = `<!doctype html><script type="module" src="./assets/main-abc.js"></script>`
const SCRIPT = "console.log(1)"

async function build(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), inject("testRun"), "page-"))
  await mkdir(join(folder, "assets"))
  await writeFile(join(folder, "index.html"), HTML)
  await writeFile(join(folder, ".sources"), "a mark of the build, which nobody is to be sent")
  await writeFile(join(folder, "assets", "main-abc.js"), SCRIPT)
  await writeFile(join(folder, "assets", "main-abc.js.gz"), gzipSync(SCRIPT))
  return folder
}

async function open(page: ServerPorts["page"], publicUrl?: string): Promise<Face> {
  const { url } = await databases[0]!.create()
  const address = publicUrl ? { publicUrl } : {}
  return Face.open({ url, model: scripted(always(says("ok"))), address, instead: { page } })
}

const get = (face: Face, path: string, headers: Record<string, string> = {}) =>
  face.fetch(new Request(`http://localhost${path}`, { headers }))

const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }

test("the page is sent for `/` and for every address in it, under a policy that runs no external code", async () => {
  await using face = await open(openPageFiles(await build()))
  for (const path of ["/", "/c/conv_1", "/settings/models"]) {
    const response = await get(face, path, BROWSER)
    expect([response.status, await response.text()]).toEqual([200, HTML.replace("./", "/")])
    const policy = response.headers.get("content-security-policy")?.split("; ") ?? []
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy.join()).not.toMatch(/unsafe|https?:|\*|data:/)
    expect(response.headers.get("cache-control")).toBe("no-cache")
  }
})

test("a request that does not open a page, and every path below /api, is refused as before", async () => {
  await using face = await open(openPageFiles(await build()))
  const refused: [string, Record<string, string>, number][] = [
    ["/nowhere", { accept: "application/json" }, 404],
    ["/nowhere", {}, 404],
    ["/assets/other.js", BROWSER, 404],
    ["/assets/..%2findex.html", BROWSER, 404],
    ["/assets/..%2f.sources", BROWSER, 404],
    ["/.sources", {}, 404],
    ["/api/nowhere", BROWSER, 401],
  ]
  for (const [path, headers, status] of refused) {
    const response = await get(face, path, headers)
    expect([path, response.status, response.headers.get("content-type")]).toEqual([
      path,
      status,
      "application/problem+json",
    ])
  }
  const posted = await face.fetch(new Request("http://localhost/c/conv_1", { method: "POST", headers: BROWSER }))
  expect(posted.status).toBe(404)
})

test("files with a hash in their name are cached without limit, and compressed if the client accepts it", async () => {
  await using face = await open(openPageFiles(await build()))
  const plain = await get(face, "/assets/main-abc.js")
  expect([await plain.text(), plain.headers.get("cache-control")]).toEqual([
    SCRIPT,
    "public, max-age=31536000, immutable",
  ])
  const packed = await get(face, "/assets/main-abc.js", { "accept-encoding": "br;q=1, gzip" })
  expect(packed.headers.get("content-encoding")).toBe("gzip")
  expect(gunzipSync(await packed.arrayBuffer()).toString()).toBe(SCRIPT)
  const etag = plain.headers.get("etag") ?? ""
  expect((await get(face, "/assets/main-abc.js", { "if-none-match": etag })).status).toBe(304)
})

test("a loaded page stays on one version, whatever is built or installed meanwhile", async () => {
  const folder = await build()
  await using face = await open(openPageFiles(folder))
  expect(await (await get(face, "/", BROWSER)).text()).toContain("main-abc.js")
  await rm(folder, { recursive: true })
  expect(await (await get(face, "/assets/main-abc.js")).text()).toBe(SCRIPT)
  expect(await (await get(face, "/c/conv_1", BROWSER)).text()).toContain("main-abc.js")
})

test("a page that is being built at the first request is read again until it is complete", async () => {
  const folder = await build()
  await using face = await open(openPageFiles(folder))
  await rm(join(folder, "assets", "main-abc.js"))
  expect(await (await get(face, "/", BROWSER)).text()).toContain("npm run page")
  await writeFile(join(folder, "assets", "main-abc.js"), SCRIPT)
  expect(await (await get(face, "/", BROWSER)).text()).toContain("main-abc.js")
})

test("below a proxy's path the page names its files with that path", async () => {
  await using face = await open(openPageFiles(await build()), "https://localhost/app/")
  expect(await (await get(face, "/c/conv_1", BROWSER)).text()).toContain('src="/app/assets/main-abc.js"')
})

test("a server without a built page reports that, and how to build it", async () => {
  expect(openPageFiles(join(tmpdir(), inject("testRun"), "nothing-here"))).toBeUndefined()
  await using face = await open(undefined)
  const response = await get(face, "/", BROWSER)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain("npm run page")
})
