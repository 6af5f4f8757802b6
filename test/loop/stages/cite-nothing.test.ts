import { describe, expect, test, vi } from "vitest"
import { jsonPrinter, textPrinter } from "../../../apps/cli/commands/exec-printer.ts"
import type { MessageItem } from "../../../client/transcript/transcript.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { scripted, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { newId } from "../../../core/protocol/ids.ts"
import type { AnswerData } from "../../../core/protocol/conversation/stages.ts"
import { itemLines } from "../../../apps/terminal/drawing/item-lines.ts"
import { lineText } from "../../../apps/terminal/line.ts"
import { describeStepResult } from "../../../apps/web/conversation/messages/describe-step.ts"
import { of, openChecked } from "../../support/loop/checked-world.ts"
import { anyDatabase } from "../../support/databases.ts"
import { citing, grades, scores, search, source, stages } from "../../support/loop/stages.ts"

const passage =
  "In a trial of patients the bandages were changed daily, and infections were treated with antibiotics by the nurses."
const uncited =
  "The trial says this: the patients had their bandages changed daily by the nurses, and all of the infections were treated with antibiotics, as is usual."
const tools = [search([source("p1", passage), source("p2", passage)])]
const find = calls("retrieve_chunks", { query: "p1 p2" })

describe.each(anyDatabase)("an answer that cites nothing, on $name", ({ create }) => {
  const ask = async (agent: object, ...replies: ScriptedReply[]) => {
    await using place = await create()
    await using world = await openChecked({ url: place.url, model: scripted(...replies), tools, agent })
    const id = await world.begin("What is known of honey?")
    const events = await world.events(id)
    return {
      data: of(events, "message").at(-1)?.data as AnswerData,
      generation: of(events, "step").find(({ step }) => step === "generation")?.detail,
    }
  }

  test("is marked in its data and in its step if this turn has found sources about its subject", async () => {
    const { data, generation } = await ask({ stages: citing }, find, says(uncited))
    expect(data).toMatchObject({ citations: [], citesNothing: true })
    expect(generation).toEqual({ evidence: null, citations: 0, flagged: 0, citesNothing: true })
  })

  test.each([
    ["with a marker", [find, says(`${uncited} [1]`)]],
    ["with one that nobody gave", [find, says(`${uncited} [9]`)]],
    ["where nothing was looked for", [says(uncited)]],
    ["where nothing was found", [calls("retrieve_chunks", { query: "none" }), says(uncited)]],
    ["that is short", [find, says("The bandages were changed daily.")]],
  ] as const)("is not marked: one %s", async (_, replies) => {
    const { data, generation } = await ask({ stages: citing }, ...replies)
    expect(data.citesNothing).toBeUndefined()
    expect(generation).not.toHaveProperty("citesNothing")
  })

  test("is not marked if the sources found are irrelevant", async () => {
    const [none, kept] = [grades([], ["p1", "p2"]), grades(["p1", "p2"])]
    const graded = { stages: { ...stages, grading: { ...stages.grading!, rewrites: 0 } } }
    expect((await ask(graded, scores(90), find, none, says(uncited))).data.citesNothing).toBeUndefined()
    expect((await ask(graded, scores(90), find, kept, says(uncited))).data.citesNothing).toBe(true)
  })

  test("quotes without a source are counted in its step as in its data", async () => {
    const made = `${uncited} The authors say "honey cures every wound in a single day". They write *honey heals any wound in half a day*.`
    const { data, generation } = await ask({ stages: citing }, find, says(made))
    expect(data.unmarked).toHaveLength(2)
    expect(generation).toMatchObject({ unmarked: 2, flagged: 0 })
    expect(describeStepResult("generation", generation)).toContain("2 quotes without a source")
  })
})

const data: AnswerData = { kind: "citations", citations: [], sources: [], evidence: null, citesNothing: true }
const at = new Date(0).toISOString()
const message = {
  ...{ id: newId("msg"), seq: 2, role: "assistant", content: uncited, createdAt: at },
  ...{ toolCalls: null, toolCallId: null, finish: "stop", data },
}

test("terminal, exec and the page's steps show it in plain text, and JSON has the data", () => {
  const lines = itemLines({ type: "message", message } as unknown as MessageItem, 120).map(lineText)
  expect(lines.at(-1)).toMatch(/^! This answer cites none of the sources found/)
  const said: string[] = []
  const printed: string[] = []
  using _stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0)
  using _stdout = vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0)
  textPrinter().show({ type: "message", data: { message, at } } as never)
  expect(said.join("")).toContain("! This answer cites none of the sources found")
  jsonPrinter().show({ type: "message", data: { message, at } } as never)
  expect(printed.join("")).toContain('"citesNothing":true')
  expect(describeStepResult("generation", { evidence: null, citations: 0, flagged: 0, citesNothing: true })).toContain(
    "cites no source",
  )
})
