import { beforeAll, beforeEach, describe, expect, test } from "vitest"
import { always, scripted, type ScriptedModel } from "../../../core/models/scripted/model.ts"
import { fails, finishes, replies, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { currentScript } from "../../support/current-script.ts"
import { png } from "../../support/message-files/images.ts"
import { Face } from "../../support/server/face.ts"
import { asksForSummary, summaryShown } from "../../loop/summaries.ts"
import { type OpenAiPerson, openAiAs, refusalOf } from "../openai-client.ts"

const USAGE = { inputTokens: 900, outputTokens: 7 }
const LONG = "word ".repeat(400)

describe.each(anyDatabase)("the openai package counts tokens and compacts on $name", ({ create }) => {
  let face: Face
  let ada: OpenAiPerson
  let bob: OpenAiPerson
  let current: ScriptedModel
  const model = "pawl/test"
  const respond = (body: object) => ada.client.responses.create({ model, ...body })
  const count = async (body: object): Promise<number> =>
    (await ada.client.responses.inputTokens.count({ model, ...body })).input_tokens
  const compact = (body: object) => ada.client.responses.compact({ model, ...body })
  const talk = async (turns: number) => {
    let previous_response_id: string | undefined
    for (let turn = 0; turn < turns; turn++)
      previous_response_id = (await respond({ input: `${turn} ${LONG}`, previous_response_id })).id
    return previous_response_id!
  }

  beforeAll(async () => {
    face = await Face.open({ url: (await create()).url, model: currentScript(() => current) })
    ada = await openAiAs(face, "ada")
    bob = await openAiAs(face, "bob")
    return () => face[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    current = scripted(
      always((request) =>
        asksForSummary(request) ? replies(says("They counted words."), finishes("stop", USAGE)) : says(LONG),
      ),
    )
    current.contextTokens = 8000
  })

  test("a conversation is summarized, and continues from the compaction or from its response", async () => {
    const last = await talk(3)
    const compacted = await compact({ previous_response_id: last })
    expect(compacted).toMatchObject({
      ...{ id: last, object: "response.compaction", output: [{ type: "compaction" }] },
      usage: { input_tokens: 900, output_tokens: 7, total_tokens: 907 },
    })
    const next = await respond({ input: [...compacted.output, { role: "user", content: "And now?" }] })
    expect(summaryShown(current)).toContain("They counted words.")
    const before = await ada.client.responses.retrieve(last)
    expect(next.conversation).toEqual(before.conversation)
    const after = await respond({ input: "And then?", previous_response_id: next.id })
    expect(after.conversation).toEqual(before.conversation)
  })

  test("a conversation that is too short to be summarized stays as it is", async () => {
    const { id, conversation } = await respond({ input: "Hello" })
    const compacted = await compact({ previous_response_id: id })
    expect([compacted.output[0].encrypted_content, compacted.usage.total_tokens]).toEqual([conversation.id, 0])
  })

  test("a summary that fails is an error, and the conversation continues", async () => {
    const last = await talk(3)
    current = scripted(always((request) => (asksForSummary(request) ? fails("quota_spent") : says("Yes."))))
    current.contextTokens = 8000
    const failed = await refusalOf(compact({ previous_response_id: last }))
    expect([failed.status, failed.code]).toEqual([502, "quota_spent"])
    expect((await respond({ input: "Still there?", previous_response_id: last })).output_text).toBe("Yes.")
  })

  test("the estimate grows with each part of a request, and nothing is stored or sent", async () => {
    const base = await count({ input: "Hello" })
    expect(base).toBeGreaterThan(0)
    const tools = [{ type: "function", name: "look", description: LONG, parameters: { type: "object" } }]
    const image = { type: "input_image", image_url: `data:image/png;base64,${png(3, 3).toString("base64")}` }
    const larger = [
      { input: LONG },
      { input: "Hello", instructions: LONG },
      { input: "Hello", tools },
      {
        input: [
          { role: "user", content: LONG },
          { role: "user", content: "Hello" },
        ],
      },
      { input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }, image] }] },
      { input: "Hello", previous_response_id: await talk(1) },
    ]
    const asked = current.received.length
    for (const body of larger) expect(await count(body)).toBeGreaterThan(base + 200)
    expect(current.received).toHaveLength(asked)
    expect(await count({})).toBeLessThan(base)
  })

  test.each<[what: string, act: (id: string) => Promise<unknown>, status: number, sentence: RegExp]>([
    ["the compaction of an input", () => compact({ input: "Hello" }), 400, /only stored conversations are compacted/],
    ["the compaction of nothing", () => compact({}), 400, /previous_response_id: it is missing/],
    ["instructions", (id) => compact({ previous_response_id: id, instructions: "x" }), 400, /follows those of Pawl/],
    ["another model", (id) => compact({ previous_response_id: id, model: "pawl/test/x" }), 400, /own model/],
    ["another agent", (id) => compact({ previous_response_id: id, model: "pawl/workspace" }), 400, /pawl\/test/],
    [
      "another person's response",
      (id) => bob.client.responses.compact({ model, previous_response_id: id }),
      404,
      /Not/,
    ],
    [
      "another person's count",
      (id) => bob.client.responses.inputTokens.count({ model, previous_response_id: id }),
      404,
      /Not/,
    ],
    [
      "a foreign compaction",
      () =>
        respond({
          input: [
            { type: "compaction", encrypted_content: "gAAAA" },
            { role: "user", content: "Hi" },
          ],
        }),
      404,
      /Not/,
    ],
    [
      "a compaction alone",
      () => respond({ input: [{ type: "compaction", encrypted_content: "gAAAA" }] }),
      400,
      /last message/,
    ],
    [
      "a compaction and a response",
      (id) =>
        respond({
          input: [
            { type: "compaction", encrypted_content: "x" },
            { role: "user", content: "Hi" },
          ],
          previous_response_id: id,
        }),
      400,
      /without conversation/,
    ],
  ])("%s is refused", async (_what, act, status, sentence) => {
    const { id } = await respond({ input: "Hello" })
    const refused = await refusalOf(act(id))
    expect([refused.status, refused.message]).toEqual([status, expect.stringMatching(sentence)])
  })

  test("an older response is not compacted, because the newer messages would be summarized too", async () => {
    const { id } = await respond({ input: "Hello" })
    await respond({ input: "Again", previous_response_id: id })
    expect(await refusalOf(compact({ previous_response_id: id }))).toMatchObject({ status: 400 })
  })
})
