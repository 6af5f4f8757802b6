import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import manifest from "../../../package.json" with { type: "json" }
import type { Route } from "../../../core/protocol/routes/route.ts"
import { routes } from "../../../core/protocol/routes/index.ts"
import { toPattern } from "../../../core/server/request/serve-route.ts"
import { toOpenApi } from "../../../core/server/routes/docs.ts"
import { scripted } from "../../../core/testing.ts"
import { databases } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"

const [sqlite] = databases
const openFace = async () => {
  const { url } = await (sqlite as (typeof databases)[number]).create()
  return Face.open({ url, model: scripted() })
}

test("docs/reference/openapi.json matches this code; `npm run openapi` writes it", () => {
  const written: unknown = JSON.parse(
    readFileSync(new URL("../../../docs/reference/openapi.json", import.meta.url), "utf8"),
  )
  expect(written).toEqual(JSON.parse(JSON.stringify(toOpenApi(manifest.version))))
})

test("the table of routes and the served routes are the same", async () => {
  await using face = await openFace()
  const listed = Object.values<Route>(routes).map((route) => `${route.method} ${toPattern(route)}`)
  // Pages for people and their files are no part of the contract for programs.
  const forPeople = [
    "GET /sign-in",
    "GET /sign-in.js",
    "GET /assets/:name",
    "GET /chart-frame",
    "GET /docs/*",
    "GET /docs/api.html",
    "GET /llms.txt",
    "GET /oauth/authorize",
    "GET /oauth/authorize.js",
    "GET /mcp-sign-in/callback",
    "GET /mcp-sign-in/callback.js",
  ]
  expect([...face.addresses].sort()).toEqual([...listed, ...forPeople].sort())
})

test("every reference in the document resolves, and every operation has a unique name", async () => {
  await using face = await openFace()
  const ada = await face.as("ada")
  const { status, body, text } = await ada.get("/openapi.json")
  expect(status).toBe(200)
  const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? "")
  expect(references.length).toBeGreaterThan(20)
  for (const path of new Set(references)) {
    const found = path.split("/").reduce<Record<string, unknown>>((at, key) => at[key] as typeof at, body)
    expect(found, path).toBeTypeOf("object")
    expect(found, `${path} is a shape, and no pointer to itself`).not.toHaveProperty("$ref")
  }
  const names = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, name]) => name)
  expect(new Set(names).size).toBe(Object.keys(routes).length)
})

test("the HTML page names every address and runs no script", async () => {
  await using face = await openFace()
  const ada = await face.as("ada")
  const response = await ada.send("GET", "/docs/api")
  const html = await response.text()
  for (const { path } of Object.values<Route>(routes)) expect(html).toContain(path)
  expect(html).not.toContain("<script")
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'")
})
