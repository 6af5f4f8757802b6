import { expect, test } from "vitest"
import type { Model } from "../../core/engine/model.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { says } from "../../core/models/scripted/script.ts"
import { EditorSide } from "./editor.ts"
import { type AcpWorld, openAcpWorld } from "./world.ts"
import { anyDatabase } from "../support/databases.ts"

/** The distance between cuts in bytes: a prime, so that over many lines every position in a line is cut. */
const EVERY = 61
const [database] = anyDatabase

/** Waits for permission before it answers. */
class HeldModel implements Model {
  readonly name = "scripted"
  readonly provider = "scripted"
  readonly contextTokens = 200_000
  readonly #script = scripted(always(says("One, two.", { chunks: 3 })))
  goesOn = Promise.withResolvers<void>()

  async *stream(...asked: Parameters<Model["stream"]>): ReturnType<Model["stream"]> {
    await this.goesOn.promise
    yield* this.#script.stream(...asked)
  }
}

async function openWorld() {
  const model = new HeldModel()
  return { model, world: await openAcpWorld((await database!.create()).url, model) }
}

/** Returns the messages of a conversation once it is idle. */
async function saidIn({ client }: AcpWorld, id: string): Promise<string[]> {
  const { status } = await client.readConversation({ params: { id } })
  if (status === "running") for await (const frame of client.events(id)) if (frame.type === "run_ended") break
  return (await client.readConversation({ params: { id } })).messages.map(({ content }) => content)
}

/** An editor whose pipe breaks after a number of bytes. It records what it received. */
function breakingEditor(world: AcpWorld) {
  const pipe = { left: Number.POSITIVE_INFINITY, heard: "" }
  const breaks = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      pipe.heard += Buffer.from(chunk).toString("latin1")
      controller.enqueue(chunk.subarray(0, pipe.left))
      pipe.left -= chunk.length
      if (pipe.left <= 0) controller.error(new Error("the pipe broke"))
    },
  })
  const { output, input } = world.raw()
  return { pipe, editor: new EditorSide(output, input.pipeThrough(breaks)) }
}

/** Returns cut positions: one every `every` bytes, and around the end of each line. */
function cutsOf(text: string, every: number): number[] {
  const cuts = new Set<number>()
  for (let at = 1; at < text.length; at += every) cuts.add(at)
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1))
    for (const near of [at, at + 1]) cuts.add(near)
  return [...cuts].filter((at) => at > 0 && at < text.length)
}

test("an editor whose pipe breaks after any byte of an answer loses nothing: the next one loads the whole answer, once", async () => {
  const { world, model } = await openWorld()
  await using _ = world
  /** One turn, whose answer is cut after so many bytes; gives its conversation and what there was to hear. */
  const turn = async (after: number) => {
    model.goesOn = Promise.withResolvers()
    const { id } = await world.client.createConversation({ body: { agent: "files" } })
    const { editor, pipe } = breakingEditor(world)
    await editor.initialize()
    await editor.load(id, world.dir)
    const answered = editor.say(id, "count").catch(() => "cut")
    for await (const { type } of world.client.events(id)) if (type === "run_started") break
    const from = pipe.heard.length
    pipe.left = after
    model.goesOn.resolve()
    return { id, answered: await answered, heard: pipe.heard.slice(from) }
  }
  const whole = await turn(Number.POSITIVE_INFINITY)
  expect(whole.answered).toEqual({ stopReason: "end_turn" })
  const cuts = cutsOf(whole.heard, EVERY)
  expect(cuts.length).toBeGreaterThan(10)
  for (const after of cuts) {
    const { id, answered } = await turn(after)
    expect(answered, `cut after ${after}`).toBe("cut")
    expect(await saidIn(world, id)).toEqual(["count", "One, two."])
    const next = await world.edit()
    await next.load(id, world.dir)
    expect([next.words("user_message_chunk"), next.words("agent_message_chunk")]).toEqual(["count", "One, two."])
  }
})

test("an incomplete message from an editor that crashed after any byte is ignored, and the next editor is served", async () => {
  const { world, model } = await openWorld()
  await using _ = world
  model.goesOn.resolve()
  const { id } = await world.client.createConversation({ body: { agent: "files" } })
  const prompt = { sessionId: id, prompt: [{ type: "text", text: "count" }] }
  const lines = [
    { id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } },
    { id: 1, method: "session/load", params: { sessionId: id, cwd: world.dir, mcpServers: [] } },
    { id: 2, method: "session/prompt", params: prompt },
  ]
  const text = lines.map((line) => `${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`).join("")
  // Leaves out the last position: a line that lacks only its line break may count as complete.
  for (const after of cutsOf(text, 17).filter((at) => at < text.length - 1)) {
    const { output, input, ended } = world.raw()
    void input.pipeTo(new WritableStream()).catch(() => {})
    const writer = output.getWriter()
    await writer.write(new TextEncoder().encode(text.slice(0, after)))
    await writer.close()
    await ended
    expect(await saidIn(world, id), `cut after ${after}`).toEqual([])
  }
  const next = await world.edit()
  await next.load(id, world.dir)
  expect(await next.say(id, "count")).toEqual({ stopReason: "end_turn" })
  expect(await saidIn(world, id)).toEqual(["count", "One, two."])
})
