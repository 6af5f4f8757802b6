import { describe, expect, test } from "vitest"
import type { Model } from "../../core/engine/model.ts"
import { codeOf } from "../../core/protocol/errors.ts"
import { anyRequest } from "../../core/models/providers/server.fixture.ts"
import { ModelRegistry } from "../../core/models/registry.ts"
import { type FormatReply, formatReplies } from "./format-replies.ts"
import { isLong } from "../support/sizes.ts"

/** Tests only each seventeenth cut; long runs test all. */
const EVERY = isLong ? 1 : 17

type End = "properly" | "cut" | "broken"

/** A `fetch` that answers with these bytes, so many with each read, and ends like this. */
function fetchOf(body: Buffer, size: number, end: End): typeof globalThis.fetch {
  return async () => {
    let at = 0
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at < body.length) return controller.enqueue(new Uint8Array(body.subarray(at, (at += size))))
        if (end === "broken") return controller.error(new TypeError("terminated"))
        controller.close()
      },
    })
    return new Response(stream, { headers: { "content-type": "text/event-stream" } })
  }
}

const modelOf = ({ model, settings }: FormatReply, fetch: typeof globalThis.fetch): Promise<Model> =>
  new ModelRegistry(settings("http://provider.example"), { fetch, retry: { retries: 0 } }).get(model)

/** The text, thinking and calls of a reply; without a finish if it was refused as broken. */
async function play(reply: FormatReply, fetch: typeof globalThis.fetch) {
  const outcome = { text: "", thinking: "", calls: [] as [string, string][], finish: null as string | null }
  try {
    for await (const part of (await modelOf(reply, fetch)).stream(anyRequest, AbortSignal.timeout(60_000))) {
      if (part.type === "text") outcome.text += part.text
      else if (part.type === "reasoning") outcome.thinking += part.text
      else if (part.type === "call") outcome.calls.push([part.name, part.input])
      else if (part.type === "finish") outcome.finish = part.finish
    }
  } catch (error) {
    if (codeOf(error) !== "provider_error") throw error
  }
  return outcome
}

describe.each(formatReplies)("a reply of $name", (reply) => {
  test.each([
    ["whole", Number.POSITIVE_INFINITY],
    ["in pieces of 61 bytes", 61],
    ["byte by byte", 1],
  ])("that comes %s is the same", async (_, size) => {
    const { body, expected } = reply
    expect(await play(reply, fetchOf(body, Math.min(size, body.length), "properly"))).toEqual(expected)
  })

  test.each(["cut", "broken"] as const)(
    "that is %s never counts as finished, unless all of it had come",
    async (end) => {
      const { body, expected } = reply
      let refused = 0
      const places = Array.from({ length: Math.ceil(body.length / EVERY) }, (_, n) => n * EVERY)
      for (const at of places) {
        const outcome = await play(reply, fetchOf(body.subarray(0, at), 997, end))
        if (outcome.finish === null) refused++
        else expect([at, outcome]).toEqual([at, expected])
        // The text shown before the cut is the start of the whole text.
        expect(expected.text.startsWith(outcome.text)).toBe(true)
      }
      expect(refused).toBeGreaterThan(places.length / 2)
    },
  )
})
