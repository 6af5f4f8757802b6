import { Hono } from "hono"
import { expect, test } from "vitest"
import type { AppError } from "../../core/protocol/errors.ts"
import type { UserId } from "../../core/protocol/ids.ts"
import { routes } from "../../core/protocol/routes/index.ts"
import type { Env, Caller } from "../../core/server/auth/credentials.ts"
import { serveRoute } from "../../core/server/request/serve-route.ts"

/** A file is read at once, and then waits to be ingested until the test releases it. */
class Desk {
  readonly #app = new Hono<Env>()
  readonly #held: (() => void)[] = []
  readonly #answers: unknown[] = []
  #arrived = Promise.withResolvers<void>()

  constructor() {
    this.#app.use(async (c, next) => {
      const person = { id: c.req.header("x-person") as UserId }
      c.set("caller", { person, scopes: new Set(["chat"]) } as unknown as Caller)
      await next()
    })
    this.#app.onError((error, c) => c.json({}, (error as AppError).status as 429))
    serveRoute(this.#app, routes.addDocument, async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#held.push(resolve)
      this.#arrived.resolve()
      await promise
      return { added: 1, unchanged: 0, items: [] } as never
    })
  }

  /** Sends a file without a declared length. Returns its status if it is refused, else that it waits. */
  async bring(person: string): Promise<number | "waits"> {
    this.#arrived = Promise.withResolvers<void>()
    const body = JSON.stringify({ name: "a.md", content: "Words." })
    const headers = { "x-person": person, "content-type": "application/json" }
    const answer = this.#app.request("/api/collections/col_1/documents", { method: "POST", headers, body })
    this.#answers.push(answer)
    return Promise.race([this.#arrived.promise.then(() => "waits" as const), (async () => (await answer).status)()])
  }

  async finishAll(): Promise<void> {
    for (const goOn of this.#held.splice(0)) goOn()
    await Promise.all(this.#answers.splice(0))
  }
}

const bringing = async (desk: Desk, person: string, times: number) => {
  const seen: (number | "waits")[] = []
  for (let i = 0; i < times; i++) seen.push(await desk.bring(person))
  return seen
}

test("a file holds its slot until it has been ingested, not only until it has been read", async () => {
  const desk = new Desk()
  expect(await bringing(desk, "usr_ada", 5)).toEqual(["waits", "waits", "waits", "waits", 429])
  await desk.finishAll()
  expect(await bringing(desk, "usr_ada", 5)).toEqual(["waits", "waits", "waits", "waits", 429])
  await desk.finishAll()
})

test("a few users cannot take all slots, and all of them together take no more than there are", async () => {
  const desk = new Desk()
  await bringing(desk, "usr_ada", 10)
  expect(await bringing(desk, "usr_bob", 10)).toContain("waits")
  expect(await bringing(desk, "usr_cyd", 10)).toContain("waits")
  let taken = 0
  for (let i = 0; i < 20; i++) if ((await desk.bring(`usr_${i}`)) === "waits") taken++
  expect(taken).toBe(1)
  await desk.finishAll()
})
