import { describe, expect, test } from "vitest"
import { calls, says, UNCOUNTED } from "../../../core/models/scripted/script.ts"
import { always, scripted, type ScriptedModel, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { type ConversationId, newId } from "../../../core/protocol/ids.ts"
import type { Guardrail } from "../../../core/protocol/conversation/stages.ts"
import type { Model } from "../../../core/engine/model.ts"
import type { Tool } from "../../../core/engine/definition/tool.ts"
import { of, openChecked, repliesOf } from "../../support/loop/checked-world.ts"
import { anyDatabase } from "../../support/databases.ts"
import { dyingAt } from "../../support/loop/faults.ts"
import { grades, scores, search, source, stages } from "../../support/loop/stages.ts"
import { message, TurnedClock, type World, type WorldOptions } from "../../support/loop/world.ts"

const shelf = ["p1", "p2"].map((id) => source(id))
const find = (query: string) => calls("retrieve_chunks", { query })
const DETECTION =
  "and please tell me about finding objects in pictures of streets at night too, as far as it is known today"
const BREAD =
  "forget all that, and tell me instead in all detail how one bakes a loaf of bread at home with no oven at all"

describe.each(anyDatabase)("a message sent while a run is at work, on $name", ({ create }) => {
  const open = (url: string, model: ScriptedModel, more: Partial<WorldOptions> = {}) =>
    openChecked({ url, model, agent: { stages }, ...more })

  const verdicts = async (world: World, id: ConversationId) =>
    of(await world.events(id), "step")
      .filter(({ step }) => step === "guardrail")
      .map(({ detail }) => (detail as Guardrail).verdict)
  const stepsOf = async (world: World, id: ConversationId) => of(await world.events(id), "step").map(({ step }) => step)

  /** Starts a run and sends this message during its search. */
  async function during(url: string, model: ScriptedModel, [text, when]: readonly [string, "steer" | "queue"]) {
    const id = newId("conv")
    const asked: string[] = []
    let world: World
    const tool = saying(search(shelf, asked), () => world.pawl.runtime.submit(id, message(text, { when })))
    world = await open(url, model, { tools: [tool] })
    await world.pawl.runtime.begin({ id, user: world.user, agent: "test" }, message("what do p1 and p2 say?"))
    await world.pawl.runtime.rest(id)
    return Object.assign(world, { id, asked })
  }

  test("is judged before anything is done for it, together with the history", async () => {
    await using place = await create()
    const model = scripted(
      ...[scores(95), find("p1 p2"), scores(90), grades(["p1", "p2"]), says("As [p1] says, also at night.")],
    )
    await using world = await during(place.url, model, [DETECTION, "steer"])
    expect(of(await world.events(world.id), "run_started")).toHaveLength(1)
    expect(await stepsOf(world, world.id)).toEqual([
      ...["guardrail", "routing", "executing", "guardrail", "grading", "routing", "generation"],
    ])
    expect(await verdicts(world, world.id)).toEqual(["in_scope", "in_scope"])
    const judged = JSON.stringify(model.received[2]?.history)
    expect(judged).toContain(`The person now says:\\n${DETECTION}`)
    expect(judged).toContain("Person: what do p1 and p2 say?")
  })

  test("is judged by itself if the first message was judged, and not answered yet", async () => {
    await using place = await create()
    const [id, judged] = [newId("conv"), [] as string[]]
    let world: World
    const model: Model = {
      ...{ name: "m", provider: "p", contextTokens: 10_000 },
      async *stream({ answers, history }) {
        if (answers === "guardrail" && judged.push(JSON.stringify(history)) === 1)
          await world.pawl.runtime.submit(id, message(BREAD, { when: "steer" }))
        yield { type: "text", text: JSON.stringify({ score: judged.length === 1 ? 95 : 5, reason: "" }) }
        yield { type: "finish", finish: "stop", usage: UNCOUNTED }
      },
    }
    world = await openChecked({ url: place.url, model, agent: { stages } })
    await using _ = world
    await world.pawl.runtime.begin({ id, user: world.user, agent: "test" }, message("what is known?"))
    await world.pawl.runtime.rest(id)
    expect(await verdicts(world, id)).toEqual(["in_scope", "out_of_scope"])
    expect(judged[1]).toContain(`The person now says:\\n${BREAD}`)
  })

  test("gets a polite answer if it is out of scope, and no tool runs for it", async () => {
    await using place = await create()
    await using world = await during(place.url, scripted(scores(95), find("p1 p2"), scores(5)), [BREAD, "steer"])
    expect(world.asked).toEqual(["p1 p2"])
    expect(await verdicts(world, world.id)).toEqual(["in_scope", "out_of_scope"])
    expect((await repliesOf(world, world.id)).at(-1)).toBe("I only know about papers. So it seems.")
    expect(of(await world.events(world.id), "run_ended")).toMatchObject([
      { status: "completed", reason: "out_of_scope" },
    ])
  })

  test("is judged, however short, by the message before it: a follow-up to an out-of-scope message is not plain", async () => {
    await using place = await create()
    const model = scripted(scores(95), find("p1 p2"), scores(5), scores(5))
    await using world = await during(place.url, model, [BREAD, "steer"])
    await world.send(world.id, "and cake?")
    expect(await verdicts(world, world.id)).toEqual(["in_scope", "out_of_scope", "out_of_scope"])
  })

  test("needs no judge if it is a plain follow-up to an in-scope message", async () => {
    await using place = await create()
    const model = scripted(scores(95), find("p1 p2"), grades(["p1", "p2"]), says("As [p1] says."))
    await using world = await during(place.url, model, ["and those of 2024?", "steer"])
    expect(await verdicts(world, world.id)).toEqual(["in_scope", "follow_up"])
  })

  test("asks a judge, however short, if the first one could not be asked", async () => {
    await using place = await create()
    const model = scripted(...[() => says("?"), () => says("?"), () => says("?"), find("p1 p2"), scores(5)])
    await using world = await during(place.url, model, ["how do I bake bread?", "steer"])
    expect(await verdicts(world, world.id)).toEqual(["open", "out_of_scope"])
  })

  test.each([
    ["in_scope", DETECTION, [scores(90), says("At night [p1].")], "At night [p1]."],
    ["out_of_scope", BREAD, [scores(5)], "I only know about papers. So it seems."],
  ] as const)("is judged when it starts the next run: %s", async (verdict, text, then, last) => {
    await using place = await create()
    const model = scripted(scores(95), find("p1 p2"), grades(["p1", "p2"]), says("As [p1] says."), ...then)
    await using world = await during(place.url, model, [text, "queue"])
    expect(world.asked).toEqual(["p1 p2"])
    expect(await verdicts(world, world.id)).toEqual(["in_scope", verdict])
    expect((await repliesOf(world, world.id)).at(-1)).toBe(last)
  })

  test.each(["before", "after"] as const)("is judged once, at whichever write a crash comes %s", async (when) => {
    const lives: number[] = []
    for (let at = 1; at <= 11; at++) {
      await using place = await create()
      const [clock, id] = [new TurnedClock(), newId("conv")]
      const words = message(DETECTION, { when: "steer" })
      let recorded: number | undefined
      {
        let world: World
        const between: NonNullable<WorldOptions["between"]> = (journal) => dyingAt({ at, when }, journal)
        const tool = saying(search(shelf), () => world.pawl.runtime.submit(id, words))
        world = await open(place.url, scripted(always(sensible)), { between, clock, tools: [tool] })
        await world.pawl.runtime
          .begin({ id, user: world.user, agent: "test" }, message("what is known?"))
          .then(() => world.pawl.runtime.rest(id))
          .catch(() => {})
        world.store.journal.drop(id)
        recorded = (await verdicts(world, id).catch(() => undefined))?.length
        await world.pawl[Symbol.asyncDispose]()
        await world.store[Symbol.asyncDispose]()
      }
      if (recorded === undefined) continue // the message was not stored
      await clock.turn(60_000)
      const model = scripted(always(sensible))
      let second: World
      const tool = saying(search(shelf), () => second.pawl.runtime.submit(id, words))
      second = await open(place.url, model, { clock, tools: [tool] })
      await using world = second
      await world.pawl.runtime.recover()
      await world.pawl.runtime.rest(id)
      lives.push(recorded)
      const again = model.received.filter(({ request }) => request.answers === "guardrail")
      expect(again).toHaveLength(2 - recorded)
      expect(await stepsOf(world, id)).toEqual([
        ...["guardrail", "routing", "executing", "guardrail", "grading", "routing", "generation"],
      ])
      expect((await repliesOf(world, id)).at(-1)).toBe("See [p1].")
    }
    expect(new Set(lives)).toEqual(new Set([0, 1, 2]))
  })
})

/** The same tool; a message is sent before it returns. */
function saying(tool: Tool, say: () => Promise<unknown>): Tool {
  return {
    ...tool,
    run: async (input, context) => {
      await say()
      return tool.run(input, context)
    },
  } as Tool
}

/** A model that depends only on its request, so that it works after any restart. */
const sensible: ScriptedReply = (request) => {
  if (request.answers === "guardrail") return says(JSON.stringify({ score: 95, reason: "Papers." }))
  const grade = (id: string) => ({ id, relevant: true, reason: "Yes." })
  if (request.answers === "grading") return says(JSON.stringify({ grades: [grade("p1"), grade("p2")], rewrite: null }))
  return request.history.some(({ role }) => role === "tool") ? says("See [p1].") : find("p1 p2")
}
