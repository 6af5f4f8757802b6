import { describe, expect, test, vi } from "vitest"
import { says, scripted } from "../../core/testing.ts"
import type { Commit, Operation } from "../../core/store/engine/operations.ts"
import { databases } from "../support/databases.ts"
import { message, openWorld } from "../support/loop/world.ts"

describe.each(databases)("on $name", ({ create }) => {
  test("a client that has seen a run end can send the next message, although the writer waits for the result of its commit", async () => {
    await using database = await create()
    await using world = await openWorld({ url: database.url, model: scripted(says("One."), says("Two.")) })
    const { engine, journal } = world.store
    const [committed, heard] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    // The last commit is on record, and its answer is delayed.
    const change = engine.change.bind(engine)
    using _ = vi.spyOn(engine, "change").mockImplementation((async (operation: Operation) => {
      const outcome = await change(operation as Commit)
      if (operation.type !== "commit" || operation.lease !== "hold" || !operation.release) return outcome
      committed.resolve()
      await heard.promise
      return outcome
    }) as typeof change)
    const { id } = await world.start("First.")
    await committed.promise
    expect(await journal.recorded([id])).toMatchObject([{ atWork: false }])
    const second = world.pawl.runtime.submit(id, { ...message("Second."), when: "reject" })
    const said = second.catch((error: unknown) => error)
    await journal.recorded([id]) // it has checked by now, and waits
    heard.resolve()
    expect(await said).toBe("taken")
  })

  test("a server that shuts down releases a conversation that it claims at that moment", async () => {
    await using database = await create()
    await using world = await openWorld({ url: database.url, model: scripted(says("One.")) })
    const { engine } = world.store
    const id = await world.begin("First.")
    const [claiming, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const change = engine.change.bind(engine)
    using _ = vi.spyOn(engine, "change").mockImplementation((async (operation: Operation) => {
      if (operation.type === "commit" && operation.lease === "claim") {
        claiming.resolve()
        await goOn.promise
      }
      return change(operation as Commit)
    }) as typeof change)
    const submitted = world.pawl.runtime.submit(id, message("Second."))
    await claiming.promise
    const closed = world.pawl.runtime.close()
    goOn.resolve()
    await closed
    // The conversation was released in order, so the next owner has no failed node to account for.
    expect(await engine.query("SELECT owner FROM conversation", [])).toEqual([{ owner: "nobody" }])
    expect(await submitted).toBe("taken")
  })
})
