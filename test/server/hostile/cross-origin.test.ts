import { beforeAll, describe, expect, test } from "vitest"
import { says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Browser, codeOf } from "../../support/server/browser.ts"
import { Face, Visitor } from "../../support/server/face.ts"

const APP = "https://app.example"
const ALLOW = "access-control-allow-origin"

describe("a page of another origin", () => {
  let face: Face
  let ada: Visitor
  let nobody: Visitor
  beforeAll(async () => {
    const { url } = await anyDatabase[0]!.create()
    const address = { allowedOrigins: [APP, "https://second.example"] }
    face = await Face.open({ url, model: scripted(always(says("ok"))), address })
    ada = await face.as("ada")
    nobody = new Visitor((request) => face.fetch(request), undefined)
    return () => face[Symbol.asyncDispose]()
  })
  const preflight = (path: string, origin: string, asked = "authorization,content-type") =>
    nobody.ask("OPTIONS", path, {
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": asked },
    })

  test.each([
    ...[
      "/api/conversations",
      "/api/feed",
      "/v1/chat/completions",
      "/v1/responses",
      "/ai-sdk/chat",
      "/ag-ui/test",
      "/mcp",
    ],
    ...["/.well-known/oauth-protected-resource", "/oauth/token"],
  ])("that is listed may ask %s with a token, and its browser gets permission without one", async (path) => {
    const { status, headers } = await preflight(path, APP)
    expect([status, headers.get(ALLOW)]).toEqual([204, APP])
    expect(headers.get("access-control-allow-headers")).toMatch(/\bauthorization\b.*\bcontent-type\b/)
    expect(headers.get("access-control-allow-methods")).toContain("POST")
    expect(headers.get("vary")).toMatch(/\bOrigin\b/)
    expect(headers.has("access-control-allow-credentials")).toBe(false)
  })

  test("that is listed can read answers, refusals too, and the headers that clients use", async () => {
    const read = await ada.get("/api/conversations", { origin: APP })
    expect([read.status, read.headers.get(ALLOW)]).toEqual([200, APP])
    const shown = read.headers.get("access-control-expose-headers")
    for (const name of ["mcp-session-id", "retry-after", "x-pawl-conversation", "www-authenticate"])
      expect(shown).toContain(name)
    expect(read.headers.has("access-control-allow-credentials")).toBe(false)
    const refused = await nobody.get("/api/conversations", { origin: APP })
    expect([refused.status, refused.headers.get(ALLOW)]).toEqual([401, APP])
    const missing = await ada.get("/v1/nothing", { origin: APP })
    expect([missing.status, missing.headers.get(ALLOW)]).toEqual([404, APP])
    const id = await ada.begin()
    const said = await ada.post(`/api/conversations/${id}/messages`, { text: "Hello" }, { origin: APP })
    expect([said.status < 300, said.headers.get(ALLOW)]).toEqual([true, APP])
    expect((await ada.get("/api/models", { origin: "https://second.example" })).headers.get(ALLOW)).toBe(
      "https://second.example",
    )
  })

  test("that is not listed gets no CORS header, whatever its name", async () => {
    for (const origin of [
      "https://evil.example",
      "null",
      "https://app.example.evil.example",
      "http://app.example",
      "*",
    ]) {
      const asked = await preflight("/api/conversations", origin)
      const read = await ada.get("/api/conversations", { origin })
      for (const { headers } of [asked, read])
        expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([])
      expect(read.headers.get("vary")).toMatch(/\bOrigin\b/)
    }
    expect((await ada.get("/api/conversations")).headers.get("vary")).toMatch(/\bOrigin\b/)
  })

  test("may send the headers of official clients, but never the page's half of a session", async () => {
    const { headers } = await preflight(
      "/v1/responses",
      APP,
      "authorization, X-Stainless-OS, x-pawl-session, x-evil, cookie",
    )
    const allowed = headers.get("access-control-allow-headers")!.split(", ")
    expect(allowed).toContain("x-stainless-os")
    for (const name of ["x-pawl-session", "x-evil", "cookie", "*"]) expect(allowed).not.toContain(name)
  })

  test("that is listed cannot use the session of a browser, also on a neighbouring name", async () => {
    const browser = await Browser.of(face, "bob")
    for (const site of ["cross-site", "same-site", ""]) {
      const headers = { origin: APP, "sec-fetch-site": site }
      expect(codeOf(await browser.get("/api/auth/me", headers))).toEqual([403, "cross_site"])
      expect(codeOf(await browser.post("/api/conversations", {}, headers))).toEqual([403, "cross_site"])
    }
  })
})

test("without other origins no CORS header is sent", async () => {
  const { url } = await anyDatabase[0]!.create()
  await using face = await Face.open({ url, model: scripted() })
  const ada = await face.as("ada")
  const { headers } = await ada.get("/api/conversations", { origin: APP })
  expect([headers.has(ALLOW), headers.get("vary")?.includes("Origin") ?? false]).toEqual([false, false])
})
