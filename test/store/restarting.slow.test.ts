import { describe, expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { databases } from "../support/databases.ts"
import { openOwnPostgres } from "../support/processes/own-postgres.ts"
import { isLong } from "../support/sizes.ts"
import { Face } from "../support/server/face.ts"

/** How often it restarts while requests run; four times in long runs. */
const ROUNDS = isLong ? 4 : 2
const runs = databases.some(({ name }) => name === "postgres")

describe.runIf(runs)("while PostgreSQL restarts", { timeout: 180_000 }, () => {
  // The fast shutdown, which notifies sessions, and the one like a crash.
  test.each(["SIGINT", "SIGQUIT"] as const)("(%s) no answer is a 500, and later all succeed", async (signal) => {
    await using own = await openOwnPostgres()
    await using face = await Face.open({ url: own.url, durability: "full", model: scripted(always(says("Hello."))) })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const answers = new Map<string, number>()
    let stopped = false
    const again = async (ask: () => Promise<{ status: number; body: { code?: string } | undefined }>) => {
      while (!stopped) {
        const told = await ask().then(
          ({ status, body }) => (status < 400 ? "good" : `${status} ${body?.code}`),
          (error: unknown) => `rejected with ${error}`,
        )
        answers.set(told, (answers.get(told) ?? 0) + 1)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const asking = [
      ...[0, 1, 2].map(() => again(() => ada.get("/api/conversations"))),
      ...[0, 1, 2].map(() => again(() => ada.get(`/api/conversations/${id}/messages`))),
      ...[0, 1].map(() => again(() => ada.post("/api/conversations", {}))),
      again(() => ada.say(id, "hello")),
      again(() => ada.get("/readyz")),
      again(() => ada.get("/api/export")),
    ]
    for (let round = 0; round < ROUNDS; round++) {
      const good = answers.get("good") ?? 0
      await expect.poll(() => answers.get("good") ?? 0).toBeGreaterThan(good + 50)
      await own.restart(signal)
      await expect.poll(async () => (await ada.get("/readyz")).status).toBe(200)
    }
    stopped = true
    await Promise.all(asking)
    const bad = [...answers.keys()].filter((told) => told !== "good" && told !== "503 store_unavailable")
    expect(bad).toEqual([])
    expect(answers.has("503 store_unavailable")).toBe(true)
    // A run whose commit was lost retries after seconds, and messages wait behind it.
    await expect.poll(async () => (await ada.say(id, "hello")).body.run?.status).toBe("completed")
  })
})
