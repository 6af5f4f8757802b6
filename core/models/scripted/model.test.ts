import { describe, expect, test } from "vitest"
import type { HistoryMessage, ModelRequest } from "../../engine/model.ts"
import { codeOf } from "../../protocol/errors.ts"
import { anyRequest, collect } from "../providers/server.fixture.ts"
import { breaksOff, calls, fails, finishes, hangs, replies, says, thinks } from "./script.ts"
import { always, scripted } from "./model.ts"

const uncounted = { inputTokens: null, outputTokens: null }

describe("a scripted model", () => {
  test("plays its replies one by one", async () => {
    const model = scripted(calls("find", { q: "a" }), says("Done."))
    expect(await collect(model)).toEqual([
      { type: "call", name: "find", input: '{"q":"a"}' },
      { type: "finish", finish: "calls", usage: uncounted },
    ])
    expect(await collect(model)).toEqual([
      { type: "text", text: "Done." },
      { type: "finish", finish: "stop", usage: uncounted },
    ])
  })

  test("splits its text into the requested number of deltas, none inside a character", async () => {
    const parts = await collect(scripted(says("a👋🏽b👋🏽c", { chunks: 5 })))
    const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
    expect(texts.join("")).toBe("a👋🏽b👋🏽c")
    expect(texts.length).toBeGreaterThan(2)
    expect(texts.every((text) => text.isWellFormed())).toBe(true)
  })

  test("reasons, writes and makes several calls in one reply", async () => {
    const reply = replies(
      thinks("hm", { p: 1 }),
      says("I look."),
      calls(["find", { q: 1 }], ["list"]),
      calls("raw", "{oops"),
    )
    expect((await collect(scripted(reply))).slice(0, -1)).toEqual([
      { type: "reasoning", text: "hm", metadata: { p: 1 } },
      { type: "text", text: "I look." },
      { type: "call", name: "find", input: '{"q":1}' },
      { type: "call", name: "list", input: "{}" },
      { type: "call", name: "raw", input: "{oops" },
    ])
  })

  test("finishes as scripted, with usage", async () => {
    const usage = { inputTokens: 3, outputTokens: 4 }
    const parts = await collect(scripted(replies(says("x"), finishes("limit", usage))))
    expect(parts).toEqual([
      { type: "text", text: "x" },
      { type: "finish", finish: "limit", usage },
    ])
  })

  test("answers a request with a function of it", async () => {
    const model = scripted((request) => says(`${request.history.length} message(s)`))
    expect((await collect(model))[0]).toEqual({ type: "text", text: "1 message(s)" })
  })

  test("repeats its last reply forever, if scripted", async () => {
    const model = scripted(says("once"), always(says("again")))
    const texts: unknown[] = []
    for (let turn = 0; turn < 4; turn++) texts.push((await collect(model))[0])
    expect(texts.map((part) => (part as { text: string }).text)).toEqual(["once", "again", "again", "again"])
  })

  test("fails with a code, after optional text", async () => {
    const model = scripted(
      fails("rate_limited", { retriable: true, retryAfterMs: 5 }),
      fails("overloaded", { after: "Hel" }),
    )
    await expect(collect(model)).rejects.toMatchObject({
      code: "rate_limited",
      details: { retriable: true, retryAfterMs: 5 },
    })
    const shown: unknown[] = []
    const error = await (async () => {
      for await (const part of model.stream(anyRequest, new AbortController().signal)) shown.push(part)
    })().catch((error: unknown) => error)
    expect(codeOf(error)).toBe("overloaded")
    expect(shown).toEqual([{ type: "text", text: "Hel" }])
  })

  test("ends its stream without a finish", async () => {
    expect(await collect(scripted(breaksOff("Hel")))).toEqual([{ type: "text", text: "Hel" }])
  })

  test("hangs until it is aborted", async () => {
    const controller = new AbortController()
    const reply = collect(scripted(hangs("a")), anyRequest, controller.signal)
    setImmediate(() => controller.abort("enough"))
    await expect(reply).rejects.toBe("enough")
  })

  test("stops in the middle of its text when it is aborted", async () => {
    const controller = new AbortController()
    const shown: unknown[] = []
    const reply = (async () => {
      for await (const part of scripted(says("abcdef", { chunks: 6 })).stream(anyRequest, controller.signal)) {
        if (shown.push(part) === 2) controller.abort("enough")
      }
    })()
    await expect(reply).rejects.toBe("enough")
    expect(shown).toHaveLength(2)
  })

  test("says clearly that it has no reply left", async () => {
    const model = scripted(says("a"))
    await collect(model)
    const refused = await collect(model).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: "script_ended" })
    expect((refused as Error).message).toBe(
      'The scripted model has no reply left: its script has 1, and this is request 2, which ends with {"role":"user","text":"Hello"}. Add a reply, or end the script with always(…).',
    )
  })

  test("refuses a broken history before it answers", async () => {
    const history: HistoryMessage[] = [{ role: "tool", results: [] }]
    const refused = await collect(scripted(says("a")), { ...anyRequest, history }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: "request_malformed" })
    expect((refused as Error).message).toContain("Broken history at message 0")
  })

  test("records its requests, with the length of the history at that time", async () => {
    const history: HistoryMessage[] = [{ role: "user", text: "Hello" }]
    const request: ModelRequest = { ...anyRequest, history }
    const model = scripted(says("a"), says("b"))
    await collect(model, request)
    history.push({ role: "assistant", parts: [{ type: "text", text: "a" }] }, { role: "user", text: "More" })
    await collect(model, request)
    expect(model.received.map((received) => received.history.length)).toEqual([1, 3])
    expect(model.received[0]?.history).toEqual([{ role: "user", text: "Hello" }])
    expect(model.received.map(({ request: { history: each } }) => each.length)).toEqual([1, 3])
    expect(model.received[0]?.request.system).toBe("Be brief.")
  })

  test("has the window that the test sets", () => {
    const model = scripted()
    model.contextTokens = 100
    expect(model).toMatchObject({ name: "scripted", contextTokens: 100 })
  })
})
