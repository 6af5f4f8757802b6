import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { databases } from "../support/databases.ts"
import { Mortal } from "../support/loop/faults.ts"
import { aborted, read } from "../support/loop/tools.ts"
import { message, openWorld, type World } from "../support/loop/world.ts"

/** Calls the tool `work`, and then says so. */
const model = () => scripted(always(({ history }) => (history.at(-1)?.role === "user" ? calls("work") : says("Ok."))))

/** A tool that only a signal ends, and the number of its running calls. */
class Hanging {
  #begun = 0
  #waiting: { readonly count: number; readonly resolve: () => void }[] = []

  readonly tool = read("work", async (_input, { signal }) => {
    this.#begun++
    for (const { count, resolve } of this.#waiting) if (this.#begun >= count) resolve()
    await aborted(signal)
    return answer("")
  })

  begun(count: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#begun >= count) resolve()
      this.#waiting.push({ count, resolve })
    })
  }

  get count(): number {
    return this.#begun
  }
}

interface Place {
  readonly url: string
}

/** A node that is at work on all of these when it dies; without ids it starts so many. */
async function dies(database: Place, ids: readonly ConversationId[] | number): Promise<ConversationId[]> {
  const mortal = new Mortal()
  const hanging = new Hanging()
  await using world = await openWorld({ ...database, model: model(), tools: [hanging.tool], between: mortal.between })
  const mine = typeof ids === "number" ? await begin(world, ids) : [...ids]
  const started = Promise.all(mine.map((id) => isStarted(world, id, typeof ids === "number" ? 1 : 2)))
  if (typeof ids !== "number") await world.pawl.runtime.recover()
  await hanging.begun(mine.length)
  await started
  mortal.kill()
  return mine
}

/** Resolves when the journal records the start of the call for the given number of times. */
async function isStarted(world: World, id: ConversationId, times: number): Promise<void> {
  const seen = world.seen(id, (live) => live.type === "events" && live.events.some(({ type }) => type === "tool_start"))
  if ((await world.types(id)).filter((type) => type === "tool_start").length < times) await seen
}

async function begin(world: World, count: number): Promise<ConversationId[]> {
  const begun: ConversationId[] = []
  for (let n = 0; n < count; n++) begun.push((await world.start("Work.")).id)
  return begun
}

const blamesOf = async (world: World, id: ConversationId) =>
  (await world.events(id)).flatMap((event) => (event.type === "restarted" ? [event.blame ?? "alone"] : []))

describe.each(databases)("on $name", ({ create }) => {
  test("two nodes that each find part of what a third has left judge its death as one", async () => {
    await using database = await create()
    const ids = await dies(database, 2)
    await dies(database, ids)
    const first = new Hanging()
    const second = new Hanging()
    await using one = await openWorld({ ...database, model: model(), tools: [first.tool] })
    await using two = await openWorld({ ...database, model: model(), tools: [second.tool] })
    await one.pawl.runtime.recover(1)
    await first.begun(1)
    await two.pawl.runtime.recover()
    await second.begun(1)
    const blames = await Promise.all(ids.map((id) => blamesOf(one, id)))
    expect(blames).toEqual([
      ["alone", "shared"],
      ["alone", "shared"],
    ])
    // Each has what it claimed, and a second poll claims nothing twice.
    expect(
      ids.map((id) => Number(one.store.journal.isWriterOf(id)) + Number(two.store.journal.isWriterOf(id))),
    ).toEqual([1, 1])
    expect(await one.pawl.runtime.recover()).toBe(0)
    expect(await two.pawl.runtime.recover()).toBe(0)
    expect([first.count, second.count]).toEqual([1, 1])
  })

  test("a message for a run that a dead node has left does not make it the only suspect", async () => {
    await using database = await create()
    const ids = await dies(database, 2)
    await dies(database, ids)
    const hanging = new Hanging()
    await using world = await openWorld({ ...database, model: model(), tools: [hanging.tool] })
    await world.pawl.runtime.submit(ids[1] as ConversationId, message("Are you still there?"))
    await hanging.begun(1)
    expect(await blamesOf(world, ids[1] as ConversationId)).toEqual(["alone", "shared"])
  })

  test("a run that waits to be taken over alone is cancelled at once", async () => {
    await using database = await create()
    const ids = await dies(database, 2)
    await dies(database, ids)
    const hanging = new Hanging()
    await using world = await openWorld({ ...database, model: model(), tools: [hanging.tool] })
    await world.pawl.runtime.recover()
    await hanging.begun(1)
    const waiting = ids.find((id) => !world.store.journal.isWriterOf(id)) as ConversationId
    const atWork = ids.find((id) => world.store.journal.isWriterOf(id)) as ConversationId
    expect(await world.pawl.runtime.submit(waiting, { type: "cancel", by: world.user })).toBe("kept")
    await world.pawl.runtime.rest(waiting)
    expect((await world.load(waiting)).run?.status).toBe("cancelled")
    expect(hanging.count).toBe(1)
    expect(world.pawl.runtime.isWorking(atWork)).toBe(true)
  })

  test("the next run after a cancelled one still has its turn, and only when the previous one has ended", async () => {
    await using database = await create()
    const ids = await dies(database, 3)
    await dies(database, ids)
    const hanging = new Hanging()
    await using world = await openWorld({ ...database, model: model(), tools: [hanging.tool] })
    await world.pawl.runtime.recover()
    await hanging.begun(1)
    const [second] = ids.filter((id) => !world.store.journal.isWriterOf(id)) as [ConversationId]
    await world.pawl.runtime.submit(second, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(second)
    expect(hanging.count).toBe(1)
    const atWork = ids.find((id) => world.store.journal.isWriterOf(id)) as ConversationId
    await world.pawl.runtime.submit(atWork, { type: "cancel", by: world.user })
    await hanging.begun(2)
    expect((await world.load(atWork)).run?.status).toBe("cancelled")
  })
})
