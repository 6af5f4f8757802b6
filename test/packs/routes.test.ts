import { expect, test } from "vitest"
import { z } from "zod"
import { failure } from "../../core/protocol/errors.ts"
import { defineRoute, type NamedPackRoute } from "../../core/engine/pack-services.ts"
import { scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

const Loan = z.object({ id: z.string(), of: z.string() })

const routes = {
  readLoan: defineRoute({
    method: "GET",
    path: "/loans/{id}",
    needs: "read",
    says: "One of your loans.",
    query: z.object({ most: z.coerce.number().max(10).optional() }),
    answer: Loan,
    handle({ caller, params: { id = "" } }) {
      if (id === "gone") throw failure("not_found")
      if (id === "odd") return { id } as z.infer<typeof Loan>
      return { id, of: caller.name, secret: "not to be told" }
    },
  }),
  addLoan: defineRoute({
    method: "POST",
    path: "/loans",
    needs: "manage",
    says: "Adds one.",
    body: z.strictObject({ title: z.string().min(1) }),
    answer: null,
    handle: () => null,
  }),
}
const packRoutes = Object.entries(routes).map(([name, route]): NamedPackRoute => ({ ...route, name, pack: "books" }))

async function openFace(more: object = {}) {
  const { url } = await databases[0]!.create()
  return Face.open({ url, model: scripted(), instead: { packRoutes, ...more } })
}

test("a pack's route answers each caller as that person, with the fields of its schema and no more", async () => {
  await using face = await openFace()
  const ada = await face.as("ada")
  const { status, body, headers } = await ada.get("/api/packs/books/loans/7")
  expect([status, body]).toEqual([200, { id: "7", of: "ada" }])
  expect(headers.get("cache-control")).toBe("no-store")
  expect((await ada.post("/api/packs/books/loans", { title: "Dune" })).status).toBe(204)
})

test("a pack's routes need the same credential, scope, origin, host and limits as all other routes", async () => {
  await using face = await openFace({ requestsPerMinute: 3 })
  const path = "/api/packs/books/loans"
  const nobody = await face.fetch(new Request(`http://localhost${path}/7`))
  expect(nobody.status).toBe(401)
  const reader = await face.as("ada", "read")
  expect((await reader.post(path, { title: "Dune" })).body).toMatchObject({ code: "forbidden" })
  const strange = await reader.get(`${path}/7`, { host: "evil.example" })
  expect(strange.body).toMatchObject({ code: "wrong_host" })
  const foreign = await reader.post(path, { title: "Dune" }, { origin: "https://evil.example" })
  expect(foreign.body).toMatchObject({ code: "wrong_origin" })
  for (let i = 0; i < 3; i++) await reader.get(`${path}/7`)
  expect((await reader.get(`${path}/7`)).status).toBe(429)
})

test("invalid requests never reach the pack, and invalid answers of the pack are never sent", async () => {
  await using face = await openFace()
  const ada = await face.as("ada")
  const bad = await ada.post("/api/packs/books/loans", { title: "" })
  expect(bad.body).toMatchObject({ status: 400, code: "bad_request" })
  expect((await ada.get("/api/packs/books/loans/7?most=11")).body).toMatchObject({ code: "bad_request" })
  expect((await ada.get("/api/packs/books/loans/gone")).body).toMatchObject({ code: "not_found" })
  expect((await ada.get("/api/packs/books/loans/odd")).body).toMatchObject({ code: "internal" })
  expect(face.logged).toMatchObject([{ event: "request_failed", route: "/api/packs/books/loans/{id}" }])
})

test("the references list a pack's routes, for programs and for people", async () => {
  await using face = await openFace()
  const ada = await face.as("ada")
  const { paths } = (await ada.get("/openapi.json")).body
  expect(paths["/api/packs/books/loans/{id}"].get).toMatchObject({ operationId: "books_readLoan" })
  expect(paths["/api/packs/books/loans"].post.responses).toHaveProperty("204")
  expect(await (await ada.send("GET", "/docs/api")).text()).toContain("/api/packs/books/loans/{id}")
})
