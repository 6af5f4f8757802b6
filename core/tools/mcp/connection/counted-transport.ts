import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client"
import { failure } from "../../../protocol/errors.ts"
import { jsonLimits, type JsonLimits, JsonMeter } from "../../../shared/text/read-json.ts"
import { declaresHeaders, isFields, isToolName } from "../definition/server.ts"

type Fetch = typeof globalThis.fetch

/**
 * A `fetch` whose answers hold no more JSON than these limits allow, counted while they come, because the library parses
 * what it gets. An answer that holds more breaks off, and with it the call that it belongs to.
 */
export function boundedFetch(fetch: Fetch, limits: JsonLimits): Fetch {
  return async (input, init) => {
    const { body } = init ?? {}
    const response = await fetch(input, {
      ...init,
      // Forms are sent as the text that they are.
      ...(body instanceof URLSearchParams ? { body: body.toString() } : {}),
    })
    const { status, statusText, headers } = response
    if (!response.body) return response
    return new Response(response.body.pipeThrough(upTo(limits)), { status, statusText, headers })
  }
}

function upTo(limits: JsonLimits): TransformStream<Uint8Array, Uint8Array> {
  const meter = new JsonMeter(limits)
  return new TransformStream({
    transform(chunk, controller) {
      try {
        meter.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1"))
        controller.enqueue(chunk)
      } catch (error) {
        controller.error(
          failure("mcp_server_failed", { problem: `its answer is too large: ${(error as Error).message}` }),
        )
      }
    },
  })
}

/** What one answer of a server may hold: an image of three megabytes, or a very long text. */
export const answerLimits = jsonLimits.answer

/** Tools of one page of a list, and parts of one result: more than anybody could look through. */
const MAX_TOOLS = 200
const MAX_PARTS = 1000
/** Values in a request or a notification of the server. The largest we know of, a form, has some two hundred. */
const MAX_ASKED = 2000

/** What is read of a tool, of a part of a result, and of a file in one. */
const TOOL = ["name", "title", "description", "inputSchema", "annotations", "execution"]
const PART = ["type", "text", "data", "mimeType", "resource", "uri", "name", "title"]
const RESOURCE = ["uri", "text", "blob", "mimeType"]

/**
 * A message with no more in it than is read, or undefined if it asks us with more than a person could answer. The library
 * checks all that it is given, and describes each item that does not fit, as every kind of part: a list of a million
 * audiences or icons, which we never read, took 30 seconds.
 */
function boundedMessage(message: JSONRPCMessage): JSONRPCMessage | undefined {
  if ("method" in message) return holdsMoreThan(message, MAX_ASKED) ? undefined : message
  if (!("result" in message)) return message
  const { tools, content, serverInfo, ...others } = message.result
  const result = {
    ...others,
    ...(Array.isArray(tools)
      ? {
          tools: tools
            .filter(isNamed)
            .slice(0, MAX_TOOLS)
            .filter(hasHeaders)
            .map((tool) => only(TOOL, tool)),
        }
      : definedOf({ tools })),
    ...(Array.isArray(content) ? { content: content.slice(0, MAX_PARTS).map(toPart) } : definedOf({ content })),
    ...(isFields(serverInfo)
      ? { serverInfo: only(["name", "version", "title"], serverInfo) }
      : definedOf({ serverInfo })),
  }
  return { ...message, result }
}

function toPart(part: unknown): unknown {
  if (!isFields(part)) return part
  const read = only(PART, part)
  return isFields(read.resource) ? { ...read, resource: only(RESOURCE, read.resource) } : read
}

const only = (names: readonly string[], fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name]]] : [])))

const definedOf = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const isNamed = (tool: unknown): tool is Record<string, unknown> => isFields(tool) && isToolName(tool.name)

const hasHeaders = ({ inputSchema }: Record<string, unknown>): boolean => declaresHeaders(inputSchema)

function holdsMoreThan(value: unknown, most: number): boolean {
  const left = [value]
  for (let held = 0; left.length > 0; held++) {
    if (held + left.length > most) return true
    const next = left.pop()
    if (typeof next === "object" && next !== null) for (const each of Object.values(next)) left.push(each)
  }
  return false
}

/** How many messages a server may send between two of ours: progress is told now and then, not ten thousand times. */
const MAX_UNASKED = 2000
/** How many of a server's own questions may be on their way back to it at once: each is a request, or bytes that wait for it. */
const MAX_ANSWERS = 32
/** Characters of what a server calls a question, which our answer repeats. */
const MAX_ID = 1000
/** How long a server may take to hear what it is told last. */
const TELL_MS = 1000

/** A transport that ends where its server says far more than it was asked. */
export class CountedTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport["onmessage"]
  readonly #inner: Transport
  readonly #telling = new Set<Promise<void>>()
  #unasked = 0
  #answers = 0
  #isFlooded = false

  constructor(inner: Transport) {
    this.#inner = inner
    inner.onclose = () => this.onclose?.()
    inner.onerror = (error) => this.onerror?.(error)
    inner.onmessage = (message, extra) => {
      if (this.#isFlooded || ("id" in message && String(message.id).length > MAX_ID)) return
      if (++this.#unasked > MAX_UNASKED) return this.#flooded(`${MAX_UNASKED} unrequested messages`)
      const bounded = boundedMessage(message)
      if (!bounded) return this.#flooded("a person could answer, in one message")
      this.onmessage?.(bounded, extra)
    }
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  start(): Promise<void> {
    return this.#inner.start()
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!("method" in message)) return this.#answer(message, options)
    // Only what we ask for makes room for more: answers would let a server ask for ever.
    this.#unasked = 0
    const sent = this.#inner.send(message, options)
    if ("id" in message) return sent
    // What is only told, such as that a call is cancelled, is on its way until then.
    const told = sent.then(
      () => void this.#telling.delete(told),
      () => void this.#telling.delete(told),
    )
    this.#telling.add(told)
    return sent
  }

  /** Lets what is only told go out first: closed at once, a server would never hear that it need not go on. */
  async close(): Promise<void> {
    if (this.#telling.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const late = setTimeout(resolve, TELL_MS)
      await Promise.race([Promise.all(this.#telling), promise])
      clearTimeout(late)
    }
    await this.#inner.close()
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#inner.setSupportedProtocolVersions?.(versions)
  }

  async #answer(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.#isFlooded) return
    if (this.#answers >= MAX_ANSWERS) return this.#flooded(`${MAX_ANSWERS} questions at once`)
    this.#answers++
    try {
      await this.#inner.send(message, options)
    } finally {
      this.#answers--
    }
  }

  #flooded(what: string): void {
    this.#isFlooded = true
    this.onerror?.(new Error(`it sent more than ${what}`))
    void this.#inner
      .close()
      .catch(() => {})
      .then(() => this.onclose?.())
  }
}
