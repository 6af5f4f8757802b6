import { beforeAll, beforeEach, describe, expect, test } from "vitest"
import { scripted, type ScriptedModel, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { calls, replies, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { CutAnswers, cutsOf } from "../cut-answers.ts"
import { OpenAI, type OpenAiClient, openAiAs } from "../openai-client.ts"
import { Face } from "../../support/server/face.ts"
import { currentScript } from "../../support/current-script.ts"

const WHOLE = "Let me look.\n\nFour 🌍 of them."
const SCRIPT = [replies(says("Let me look."), calls("unknown_tool")), says("Four 🌍 of them.", { chunks: 3 })]
const PARAMETERS = { type: "object", properties: { city: { type: "string" } } }

describe.each(anyDatabase)("an answer of the OpenAI API that is cut after any byte, on $name,", ({ create }) => {
  let face: Face
  let client: OpenAiClient
  let cut: CutAnswers
  let token: string
  let current: ScriptedModel
  let keys = 0

  const plays = (...script: ScriptedReply[]) => (current = scripted(...script))
  const model = currentScript(() => current)

  beforeAll(async () => {
    face = await Face.open({ url: (await create()).url, model })
    cut = new CutAnswers((url, init) => face.fetch(new Request(url, init)))
    token = (await openAiAs(face, "ada")).token
    client = new OpenAI({ apiKey: token, baseURL: "http://localhost/v1", fetch: cut.fetch, maxRetries: 0 })
    return () => face[Symbol.asyncDispose]()
  })
  beforeEach(() => void (cut.after = Number.POSITIVE_INFINITY))

  /** Returns all bytes of an answer, to choose where to cut it. */
  const bytesOf = async (path: string, body: object, key: string) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": key }
    const request = { method: "POST", body: JSON.stringify(body), headers }
    return (await face.fetch(new Request(`http://localhost/v1/${path}`, request))).text()
  }

  /** Runs an action over connections that break after each of these bytes, and then over one that does not. */
  const withCuts = async (whole: string, act: (isCut: boolean) => Promise<unknown>) => {
    const cuts = cutsOf(whole)
    expect(cuts.length).toBeGreaterThan(10)
    for (cut.after of cuts) {
      await act(true)
      cut.after = Number.POSITIVE_INFINITY
      await act(false)
    }
  }

  const told = async (answer: unknown): Promise<string> => {
    if (!(Symbol.asyncIterator in (answer as object))) return (answer as Completion).choices[0]!.message.content
    let text = ""
    for await (const { choices } of answer as AsyncIterable<Chunk>) text += choices[0]?.delta.content ?? ""
    return text
  }
  interface Completion {
    readonly choices: { readonly message: { readonly content: string } }[]
  }
  interface Chunk {
    readonly choices: { readonly delta: { readonly content?: string } }[]
  }

  test.each([true, false])(
    "is never taken for a complete one, and can be repeated with its key (stream: %s)",
    async (stream) => {
      plays(...SCRIPT)
      const body = { model: "pawl/test", messages: [{ role: "user", content: "How many?" }], stream }
      const key = `cut-${keys++}`
      const whole = await bytesOf("chat/completions", body, key)
      const ask = async () => told(await client.chat.completions.create(body, { headers: { "idempotency-key": key } }))
      await withCuts(whole, async (isCut) =>
        isCut ? expect(await ask().catch(() => undefined)).toBeUndefined() : expect(await ask()).toBe(WHOLE),
      )
      expect(current.received).toHaveLength(2)
    },
  )

  test("a response stream resumes from the position of the cut", async () => {
    plays(...SCRIPT)
    const body = { model: "pawl/test", input: "How many?", stream: true }
    const key = `cut-${keys++}`
    const whole = await bytesOf("responses", body, key)
    const seen = { id: "", last: -1, text: "", end: "" }
    const hear = async (answer: Promise<AsyncIterable<Event>>) => {
      for await (const { type, sequence_number, delta = "", response } of await answer) {
        expect(sequence_number).toBeGreaterThan(seen.last)
        seen.last = sequence_number
        if (type === "response.output_text.delta") seen.text += delta
        if (response) [seen.id, seen.end] = [response.id, response.status]
      }
    }
    let [resumed, again] = [0, 0]
    await withCuts(whole, async (isCut) => {
      if (isCut) Object.assign(seen, { id: "", last: -1, text: "", end: "" })
      const headers = { "idempotency-key": key }
      if (isCut) return expect(await hear(client.responses.create(body, { headers })).catch(() => "cut")).toBe("cut")
      // A client that has not received the response id yet repeats the request with its key.
      if (seen.id === "") await hear((again++, client.responses.create(body, { headers })))
      else await hear((resumed++, client.responses.retrieve(seen.id, { stream: true, starting_after: seen.last })))
      expect([seen.text, seen.end]).toEqual([WHOLE.replace("\n\n", ""), "completed"])
    })
    expect(Math.min(resumed, again)).toBeGreaterThan(2)
    expect(current.received).toHaveLength(2)
  })
  interface Event {
    readonly type: string
    readonly sequence_number: number
    readonly delta?: string
    readonly response?: { readonly id: string; readonly status: string }
  }

  test("requests a function once, and its result counts once", async () => {
    plays(calls("client-get_weather", { city: "Oslo" }), says("It rains.", { chunks: 3 }))
    const tools = [{ type: "function", function: { name: "get_weather", description: "", parameters: PARAMETERS } }]
    const asked = { role: "user", content: "How is the weather?" }
    const body = { model: "pawl/test", messages: [asked], tools, stream: true }
    const key = `cut-${keys++}`
    const whole = await bytesOf("chat/completions", body, key)
    const ids = new Set<string>()
    const ask = async () => {
      const found: string[] = []
      for await (const chunk of await client.chat.completions.create(body, { headers: { "idempotency-key": key } }))
        found.push(...(chunk.choices[0]?.delta.tool_calls ?? []).map(({ id }: { id: string }) => id))
      return found
    }
    await withCuts(whole, async (isCut) => {
      if (isCut) return expect(await ask().catch(() => undefined)).toBeUndefined()
      const found = await ask()
      expect(found).toHaveLength(1)
      ids.add(found[0]!)
    })
    expect([ids.size, current.received.length]).toEqual([1, 1])
    const [id = ""] = ids
    const brought = { ...body, messages: [asked, { role: "tool", tool_call_id: id, content: "rain" }] }
    const answer = await bytesOf("chat/completions", brought, "unused")
    // No key: the tool call id identifies the result.
    const bring = async () => told(await client.chat.completions.create(brought))
    await withCuts(answer, async (isCut) =>
      isCut ? expect(await bring().catch(() => undefined)).toBeUndefined() : expect(await bring()).toBe("It rains."),
    )
    expect(current.received).toHaveLength(2)
  })
})
