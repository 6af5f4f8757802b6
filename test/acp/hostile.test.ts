import { describe, expect, test } from "vitest"
import { DEFAULT_MAX_MESSAGE_BYTES } from "@agentclientprotocol/sdk"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { says } from "../../core/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { PacedModel } from "../support/loop/paced-model.ts"
import { type AcpWorld, openAcpWorld } from "./world.ts"

/** An editor whose bytes the test writes and reads itself. */
function byHand(world: AcpWorld) {
  const { output, input, ended } = world.raw()
  const [writer, reader] = [output.getWriter(), input.pipeThrough(new TextDecoderStream()).getReader()]
  let heard = ""
  return {
    ended,
    write: (text: string) => writer.write(new TextEncoder().encode(text)),
    send: (message: object) =>
      writer.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)),
    /** Returns the next line, parsed. */
    async next(): Promise<Record<string, unknown>> {
      while (!heard.includes("\n")) {
        const { value, done } = await reader.read()
        if (done) throw new Error("It has hung up.")
        heard += value
      }
      const [line = "", ...rest] = heard.split("\n")
      heard = rest.join("\n")
      return JSON.parse(line) as Record<string, unknown>
    },
    close: () => writer.close(),
  }
}

/** Pieces of text that a model writes one by one while an editor does not read. */
const WORDS = 30

const INITIALIZE = { id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } }
const errorOf = (code: number) => expect.objectContaining({ error: expect.objectContaining({ code }) })

describe.each(anyDatabase)("an editor that violates the protocol, on $name,", ({ create }) => {
  test("gets an error for each malformed line, which changes nothing, and is served once it sends valid ones", async () => {
    await using database = await create()
    await using world = await openAcpWorld(database.url, scripted(always(says("Hello."))))
    const editor = byHand(world)
    const cases: [string | object, number][] = [
      ["this is no JSON\n", -32700],
      ['{"jsonrpc":"2.0","id":1,"method":\n', -32700],
      ["[1,2]\n", -32600],
      ["17\n", -32600],
      ["\u0000\uffff\n", -32700],
      [{ id: 2, method: "session/new", params: { cwd: world.dir, mcpServers: [] } }, -32600], // before initialize
      [INITIALIZE, 0],
      [{ id: 3, method: "no/such/method", params: {} }, -32601],
      [{ id: 4, method: "constructor", params: {} }, -32601],
      [{ id: 5, method: "session/prompt", params: { sessionId: "conv_x", prompt: [] } }, -32002],
      [{ id: 6, method: "session/prompt", params: { sessionId: 7 } }, -32602],
      [{ id: 7, method: "session/new", params: { cwd: "../..", mcpServers: [] } }, -32602],
      [
        { id: 13, method: "session/new", params: { cwd: world.dir, mcpServers: [], additionalDirectories: ["/etc"] } },
        -32602,
      ],
      [{ id: 8, method: "session/set_mode", params: { sessionId: "__proto__", modeId: "auto" } }, -32002],
      [{ id: 9, method: "authenticate", params: { methodId: "x" } }, -32602],
    ]
    for (const [sent, code] of cases) {
      await (typeof sent === "string" ? editor.write(sent) : editor.send(sent))
      const heard = await editor.next()
      if (code === 0) expect(heard).toMatchObject({ id: 0, result: { protocolVersion: 1 } })
      else expect(heard, JSON.stringify(sent)).toEqual(errorOf(code))
    }
    // Unrequested answers and cancellations of unknown conversations change nothing and get no response.
    await editor.send({ id: 4711, result: { outcome: { outcome: "selected", optionId: "yes" } } })
    await editor.send({ method: "session/cancel", params: { sessionId: "conv_x" } })
    await editor.send({ method: "$/cancel_request", params: { requestId: 99 } })
    await editor.send({ id: 10, method: "session/new", params: { cwd: world.dir, mcpServers: [] } })
    const begun = await editor.next()
    expect(begun).toMatchObject({ id: 10, result: { sessionId: expect.stringMatching(/^conv_/) } })
    const { sessionId } = begun.result as { sessionId: string }
    await editor.send({
      id: 11,
      method: "session/prompt",
      params: { sessionId, prompt: [{ type: "text", text: " " }] },
    })
    await expect.poll(() => editor.next()).toEqual(errorOf(-32602))
    await editor.send({
      id: 12,
      method: "session/prompt",
      params: { sessionId, prompt: [{ type: "text", text: "Hi" }] },
    })
    await expect.poll(() => editor.next()).toMatchObject({ id: 12, result: { stopReason: "end_turn" } })
  })

  test("is disconnected if a line never ends, without effect on other editors of the same Pawl", async () => {
    await using database = await create()
    await using world = await openAcpWorld(database.url, scripted(always(says("Hello."))))
    const other = await world.edit()
    const { sessionId } = await other.begin(world.dir)
    const editor = byHand(world)
    const piece = "x".repeat(1024 * 1024)
    const flood = (async () => {
      for (let sent = 0; sent <= DEFAULT_MAX_MESSAGE_BYTES; sent += piece.length) await editor.write(piece)
    })().catch(() => {}) // it hangs up in the middle
    await expect(editor.ended).rejects.toThrow("byte limit")
    await flood
    expect(await other.say(sessionId, "hello")).toEqual({ stopReason: "end_turn" })
  })

  test("cannot start a second turn while one runs, and the first is answered", async () => {
    await using database = await create()
    const model = new PacedModel()
    await using world = await openAcpWorld(database.url, model)
    const editor = await world.edit()
    const { sessionId } = await editor.begin(world.dir)
    const first = editor.say(sessionId, "one")
    await expect(editor.say(sessionId, "two")).rejects.toThrow("wait for its answer, or cancel it first")
    model.write("One.").end()
    expect(await first).toEqual({ stopReason: "end_turn" })
    expect(model.requests).toHaveLength(1)
  })

  test("and stops reading does not block its conversation, and output does not accumulate", async () => {
    await using database = await create()
    const model = new PacedModel()
    await using world = await openAcpWorld(database.url, model)
    const slow = byHand(world)
    await slow.send(INITIALIZE)
    await slow.next()
    await slow.send({ id: 1, method: "session/new", params: { cwd: world.dir, mcpServers: [] } })
    const { sessionId } = (await slow.next()).result as { sessionId: string }
    await slow.send({ id: 2, method: "session/prompt", params: { sessionId, prompt: [{ type: "text", text: "go" }] } })
    // From here on the client does not read.
    const watching = world.client.events(sessionId)
    let [seen, count] = ["", 0]
    model.write("word 0 ")
    for await (const frame of watching) {
      if (frame.type === "run_ended") break
      if (frame.type !== "text_delta") continue
      seen += (frame.data as { text: string }).text
      // One at a time, so that each is a piece of its own for the reader.
      if (!seen.endsWith(`word ${count} `)) continue
      if (++count < WORDS) model.write(`word ${count} `)
      else model.end()
    }
    // A client that resumes reading gets the full text in far fewer pieces, because unread updates are merged.
    let [words, pieces] = ["", 0]
    for (;;) {
      const { id, params } = (await slow.next()) as { id?: number; params?: { update: { content?: { text: string } } } }
      words += params?.update.content?.text ?? ""
      if (params?.update.content) pieces++
      if (id === 2) break
    }
    expect(words).toBe(seen)
    expect(words.split("word ")).toHaveLength(WORDS + 1)
    expect(pieces).toBeLessThan(WORDS / 2)
  })
})
