import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client"
import { failure } from "../../../protocol/errors.ts"
import { jsonLimits, type JsonLimits, JsonMeter } from "../../../shared/text/read-json.ts"
import { declaresHeaders, isFields, isToolName } from "../definition/server.ts"

type Fetch = typeof globalThis.fetch

/**
 * A `fetch` that counts the JSON of answers while they arrive, because the library parses everything. An answer beyond the
 * limits is cut off, and its call fails.
 */
export function boundedFetch(fetch: Fetch, limits: JsonLimits): Fetch {
  return async (input, init) => {
    const { body } = init ?? {}
    const response = await fetch(input, {
      ...init,
      // Forms are sent as plain text.
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

/** The limits of one answer: an image of three megabytes, or a very long text. */
export const answerLimits = jsonLimits.answer

/** Most tools of one page, and parts of one result. */
const MAX_TOOLS = 200
const MAX_PARTS = 1000
/** Most values in a server's request or notification. The largest known form has about two hundred. */
const MAX_PENDING = 2000

/** The fields that are read of a tool, a part of a result, and a resource. */
const TOOL = ["name", "title", "description", "inputSchema", "annotations", "execution"]
const PART = ["type", "text", "data", "mimeType", "resource", "uri", "name", "title"]
const RESOURCE = ["uri", "text", "blob", "mimeType"]

/**
 * Removes what is not read; undefined if it asks for more than a person could answer. The library validates everything and
 * reports each mismatch: a list of a million icons, which are never read, took 30 seconds.
 */
function boundedMessage(message: JSONRPCMessage): JSONRPCMessage | undefined {
  if ("method" in message) return holdsMoreThan(message, MAX_PENDING) ? undefined : message
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
  for (let count = 0; left.length > 0; count++) {
    if (count + left.length > most) return true
    const next = left.pop()
    if (typeof next === "object" && next !== null) for (const each of Object.values(next)) left.push(each)
  }
  return false
}

/** The most messages that a server may send between two of ours. */
const MAX_UNREQUESTED = 2000
/** Most concurrent answers to a server's own requests. */
const MAX_ANSWERS = 32
/** Most characters of a server's request id, which our answer repeats. */
const MAX_ID = 1000
/** How long closing waits for notifications to be sent. */
const NOTIFY_MS = 1000

/** A transport that closes if its server sends far too much. */
export class BoundedTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport["onmessage"]
  readonly #inner: Transport
  readonly #notifying = new Set<Promise<void>>()
  #unsolicited = 0
  #answers = 0
  #isFlooded = false

  constructor(inner: Transport) {
    this.#inner = inner
    inner.onclose = () => this.onclose?.()
    inner.onerror = (error) => this.onerror?.(error)
    inner.onmessage = (message, extra) => {
      if (this.#isFlooded || ("id" in message && String(message.id).length > MAX_ID)) return
      if (++this.#unsolicited > MAX_UNREQUESTED) return this.#flooded(`${MAX_UNREQUESTED} unrequested messages`)
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
    // Only our requests reset the count: otherwise a server could ask forever.
    this.#unsolicited = 0
    const sent = this.#inner.send(message, options)
    if ("id" in message) return sent
    // Notifications, such as a cancellation, are pending until they are sent.
    const sending = sent.then(
      () => void this.#notifying.delete(sending),
      () => void this.#notifying.delete(sending),
    )
    this.#notifying.add(sending)
    return sent
  }

  /** Waits for pending notifications: otherwise a server would never learn of a cancellation. */
  async close(): Promise<void> {
    if (this.#notifying.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const late = setTimeout(resolve, NOTIFY_MS)
      await Promise.race([Promise.all(this.#notifying), promise])
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
