import { describe, expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { Held, write } from "../support/loop/tools.ts"
import { openWorld } from "../support/loop/world.ts"

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("a run that another credential continues is not stopped by the end of the first", async () => {
    await using database = await create()
    const held = new Held()
    const model = scripted(calls(["slow", {}], ["quick", {}]), says("Done."))
    const tools = [write("slow", held.run), write("quick")]
    await using world = await openWorld({ url: database.url, model, tools })
    const { runtime } = world.pawl
    const id = await world.begin("Both.", { credential: "tok_first" })
    const [slow, quick] = (await world.proposals(id)).map(({ proposed }) => proposed.id)
    const commit = { type: "decide", decision: "commit", by: world.user } as const
    await runtime.submit(id, { ...commit, proposalId: slow!, credential: "tok_first" })
    const signal = await held.begun
    await runtime.submit(id, { ...commit, proposalId: quick!, credential: "tok_second" })
    await runtime.submit(id, { type: "cancel", by: world.user, credential: "tok_first" })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(signal.aborted).toBe(false)
    held.end("slow done")
    await runtime.rest(id)
    expect(await world.results(id)).toEqual(["ok", "ok"])
    expect((await world.load(id)).run).toMatchObject({ status: "completed", credential: "tok_second" })
  })

  test("the run of a revoked credential is stopped, whatever the same credential decided before", async () => {
    await using database = await create()
    const held = new Held()
    const model = scripted(calls(["slow", {}], ["quick", {}]), says("Done."))
    const tools = [write("slow", held.run), write("quick")]
    await using world = await openWorld({ url: database.url, model, tools })
    const { runtime } = world.pawl
    const id = await world.begin("Both.", { credential: "tok_first" })
    const [slow, quick] = (await world.proposals(id)).map(({ proposed }) => proposed.id)
    const commit = { type: "decide", decision: "commit", by: world.user } as const
    await runtime.submit(id, { ...commit, proposalId: slow!, credential: "tok_first" })
    const signal = await held.begun
    await runtime.submit(id, { ...commit, proposalId: quick!, credential: "tok_second" })
    await runtime.submit(id, { type: "cancel", by: world.user, credential: "tok_second" })
    await expect.poll(() => signal.aborted).toBe(true)
    held.end("slow done")
    await runtime.rest(id)
    expect((await world.load(id)).run).toMatchObject({ status: "cancelled" })
  })
})
