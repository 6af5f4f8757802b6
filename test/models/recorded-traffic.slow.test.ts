import { existsSync, readFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { gunzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import type { Model, ModelRequest } from "../../core/engine/model.ts"
import { codeOf } from "../../core/protocol/errors.ts"
import { ProviderServer } from "../../core/models/providers/server.fixture.ts"
import { ModelRegistry } from "../../core/models/registry.ts"
import { isLong, seedOf } from "../support/sizes.ts"

/**
 * A real reply of a real provider: `resp` is the bytes of the response, `exp` the expected output of our model layer.
 */
interface Recording {
  readonly file: string
  readonly i: number
  readonly kind: "chat" | "responses" | "anthropic"
  readonly req: string
  readonly resp: string
  readonly exp: {
    readonly text: string
    readonly tools: readonly (readonly [string, string])[]
    readonly fin: string | null
  }
}

interface Outcome {
  text: string
  tools: (readonly [string, string])[]
  /** Null: no finish came, and the reply was refused with `provider_error`. */
  finish: string | null
}

const file = new URL("../../../shared/outside/provider-streams.jsonl.gz", import.meta.url)
const recordings: readonly Recording[] = existsSync(file) ? readRecordings() : []

function readRecordings(): Recording[] {
  const lines = gunzipSync(readFileSync(file)).toString().trim().split("\n")
  return lines.map((line) => JSON.parse(line) as Recording)
}

/**
 * The one wrong expectation. This provider repeats the whole name of a tool with every delta; `exp` concatenates the
 * repetitions to a tool that is not declared. Ours must be the name that the request declares.
 */
const mistake = {
  index: recordings.findIndex(({ file, i }) => file.endsWith("/test_tools_streaming_variant_a.yaml") && i === 0),
  expected: ["llm_versionllm_version", "{}"],
  declared: ["llm_version", "{}"],
} as const

const finishes: Readonly<Record<string, string>> = {
  stop: "stop",
  end_turn: "stop",
  tool_calls: "calls",
  tool_use: "calls",
}

function expectedOf({ exp, resp }: Recording): Outcome {
  const { text, tools, fin } = exp
  if (fin === null) return { text, tools: [...tools], finish: withoutReason(exp.tools.length > 0, resp) }
  const finish = fin === "response.completed" ? (tools.length > 0 ? "calls" : "stop") : finishes[fin]
  if (!finish) throw new Error(`a finish this test does not know: ${fin}`)
  return { text, tools: [...tools], finish }
}

/** Two of these gateways' streams have no finish reason. They are complete nevertheless, and marked as done. */
function withoutReason(hasCalls: boolean, resp: string): string | null {
  if (!resp.trimEnd().endsWith("\ndata: [DONE]")) return null
  return hasCalls ? "calls" : "unknown"
}

/** The number of positions at which a recording is cut, evenly over its length. */
const PLACES = isLong ? 60 : 6
/** The recordings are split into this many parts, because all at once are too many. */
const PARTS = 24
const SEED = seedOf("PAWL_TRAFFIC_SEED")
const chosen = (parts: ReturnType<typeof sliced>) =>
  isLong ? parts : parts.filter(([part]) => part === SEED % parts.length)

/** How a body is sent; `size` is also the most that one chunk has when it reaches the adapter. */
const pieces = [
  { name: "whole", size: Number.POSITIVE_INFINITY, slices: 1 },
  { name: "in 61-byte writes", size: 61, slices: 6 },
  // Some 35 s of one core for the seven million bytes, nearly all of it in the streams of the adapters: the usual run
  // takes a part of them, which the seed selects, and the long one all.
  { name: "in 1-byte writes", size: 1, slices: PARTS },
]

describe.skipIf(recordings.length === 0)("recorded traffic", () => {
  test("is complete", () => {
    expect(recordings).toHaveLength(359)
  })

  for (const { name, size, slices } of pieces) {
    test.each(chosen(sliced(slices)))(`${name} gives what is expected (part %i)`, async (_, slice) => {
      await using server = await ProviderServer.open((response, { path }) => write(response, bodyAt(path), size))
      const faults = await inParallel(slice, async (index) => {
        const recording = recordings[index] as Recording
        const outcome = await play(await modelFor(recording, { server, index, size }), requestOf(recording))
        return isExpected(recording, outcome) ? undefined : { index, outcome }
      })
      const { index, declared } = mistake
      const known = { index, outcome: { text: "", tools: [declared], finish: "calls" } }
      expect(faults).toEqual(slice.includes(index) ? [known] : [])
    })
  }

  test("is wrong in one place only, where it contradicts its own request", () => {
    const recording = recordings[mistake.index] as Recording
    expect(recording.exp.tools).toEqual([mistake.expected])
    expect(requestOf(recording).tools.map((tool) => tool.name)).toEqual([mistake.declared[0]])
  })

  describe.each(examples())("of %s, with %s, that is cut", (_kind, _content, index) => {
    const recording = recordings[index] as Recording
    const length = Buffer.byteLength(recording.resp)
    const places = Array.from({ length: PLACES }, (_, n) => Math.floor((n * length) / PLACES))

    test.each([
      ["by an end that looks clean", (response: ServerResponse) => response.end()],
      ["by a broken connection", (response: ServerResponse) => response.destroy()],
    ])("%s never counts as a finished answer, unless all of it had come", async (_, cut) => {
      await using server = await ProviderServer.open((response, { path }) => {
        const at = Number(/\/cut(\d+)\//.exec(path)?.[1])
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(bodyAt(path).subarray(0, at), () => setImmediate(cut, response))
      })
      let broken = 0
      await inParallel(places, async (at) => {
        const outcome = await play(
          await modelFor(recording, { server, index, mark: `cut${at}/` }),
          requestOf(recording),
        )
        if (outcome.finish === null) broken++
        else expect(outcome).toEqual(expectedOf(recording))
      })
      expect(broken).toBeGreaterThan(places.length / 2)
    })

    test("by us, in the middle, ends at once, at both ends", async () => {
      const closed = Promise.withResolvers<void>()
      await using server = await ProviderServer.open((response, { path }) => {
        response.on("close", closed.resolve)
        response.writeHead(200, { "content-type": "text/event-stream" })
        const enough = () => controller.abort(new Error("enough"))
        response.write(bodyAt(path).subarray(0, Math.floor(length / 2)), () => setImmediate(enough))
      })
      const controller = new AbortController()
      const model = await modelFor(recording, { server, index })
      await expect(play(model, requestOf(recording), controller.signal)).rejects.toThrow("enough")
      await closed.promise
    })
  })

  test.each(examples())(
    "of %s, with %s, leaves a connection that the next request uses",
    async (_kind, _content, index) => {
      let ended = Promise.withResolvers<void>()
      await using server = await ProviderServer.open((response, { path }) => {
        // The end comes a moment after the answer: a client that disconnects in between has to reconnect.
        response.write(bodyAt(path), () => setTimeout(() => response.end(() => ended.resolve()), 20))
      })
      const recording = recordings[index] as Recording
      const model = await modelFor(recording, { server, index })
      for (let turn = 0; turn < 5; turn++) {
        expect(await play(model, requestOf(recording))).toEqual(expectedOf(recording))
        // It has been sent; a turn or two later this process reads it, however busy the machine is.
        await ended.promise
        await new Promise((resolve) => setTimeout(resolve, 60))
        ended = Promise.withResolvers<void>()
      }
      expect(server.connections).toBe(1)
    },
  )
})

test.runIf(recordings.length === 0)("recorded traffic", ({ skip }) => {
  skip("passed over: there is no ../shared/outside/provider-streams.jsonl.gz beside this repository")
})

/** Compared exactly. */
function isExpected(recording: Recording, outcome: Outcome): boolean {
  return JSON.stringify(outcome) === JSON.stringify(expectedOf(recording))
}

interface Place {
  readonly server: ProviderServer
  readonly index: number
  readonly size?: number
  readonly mark?: string
}

/** The model that this recording was made with, reached over HTTP at the address of its recording. */
function modelFor(
  { kind, req }: Recording,
  { server, index, size = Number.POSITIVE_INFINITY, mark = "" }: Place,
): Promise<Model> {
  const base = `${server.url}/recording${index}/${mark}`
  const toServer: typeof fetch = async (input, init) => {
    const response = await fetch(String(input).replace(/^https:\/\/api\.(openai|anthropic)\.com\//, base), init)
    if (response.body && Number.isFinite(size)) cutUp(response.body, size)
    return response
  }
  const settings = {
    chat: { openaiBaseUrl: `${base}v1`, openaiApiKey: "sk-test" },
    responses: { openaiApiKey: "sk-test" },
    anthropic: { anthropicApiKey: "sk-test" },
  }[kind]
  const models = new ModelRegistry(settings, { fetch: toServer, retry: { retries: 0 } })
  const { model } = JSON.parse(req) as { model: string }
  return models.get(`${kind === "anthropic" ? "anthropic" : "openai"}/${model}`)
}

const bodyAt = (path: string): Buffer =>
  Buffer.from((recordings[Number(/\/recording(\d+)\//.exec(path)?.[1])] as Recording).resp)

/** A request that declares the tools of the recorded one. */
function requestOf({ req }: Recording): ModelRequest {
  const { tools = [] } = JSON.parse(req) as { tools?: { name?: string; function?: { name: string } }[] }
  const names = tools.flatMap((tool) => tool.function?.name ?? tool.name ?? [])
  return {
    system: "",
    history: [{ role: "user", text: "Hello" }],
    tools: names.map((name) => ({ name, description: "", inputSchema: { type: "object" } })),
    toolChoice: "auto",
  }
}

async function play(model: Model, request: ModelRequest, signal = AbortSignal.timeout(100_000)): Promise<Outcome> {
  const outcome: Outcome = { text: "", tools: [], finish: null }
  try {
    for await (const part of model.stream(request, signal)) {
      if (part.type === "text") outcome.text += part.text
      else if (part.type === "call") outcome.tools.push([part.name, part.input])
      else if (part.type === "finish") outcome.finish = part.finish
    }
  } catch (error) {
    if (codeOf(error) !== "provider_error") throw error
  }
  return outcome
}

/** HTTP chunks of this size, in a few large writes to the socket: millions of small ones would take minutes. */
function write(response: ServerResponse, body: Buffer, size: number): void {
  const socket = response.socket
  const chunks: Buffer[] = []
  for (let start = 0; start < body.length; start += size) {
    const chunk = body.subarray(start, start + size)
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n"))
  }
  socket?.write(
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n",
  )
  socket?.end(Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")]))
}

/** Node joins chunks that arrive together; this splits them again, so that each read returns `size` bytes. */
function cutUp(body: ReadableStream<Uint8Array>, size: number): void {
  const reader = body.getReader()
  let bytes = new Uint8Array()
  const read = async () => {
    if (bytes.length === 0) {
      const { done, value } = await reader.read()
      if (done) return { done, value }
      bytes = value as Uint8Array<ArrayBuffer>
    }
    const value = bytes.subarray(0, size)
    bytes = bytes.subarray(size)
    return { done: false, value }
  }
  const cutReader = { read, cancel: (reason: unknown) => reader.cancel(reason), releaseLock() {} }
  body.getReader = (() => cutReader) as unknown as typeof body.getReader
}

async function inParallel<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>) {
  const results: Exclude<Result, undefined>[] = []
  const queue = items.values()
  const worker = async () => {
    for (const item of queue) {
      const result = await work(item)
      if (result !== undefined) results.push(result as Exclude<Result, undefined>)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  return results
}

/** The indexes of all recordings, in this many parts of similar size. */
function sliced(count: number): (readonly [number, number[]])[] {
  return Array.from({ length: count }, (_, slice) => {
    return [slice, recordings.flatMap((_, index) => (index % count === slice ? [index] : []))] as const
  })
}

/** For each kind the shortest recording with text and the shortest with calls. */
function examples(): (readonly [kind: string, content: string, index: number])[] {
  const lengthAt = (index: number) => (recordings[index] as Recording).resp.length
  return ["chat", "responses", "anthropic"].flatMap((kind) => {
    const finished = recordings.flatMap((recording, index) =>
      recording.kind === kind && recording.exp.fin ? [index] : [],
    )
    const [speaking, calling] = [false, true].map((calls) => {
      const fitting = finished.filter((index) => (recordings[index] as Recording).exp.tools.length > 0 === calls)
      return fitting.sort((a, b) => lengthAt(a) - lengthAt(b))[0]
    })
    if (speaking === undefined || calling === undefined) return []
    return [[kind, "words", speaking] as const, [kind, "calls", calling] as const]
  })
}
