import { expect, test } from "vitest"
import { scripted } from "../../../core/models/scripted/model.ts"
import { listen } from "../../../core/server/listen.ts"
import { databases } from "../../support/databases.ts"
import { Face, Visitor } from "../../support/server/face.ts"

test("an export that fails in the middle ends early without a reason for the client; the operator gets the error", async () => {
  await using database = await databases[0]!.create()
  const exportOf = async function* () {
    yield { kind: "person" }
    throw new Error("password=hunter2 in table x")
  }
  const instead = { retention: { exportOf } } as never
  await using face = await Face.open({ url: database.url, model: scripted(), instead })
  const listening = await listen((request, env) => face.fetch(request, env), { host: "127.0.0.1", port: 0 })
  const person = await face.store.people.ensure("ada", Date.now())
  const { token } = await face.store.people.createToken(person, ["manage"], Date.now())
  const { text } = await new Visitor(fetch, token, listening.url).get("/api/export")
  expect(text).toBe('{"kind":"person"}\n')
  const error = expect.objectContaining({ message: expect.stringContaining("hunter2") })
  expect(face.logged).toEqual([{ event: "export_failed", user: person.id, error }])
  await listening.close(0)
})

test("a request that takes too long to arrive gets 408 and is cut off; an answer may take longer", async () => {
  const answer = async (request: Request) => {
    if (request.method === "GET") await new Promise((resolve) => setTimeout(resolve, 600))
    return new Response(await request.text())
  }
  const patience = { headers: 100, request: 200, look: 20 }
  const listening = await listen(answer, { host: "127.0.0.1", port: 0, patience })
  const drips = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("a")) })
  const slow = fetch(listening.url, { method: "POST", body: drips, duplex: "half" } as RequestInit)
  const status = await slow.then(
    (response) => response.status,
    () => "cut off",
  )
  expect([408, "cut off"]).toContain(status)
  // On a busy machine a whole request may take longer than that, too, and gets the same 408.
  await expect.poll(async () => (await fetch(listening.url)).status).toBe(200)
  await listening.close(0)
})
