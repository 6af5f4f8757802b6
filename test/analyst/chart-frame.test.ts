import { createHash } from "node:crypto"
import { expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { etagOf, type PageFile } from "../../core/server/routes/page.ts"
import { databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

const SCRIPT = "say(1)"
const HTML = `<!doctype html><script type="text/plain" id="worker">draw()</script><script>${SCRIPT}</script>`

function file(text: string): PageFile {
  const body = new TextEncoder().encode(text)
  return { body, type: "text/html; charset=utf-8", etag: etagOf(body), packed: {} }
}

test("the document for charts runs its own script and nothing else, has no origin, and only the page may frame it", async () => {
  const page = new Map([
    ["index.html", file("<p>page</p>")],
    ["chart-frame.html", file(HTML)],
  ])
  const { url } = await databases[0]!.create()
  await using face = await Face.open({ url, model: scripted(always(says("ok"))), instead: { page } })
  const response = await face.fetch(new Request("http://localhost/chart-frame"))
  expect([response.status, await response.text()]).toEqual([200, HTML])
  expect(response.headers.get("content-security-policy")?.split("; ")).toEqual([
    "default-src 'none'",
    `script-src 'sha256-${createHash("sha256").update(SCRIPT).digest("base64")}'`,
    "worker-src blob:",
    "img-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "sandbox allow-scripts",
  ])
  expect(response.headers.get("x-frame-options")).toBe("SAMEORIGIN")
  const home = await face.fetch(new Request("http://localhost/"))
  expect(home.headers.get("x-frame-options")).toBe("DENY")
  expect(home.headers.get("content-security-policy")).toContain("frame-src 'self'")
})

test("without a built page there is no document for charts", async () => {
  const { url } = await databases[0]!.create()
  await using face = await Face.open({ url, model: scripted(always(says("ok"))) })
  expect((await face.fetch(new Request("http://localhost/chart-frame"))).status).toBe(404)
})
