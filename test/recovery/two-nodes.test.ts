import { describe, expect, test } from "vitest"
import type { Journal } from "../../core/engine/journal.ts"
import { answer, type Preview } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { openChecked, repliesOf, resultsOf } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { Mortal } from "../support/loop/faults.ts"
import { aborted, read, write } from "../support/loop/tools.ts"
import { message, openWorld, type World } from "../support/loop/world.ts"

const ownerOf = async ({ store }: World, id: ConversationId) =>
  (await store.engine.query<{ owner: string | null }>("SELECT owner FROM conversation WHERE id = ?", [id]))[0]?.owner

/** A journal whose next load, once armed, has read and does not return until it is released. */
class SlowLoad {
  readonly #loaded = Promise.withResolvers<void>()
  readonly #go = Promise.withResolvers<void>()
  readonly loaded = this.#loaded.promise
  #armed = false

  readonly between = (journal: Journal): Journal =>
    new Proxy(journal, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target) as unknown
        if (typeof value !== "function") return value
        const method = value.bind(target) as (...given: unknown[]) => unknown
        return name === "load" ? (...given: unknown[]) => this.#load(() => method(...given)) : method
      },
    })

  arm(): void {
    this.#armed = true
  }

  go(): void {
    this.#go.resolve()
  }

  async #load(load: () => unknown): Promise<unknown> {
    const slow = this.#armed
    this.#armed = false
    const loaded = await load()
    if (!slow) return loaded
    this.#loaded.resolve()
    await this.#go.promise
    return loaded
  }
}

describe.each(databases)("on $name", ({ create }) => {
  test("a node without work releases its lease, also when messages have arrived that wait for a decision", async () => {
    await using database = await create()
    const { url } = database
    const shown = Promise.withResolvers<Preview>()
    const looking = Promise.withResolvers<void>()
    const preview = () => {
      looking.resolve()
      return shown.promise
    }
    const tools = [write("save", () => answer("Saved."), { preview })]
    await using one = await openChecked({ url, model: scripted(calls("save")), tools })
    await using two = await openChecked({ url, model: scripted(says("Done."), says("Then nothing.")), tools })
    const { id } = await one.start("Save it.")
    await looking.promise
    expect(await two.pawl.runtime.submit(id, message("And then?"))).toBe("kept")
    shown.resolve({ summary: "Save", action: "safe_create" })
    await one.pawl.runtime.rest(id)
    expect(await ownerOf(one, id)).toBeNull()
    expect(one.store.journal.isWriterOf(id)).toBe(false)

    await two.decide(id, (await two.proposals(id))[0]!.proposed.id, "commit")
    expect(await resultsOf(two, id)).toMatchObject([{ status: "ok", text: "Saved." }])
    expect(await repliesOf(two, id)).toEqual(["", "Done.", "Then nothing."])
  })

  test("a node finds what a dead one has left, however many conversations it works on itself", async () => {
    await using database = await create()
    const { url } = database
    const AT_WORK = 3
    let busy = 0
    const allBusy = Promise.withResolvers<void>()
    const wait = read("wait", async (_input, { signal }) => {
      if (++busy === AT_WORK) allBusy.resolve()
      await aborted(signal)
      return answer("")
    })
    const model = scripted(always(({ history }) => (history.at(-1)?.role === "tool" ? says("Done.") : calls("wait"))))
    await using living = await openWorld({ url, model, tools: [wait] })
    for (let n = 0; n < AT_WORK; n++) await living.start("Wait.")
    await allBusy.promise
    const left = await (async () => {
      const mortal = new Mortal()
      const look = read("wait", () => {
        mortal.kill()
        return answer("")
      })
      const { between } = mortal
      await using dead = await openWorld({ url, model: scripted(calls("wait")), tools: [look], between })
      return await dead.begin("Look.")
    })()
    const found = await living.store.journal.abandoned(AT_WORK)
    expect(found).toEqual([left])
  })

  test("messages that arrive while a node polls and finds nothing are still processed", async () => {
    await using database = await create()
    const slow = new SlowLoad()
    const model = scripted(says("First."), says("Second."))
    await using world = await openChecked({ url: database.url, model, between: slow.between })
    const id = await world.begin("One.")
    slow.arm()
    world.pawl.ports.bus.wake(id) // as for something that another node has taken by now
    await slow.loaded
    expect(await world.pawl.runtime.submit(id, message("Two."))).toBe("kept")
    slow.go()
    await world.pawl.runtime.rest(id)
    expect(await repliesOf(world, id)).toEqual(["First.", "Second."])
  })
})
