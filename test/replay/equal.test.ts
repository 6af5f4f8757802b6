import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { answer, failed as refuses } from "../../core/engine/definition/tool.ts"
import { calls, fails, replies, type Script, says, thinks } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { unlikeRow } from "../../labs/replay/compare-snapshot.ts"
import { anyDatabase } from "../support/databases.ts"
import { read, write } from "../support/loop/tools.ts"
import { openWorld } from "../support/loop/world.ts"
import { rebuildAll } from "./rebuild.ts"

/** The replies that a model may give to one request. */
const deeds: Readonly<Record<string, () => Script>> = {
  looks: () => calls("look", { q: "1" }),
  looksTwice: () => calls(["look", { q: "2" }], ["look", { q: "3" }]),
  looksAndWrites: () => calls(["look", { q: "2" }], ["put", { q: "5" }]),
  thinksAndLooks: () => replies(thinks("hm", { signature: "s" }), says("I look."), calls("look", { q: "4" })),
  callsNobody: () => calls("nobody"),
  breaksOff: () => fails("overloaded", { after: "Once up", retriable: true }),
  saysNothing: () => replies(),
  answers: () => replies(thinks("so", { signature: "t" }), says("It is so.")),
  failsLate: () => fails("provider_error", { after: "It is" }),
}

const turn = fc.record({
  deeds: fc.array(fc.constantFrom(...Object.keys(deeds).slice(0, -2)), { maxLength: 5 }),
  end: fc.constantFrom("answers", "answers", "failsLate"),
  then: fc.constantFrom("words", "resume", "restart", "other model"),
  agrees: fc.boolean(),
})

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("each answered request can be rebuilt from the journal byte for byte, whatever happened", async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 5 }), async (turns) => {
        await using database = await create()
        const script = turns.flatMap((each) => [...each.deeds, each.end])
        const model = scripted(...Array.from({ length: 100 }, () => () => deeds[script.shift() ?? "answers"]!()))
        const look = read("look", ({ q }: { q?: string }) => (q === "3" ? refuses("Not now.") : answer(`found ${q}`)))
        const open = () => openWorld({ url: database.url, model, tools: [look, write("put")], timeZone: "Asia/Tokyo" })
        let world = await open()
        const id = await world.begin("Begin.")
        for (const { then, agrees } of turns) {
          for (const { proposed } of await world.proposals(id))
            await world.decide(id, proposed.id, agrees ? "commit" : "reject", "because")
          if (then === "restart") {
            await world[Symbol.asyncDispose]()
            world = await open()
          }
          if (then === "other model") model.name = `${model.name}'`
          const isWaiting = (await world.proposals(id)).length > 0 // then there is nothing to resume
          if (then === "resume" && !isWaiting) await world.pawl.runtime.submit(id, { type: "resume", by: world.user })
          await world.pawl.runtime.rest(id)
          await world.send(id, "Go on, and look at more.")
        }
        const rebuilt = await rebuildAll(world, id)
        const { requests, newer } = rebuilt
        const [row] = (await world.store.conversations.runs(id, { limit: 1 })).items
        expect(row && unlikeRow(row, rebuilt)).toEqual([])
        await world[Symbol.asyncDispose]()
        const told = requests.map(({ verdict, differences, reply }) => ({ verdict, differences, finish: reply.finish }))
        expect(told.filter(({ verdict }) => verdict !== "equal" && verdict !== "broken off")).toEqual([])
        expect(newer).toBeUndefined()
        compared += told.filter(({ verdict }) => verdict === "equal").length
      }),
      { numRuns: 25 },
    )
    expect(compared).toBeGreaterThan(50)
  }, 60_000)
})
