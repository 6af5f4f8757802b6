import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { ModelRequest } from "../../core/engine/model.ts"
import { says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { of, openChecked } from "../support/loop/checked-world.ts"
import { anyDatabase, databases } from "../support/databases.ts"
import { dyingAt } from "../support/loop/faults.ts"
import { openWorld } from "../support/loop/world.ts"

const schema = {
  type: "object",
  properties: { city: { type: "string", pattern: "^[A-Z]" }, people: { type: "integer" } },
  required: ["city", "people"],
}
const fits = '{"city": "Rome", "people": 3}'

describe.each(databases)("on $name, an answer that must fit a schema", ({ create }) => {
  test.each([
    ["at once", [fits], ["completed"]],
    ["in a fence, with words around it", [`Here:\n\`\`\`json\n${fits}\n\`\`\``], ["completed"]],
    ["when it was mended once", ["Rome has 3.", fits], ["completed"]],
    ["when it was mended twice", ["{}", '{"city": "rome", "people": 3}', fits], ["completed"]],
    ["never", ["{}", "[]", "no", "asked once too often"], ["answer_unfit"]],
  ])("gets a description of its fault and another try: %s", async (_, replies, ending) => {
    await using database = await create()
    const model = scripted(...replies.map((text) => says(text)))
    await using world = await openChecked({ url: database.url, model })
    const id = await world.begin("Where?", { schema })
    const events = await world.events(id)
    expect(of(events, "run_ended").map(({ status, error }) => error?.code ?? status)).toEqual(ending)
    expect(model.received.length).toBe(Math.min(replies.length, 3))
    expect(model.received[0]?.request).toMatchObject({ answerSchema: schema })
    expect(model.received[0]?.request.system).toContain(JSON.stringify(schema))
    const judged = of(events, "step").map(({ detail }) => detail)
    if (ending[0] === "completed") expect(judged.at(-1)).toEqual({ fits: true, value: JSON.parse(fits) })
    if (model.received.length > 1) expect(toldLast(model.received[1])).toMatch(/does not fit: .+ Send it again/)
  })

  test.each([2, 3, 4, 5])("gets no additional tries through a crash at write %i", async (at) => {
    await using database = await create()
    let asked = 0
    const reply = (request: ModelRequest) => {
      asked++
      return says(request.history.length > 50 ? fits : "{}")
    }
    const replies = Array.from({ length: 9 }, () => reply)
    const first = await openWorld({
      url: database.url,
      model: scripted(...replies),
      between: (journal) => dyingAt({ at, when: "after" }, journal),
    })
    const { id } = await first.start("Where?", { schema })
    await first.pawl.runtime.rest(id)
    await first[Symbol.asyncDispose]()
    await using second = await openChecked({ url: database.url, model: scripted(...replies) })
    await second.pawl.runtime.recover()
    await second.pawl.runtime.rest(id)
    const events = await second.events(id)
    expect(of(events, "run_ended").map(({ error }) => error?.code)).toEqual(["answer_unfit"])
    expect(of(events, "step").filter(({ step }) => step === "answer")).toHaveLength(3)
    expect(asked).toBeLessThanOrEqual(4) // a reply that a crash left unrecorded is requested again
  })
})

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("an agent's schema is checked, also if it is stricter than JSON schema can express", async () => {
    await using database = await create()
    const answers = z.object({ even: z.number().refine((n) => n % 2 === 0, "must be even") })
    const model = scripted(says('{"even": 3}'), says('{"even": 4}'))
    await using world = await openChecked({ url: database.url, model, agent: { answers } })
    const id = await world.begin("A number?")
    expect(of(await world.events(id), "step").map(({ detail }) => detail)).toEqual([
      { fits: false, problem: "even: must be even" },
      { fits: true, value: { even: 4 } },
    ])
    expect(model.received[0]?.request.answerSchema).toMatchObject({ properties: { even: { type: "number" } } })
    expect(model.received[0]?.request.system).toContain('"even":{"type":"number"}')
  })

  test("the schema of a message overrides its agent's", async () => {
    await using database = await create()
    const model = scripted(says('{"even": 4}'), says(fits))
    const answers = z.object({ even: z.number() })
    await using world = await openChecked({ url: database.url, model, agent: { answers } })
    const events = await world.events(await world.begin("Where?", { schema }))
    expect(of(events, "step").map(({ detail }) => (detail as { fits: boolean }).fits)).toEqual([false, true])
    expect(model.received[0]?.request.answerSchema).toEqual(schema)
  })
})

function toldLast(received: { readonly history: ModelRequest["history"] } | undefined): string {
  const last = received?.history.at(-1)
  return last?.role === "user" ? last.text : ""
}
