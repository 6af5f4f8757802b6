import { describe, expect, test } from "vitest"
import type { Model, ReplyPart } from "../../core/engine/model.ts"
import { UNCOUNTED } from "../../core/models/scripted/script.ts"
import { databases } from "../support/databases.ts"
import { openWorld, TurnedClock, type World } from "../support/loop/world.ts"

const HOUR = 3_600_000
const TEN_MINUTES = HOUR / 6
const LOOK_MS = 500

/** A model that counts its requests, and answers when released. */
class Held implements Model {
  readonly name = "held"
  readonly provider = "held"
  readonly contextTokens = 200_000
  asked = 0
  readonly #first = Promise.withResolvers<void>()
  readonly #go = Promise.withResolvers<void>()
  readonly first = this.#first.promise

  async *stream(): AsyncGenerator<ReplyPart> {
    this.asked++
    this.#first.resolve()
    await this.#go.promise
    yield { type: "text", text: "Done." }
    yield { type: "finish", finish: "stop", usage: UNCOUNTED }
  }

  go(): void {
    this.#go.resolve()
  }
}

/** Polls as a server does until it finds something. Returns how long that took, by a clock that is never set. */
async function findsAfter({ pawl: { runtime } }: World, clock: TurnedClock, beforeLook: () => void): Promise<number> {
  for (let passed = 0; passed <= 30_000; passed += LOOK_MS) {
    beforeLook()
    if ((await runtime.recover()) > 0) return passed
    await clock.turn(LOOK_MS)
  }
  throw new Error("it was never found")
}

describe.each(databases)("on $name", ({ create }) => {
  test.each([
    ["an hour back", -HOUR],
    ["ten minutes ahead", TEN_MINUTES],
  ])("an interrupted run is taken over in its usual time when the clock is set %s after it", async (_, shift) => {
    const takenUpAfter = async (setAfterTheFirstLook: number) => {
      await using database = await create()
      const [broken, finished] = [new Held(), new Held()]
      finished.go()
      // Its clock stands still from the first request on, so it sends no more heartbeats.
      const dead = await openWorld({ ...database, model: broken, clock: new TurnedClock() })
      const { id } = await dead.start("Go on by yourself.")
      await broken.first
      const clock = new TurnedClock()
      const taken = await (async () => {
        await using other = await openWorld({ ...database, model: finished, clock })
        let looks = 0
        const passed = await findsAfter(other, clock, () => void (looks++ === 1 && clock.shift(setAfterTheFirstLook)))
        await other.pawl.runtime.rest(id)
        return { passed, asked: finished.asked, status: (await other.load(id)).run?.status }
      })()
      broken.go()
      await dead[Symbol.asyncDispose]()
      return taken
    }
    const usual = await takenUpAfter(0)
    expect(usual).toMatchObject({ asked: 1, status: "completed" })
    expect(await takenUpAfter(shift)).toEqual(usual)
  })

  test("a run at work stays with its node while another node's clock is set ten minutes ahead, again and again: the model is asked once", async () => {
    await using database = await create()
    const held = new Held()
    const mine = new TurnedClock()
    const theirs = new TurnedClock()
    await using living = await openWorld({ ...database, model: held, clock: mine })
    await using other = await openWorld({ ...database, model: held, clock: theirs })
    const { id } = await living.start("Take your time.")
    await held.first
    for (let look = 0; look < 40; look++) {
      theirs.shift(TEN_MINUTES)
      expect(await other.pawl.runtime.recover()).toBe(0)
      await Promise.all([mine.turn(LOOK_MS), theirs.turn(LOOK_MS)])
      if (look % 5 === 4) await living.store.node.alive() // the heartbeat's write is finished when this one is
    }
    held.go()
    await living.pawl.runtime.rest(id)
    expect(held.asked).toBe(1)
    expect(await living.types(id)).not.toContain("restarted")
  })
})
