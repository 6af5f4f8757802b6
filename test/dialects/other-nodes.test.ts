import { describe, expect, test } from "vitest"
import type { Model } from "../../core/engine/model.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { hangs, replies, says } from "../../core/models/scripted/script.ts"
import { shared } from "../cluster/links.ts"
import { connectMcp } from "./mcp-client.ts"
import { openAiAs } from "./openai-client.ts"
import { PacedModel } from "../support/loop/paced-model.ts"
import { Face } from "../support/server/face.ts"

describe.each(shared)("between two servers on one $name", ({ create }) => {
  test("an OpenAI response created on one server is read on the other, and its stream resumes there", async () => {
    const model = new PacedModel()
    const { url } = await create()
    await using one = await Face.open({ url, model })
    await using two = await Face.open({ url, model: scripted() })
    const [{ client: here }, { client: there }] = [await openAiAs(one, "ada"), await openAiAs(two, "ada")]
    const stream = await here.responses.create({ model: "pawl/test", input: "How many?", stream: true })
    model.write("Four ")
    const seen = { id: "", last: 0, text: "" }
    for await (const { type, sequence_number, delta, response } of stream) {
      if (response) seen.id = response.id
      seen.last = sequence_number
      if (type === "response.output_text.delta") seen.text += delta
      if (seen.text === "Four ") break // here its server dies, for this listener
    }
    expect((await there.responses.retrieve(seen.id)).status).toBe("in_progress")
    const rest = await there.responses.retrieve(seen.id, { stream: true, starting_after: seen.last })
    model.write("of them.").end()
    for await (const { type, delta } of rest) if (type === "response.output_text.delta") seen.text += delta
    expect(seen.text).toBe("Four of them.")
    expect(await there.responses.retrieve(seen.id)).toMatchObject({ status: "completed", output_text: "Four of them." })
  })

  test("a 2025 MCP client cancels on one server a call that the other answers, and never another person's", async () => {
    let heard = Promise.withResolvers<void>()
    const script = scripted(always(replies(says("Half"), hangs())))
    const model: Model = {
      ...{ name: "scripted", provider: "scripted", contextTokens: 200_000 },
      stream(request, signal) {
        heard.resolve()
        return script.stream(request, signal)
      },
    }
    const { url } = await create()
    await using one = await Face.open({ url, model })
    await using two = await Face.open({ url, model: scripted() })
    const connected = async (name: string, cancelsAt: Face) => {
      const person = await one.store.people.ensure(name, Date.now())
      const { token } = await one.store.people.createToken(person, ["read", "chat"], Date.now())
      const ask = async (address: string | URL, init?: RequestInit) => {
        const isCancel = typeof init?.body === "string" && init.body.includes("notifications/cancelled")
        return (isCancel ? cancelsAt : one).fetch(new Request(address, init))
      }
      return connectMcp("http://localhost/mcp", { token, era: "legacy", fetch: ask as typeof fetch })
    }
    const [ada, other, bob] = [await connected("ada", two), await connected("ada", two), await connected("bob", two)]
    const native = await two.as("ada")
    /** Sends a request that stays unanswered; returns its run, and a function that cancels it. */
    const asks = async ({ call }: typeof ada, more: object = {}) => {
      heard = Promise.withResolvers()
      const cancel = new AbortController()
      const asked = call("ask_agent", { message: "One", agent: "test", ...more }, { signal: cancel.signal })
      asked.catch(() => {})
      await heard.promise
      const id = (await native.get("/api/conversations?limit=1")).body.items[0]?.id as string
      const status = async () => (await native.get(`/api/conversations/${id}/runs`)).body.items[0].status as string
      return { cancel: () => cancel.abort(), status, over: one.pawl.runtime.rest(id as never) }
    }
    const [first, beside] = [await asks(ada), await asks(other)]
    const hers = await asks(bob)
    first.cancel()
    await first.over
    expect([await first.status(), await beside.status()]).toEqual(["cancelled", "running"])
    hers.cancel()
    beside.cancel()
    await beside.over
    expect(await beside.status()).toBe("cancelled")
    for (const { client } of [ada, other, bob]) await client.close()
  })
})
