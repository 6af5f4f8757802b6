import { describe, expect, test } from "vitest"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"
import { readFrames } from "../../support/server/stream.ts"
import { Held, read } from "../../support/loop/tools.ts"

describe.each(anyDatabase)("a withdrawn message on $name", ({ create }) => {
  /** A conversation in the middle of its first run. */
  const open = async () => {
    const held = new Held()
    const model = scripted(calls("wait"), always(says("ok")))
    const face = await Face.open({ url: (await create()).url, model, tools: [read("wait", held.run)] })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const first = ada.say(id, "one")
    await held.begun
    const say = (headers: Record<string, string>) =>
      ada.send("POST", `/api/conversations/${id}/messages`, { body: { text: "two" }, headers })
    const withdraw = async () => {
      const [queued] = (await ada.get(`/api/conversations/${id}/queue`)).body.items
      expect((await ada.delete(`/api/conversations/${id}/queue/${queued.id}`)).status).toBe(204)
    }
    return { face, ada, id, held, first, say, withdraw }
  }
  const stream = { accept: "text/event-stream" }

  test("ends the streams that wait for its run with one done", async () => {
    const { face, held, first, say, withdraw } = await open()
    await using _ = face
    const keyed = { ...stream, "idempotency-key": "k" }
    const waiting = [await say(keyed), await say(keyed)]
    const seen = waiting.map((response) => readFrames(response, () => false))
    await withdraw()
    for (const frames of await Promise.all(seen)) {
      expect(frames.map(({ type, data }) => [type, data])).toEqual([["done", { status: "cancelled" }]])
    }
    held.end("found")
    await first
  })

  test("does not end the stream of another, whose run then has its own end", async () => {
    const { face, held, first, say, withdraw } = await open()
    await using _ = face
    await say({})
    const other = readFrames(await say(stream), () => false)
    await withdraw()
    held.end("found")
    await first
    expect((await other).map(({ type }) => type)).toEqual([
      "run_started",
      "message",
      "text_delta",
      "message",
      "run_ended",
      "usage",
      "done",
    ])
  })

  test("does not come back when its sender, who did not receive the answer, sends it again with its key", async () => {
    const { face, ada, id, held, first, say, withdraw } = await open()
    await using _ = face
    const key = { "idempotency-key": "k" }
    expect((await say(key)).status).toBe(202)
    await withdraw()
    for (const headers of [key, { ...key, ...stream }]) {
      const again = await say(headers)
      expect([again.status, await again.json()]).toMatchObject([409, { code: "message_withdrawn" }])
    }
    expect((await ada.get(`/api/conversations/${id}/queue`)).body.items).toEqual([])
    held.end("found")
    await first
  })
})
