import { describe, expect, test } from "vitest"
import { z } from "zod"
import { DoubtfulCalls } from "../../core/engine/gate/doubtful-calls.ts"
import { answer, defineTool, type WriteOutcome } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { failure } from "../../core/protocol/errors.ts"
import { of, openChecked, resultsOf } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"

/** A target that loses its answer and is then unreachable; `says` is its answer when it is asked. */
class Target {
  says: WriteOutcome | Error = "unknown"
  /** The next answer waits for this promise; it has the state at the time of the request. */
  held: Promise<void> | undefined
  asked = 0
  written = 0

  readonly tool = defineTool({
    name: "save",
    description: "Saves.",
    input: z.object({}),
    effect: "write",
    inverse: false,
    afterCrash: "ask-target",
    run: () => {
      this.written++
      throw failure("outcome_unknown", { problem: "the line went dead" })
    },
    outcome: () => this.answers(),
  })

  async answers(): Promise<WriteOutcome> {
    this.asked++
    const { says, held } = this
    this.held = undefined
    await held
    if (says instanceof Error) throw says
    return says
  }
}

/** A target that answers only once the maximal number is asked at a time, and counts them. */
class BusyTarget extends Target {
  readonly #atOnce: number
  readonly #enough = Promise.withResolvers<void>()
  most = 0
  #open = 0

  constructor(atOnce: number) {
    super()
    this.#atOnce = atOnce
  }

  override async answers(): Promise<WriteOutcome> {
    this.most = Math.max(this.most, ++this.#open)
    if (this.#open >= this.#atOnce) this.#enough.resolve()
    await this.#enough.promise
    this.#open--
    return super.answers()
  }
}

describe.each(databases)("a write in doubt whose target was unreachable, on $name", ({ create }) => {
  async function open() {
    const database = await create()
    const target = new Target()
    const clock = new TurnedClock()
    const model = scripted(calls("save"), says("Well."), says("Next."))
    const world = await openChecked({ url: database.url, model, tools: [target.tool], clock })
    const id = await world.begin("Save.")
    await world.decide(id, (await world.proposals(id))[0]!.proposed.id, "commit")
    expect(await statuses()).toEqual(["in_doubt"])
    const doubts = new DoubtfulCalls(world.pawl.ports)
    await doubts.askTargets()

    async function statuses() {
      return (await world.proposals(id)).map(({ status }) => status)
    }
    return {
      ...{ target, clock, world, id, doubts, statuses },
      /** Lets time pass and asks about doubtful writes as often as a server does. */
      async pass(ms: number, watching = [doubts]) {
        for (let passed = 0; passed < ms; passed += 5000) {
          await clock.turn(5000)
          for (const each of watching) await each.askTargets()
          await world.pawl.runtime.rest(id)
        }
      },
      async [Symbol.asyncDispose]() {
        await world[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  test("is asked about again with growing pauses, and is settled when its target is back", async () => {
    await using opened = await open()
    const { target, pass, world, id } = opened
    await pass(5 * 60_000)
    // After 5, 10, 20 … seconds: not sixty times.
    expect(target.asked).toBe(5)
    target.says = answer("Saved.")
    await pass(6 * 60_000)
    expect(target.asked).toBe(6)
    expect(await resultsOf(world, id)).toMatchObject([{ status: "ok", text: "Saved." }])
    expect((await world.load(id)).run?.status).toBe("completed")
    expect(target.written).toBe(1)
    await pass(10 * 60_000)
    expect(target.asked).toBe(6)
  })

  test("that never arrived is reported as failed, but only once it can no longer be on its way", async () => {
    await using opened = await open()
    const { target, pass, world, id, statuses } = opened
    target.says = "not-applied"
    await pass(90_000)
    expect(await statuses()).toEqual(["in_doubt"])
    await pass(6 * 60_000)
    expect(await resultsOf(world, id)).toMatchObject([
      { status: "error", text: expect.stringContaining("never received") },
    ])
    expect(target.written).toBe(1)
  })

  test("a target that fails to answer is asked again", async () => {
    await using opened = await open()
    const { target, pass, statuses } = opened
    target.says = new Error("away")
    await pass(20_000)
    target.says = answer("Saved.")
    await pass(60_000)
    expect(await statuses()).toEqual([])
  })

  test("a person's decision stands, and the target is not asked again", async () => {
    await using opened = await open()
    const { target, pass, world, id } = opened
    const proposalId = (await world.proposals(id))[0]!.proposed.id
    await world.pawl.runtime.submit(id, { type: "resolve", proposalId, choice: "abandon", by: world.user })
    await world.pawl.runtime.rest(id)
    const before = target.asked
    target.says = answer("Saved.")
    await pass(60_000)
    expect(target.asked).toBe(before)
    expect(await resultsOf(world, id)).toMatchObject([{ status: "in_doubt" }])
  })

  test("the target's answer about the first try does not settle the second, which may have been done", async () => {
    await using opened = await open()
    const { target, clock, pass, world, id, doubts, statuses } = opened
    await pass(80_000)
    target.says = "not-applied"
    const late = Promise.withResolvers<void>()
    target.held = late.promise
    await clock.turn(80_000)
    const asking = doubts.askTargets()
    await expect.poll(() => target.asked).toBe(5)
    const proposalId = (await world.proposals(id))[0]!.proposed.id
    await world.pawl.runtime.submit(id, { type: "resolve", proposalId, choice: "retry", by: world.user })
    await world.pawl.runtime.rest(id)
    expect([target.written, await statuses()]).toEqual([2, ["in_doubt"]])
    late.resolve()
    await asking
    await world.pawl.runtime.rest(id)
    expect(await statuses()).toEqual(["in_doubt"])
    target.says = answer("Saved.")
    await pass(6 * 60_000)
    expect(await resultsOf(world, id)).toMatchObject([{ status: "ok", text: "Saved." }])
  })

  test("two nodes that learn the outcome record it once", async () => {
    await using opened = await open()
    const { target, pass, world, id, doubts } = opened
    const other = new DoubtfulCalls(world.pawl.ports)
    target.says = answer("Saved.")
    const call = (await world.load(id)).calls[0]!.id
    const late = { type: "late_result", callId: call, status: "ok", text: "Saved.", whileInDoubt: true } as const
    // Both nodes have asked before either result is recorded.
    await world.pawl.ports.journal.addToInbox(id, late)
    await pass(20_000, [doubts, other])
    await world.pawl.runtime.recover()
    await world.pawl.runtime.rest(id)
    const events = await world.events(id)
    expect(await resultsOf(world, id)).toMatchObject([{ status: "ok", text: "Saved." }])
    expect(of(events, "late_result")).toEqual([])
  })

  test("many targets are asked concurrently, and not all at once", async () => {
    await using database = await create()
    const target = new BusyTarget(16)
    const clock = new TurnedClock()
    const all = Array.from({ length: 20 })
    const model = scripted(...all.map(() => calls("save")), ...all.map(() => says("Well.")))
    await using world = await openChecked({ url: database.url, model, tools: [target.tool], clock })
    const ids = []
    for (const _ of all) {
      const id = await world.begin("Save.")
      await world.decide(id, (await world.proposals(id))[0]!.proposed.id, "commit")
      ids.push(id)
    }
    const doubts = new DoubtfulCalls(world.pawl.ports)
    await doubts.askTargets()
    target.says = answer("Saved.")
    await clock.turn(5000)
    await doubts.askTargets()
    expect([target.asked, target.most]).toEqual([20, 16])
    for (const id of ids) {
      await world.pawl.runtime.rest(id)
      expect(await resultsOf(world, id)).toMatchObject([{ status: "ok", text: "Saved." }])
    }
  })
})
