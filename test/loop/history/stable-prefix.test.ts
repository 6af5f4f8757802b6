import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { answer, failed as refuses } from "../../../core/engine/definition/tool.ts"
import type { ModelRequest } from "../../../core/engine/model.ts"
import { calls, fails, replies, type Script, says, thinks } from "../../../core/models/scripted/script.ts"
import { scripted, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { anyDatabase } from "../../support/databases.ts"
import { read } from "../../support/loop/tools.ts"
import { openWorld } from "../../support/loop/world.ts"

/** The replies of a model to one request. The last ones end its run. */
const deeds: Readonly<Record<string, () => Script>> = {
  looks: () => calls("look", { q: "1" }),
  looksTwice: () => calls(["look", { q: "2" }], ["look", { q: "3" }]),
  thinksAndLooks: () => replies(thinks("hm", { signature: "s" }), says("I look."), calls("look", { q: "4" })),
  callsNobody: () => calls("nobody"),
  breaksOff: () => fails("overloaded", { after: "Once up", retriable: true }),
  answers: () => replies(thinks("so", { signature: "t" }), says("It is so.")),
  fails: () => fails("provider_error"),
  failsLate: () => fails("provider_error", { after: "It is" }),
}

const turn = fc.record({
  deeds: fc.array(fc.constantFrom("looks", "looksTwice", "thinksAndLooks", "callsNobody", "breaksOff"), {
    maxLength: 4,
  }),
  end: fc.constantFrom("answers", "answers", "answers", "fails", "failsLate"),
  /** The next action: a message, a resume, or a restart of the process. */
  then: fc.constantFrom("words", "words", "resume", "restart"),
})

/** In the order in which providers read: tools, instructions, messages. */
function toPieces({ tools, system, history }: ModelRequest): string[] {
  const last = history.at(-1)
  const kept = last?.role === "user" && NOT_KEPT.test(last.text) ? history.slice(0, -1) : history
  return [JSON.stringify(tools), system, ...kept.map((message) => JSON.stringify(message))]
}

/**
 * Notes that may stand only at the end of one request: for a run that continues on its own, and after calls where the
 * model had to answer.
 */
const NOT_KEPT = /^(Go on\.$|\[You called a tool, but no more calls)/

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("each request of a conversation starts with the whole previous request, within a run and from turn to turn", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 6 }), async (turns) => {
        await using database = await create()
        const requests: string[][] = []
        const script = turns.flatMap((each) => [...each.deeds, each.end])
        const hear: ScriptedReply = (request) => {
          requests.push(toPieces(request))
          return deeds[script.shift() ?? "answers"]!()
        }
        const model = scripted(...Array.from({ length: 100 }, () => hear))
        const look = read("look", ({ q }: { q?: string }) => (q === "3" ? refuses("Not now.") : answer(`found ${q}`)))
        const open = () => openWorld({ url: database.url, model, tools: [look] })
        let world = await open()
        const id = await world.begin("Begin.")
        for (const { then } of turns) {
          if (then === "restart") {
            await world[Symbol.asyncDispose]()
            world = await open()
          }
          if (then === "resume") await world.pawl.runtime.submit(id, { type: "resume", by: world.user })
          await world.pawl.runtime.rest(id)
          await world.send(id, "Go on, and look at more.")
        }
        await world[Symbol.asyncDispose]()
        expect(requests.length).toBeGreaterThan(turns.length)
        for (const [n, request] of requests.entries()) {
          const before = requests[n - 1] ?? []
          expect(request.slice(0, before.length)).toEqual(before)
        }
      }),
      { numRuns: 25 },
    )
  }, 60_000)
})
