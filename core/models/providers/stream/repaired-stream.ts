import { jsonLimits, tryReadJson } from "../../../shared/text/read-json.ts"

type Fetch = typeof globalThis.fetch

/** A `fetch` that repairs loosely written chat-completion streams for the adapter. */
export function repairedFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok || !response.body) return response
    const { status, statusText, headers } = response
    return new Response(repaired(response.body), { status, statusText, headers })
  }
}

function repaired(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  // A manual reader, because `watchedFetch` observes the reader.
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  /** The chunks of an incomplete line, joined when it is complete: joining with each chunk would be quadratic. */
  let rest: string[] = []
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { done, value } = await reader.read()
        const piece = done ? decoder.decode() : decoder.decode(value, { stream: true })
        const end = piece.lastIndexOf("\n") + 1
        let text = ""
        if (end > 0) {
          text = `${rest.join("")}${piece.slice(0, end)}`.split("\n").map(repairLine).join("\n")
          rest = []
        }
        if (end < piece.length) rest.push(piece.slice(end))
        if (done) text += completeLast(repairLine(rest.join("")))
        if (text !== "") controller.enqueue(encoder.encode(text))
        if (done) return controller.close()
        if (text !== "") return
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** Adds the blank line that some servers omit after the last event. An incomplete event stays as it is. */
function completeLast(line: string): string {
  return line === "" || line.trim() === "data: [DONE]" || toEvent(line) ? `${line}\n\n` : line
}

/** Matches a line that may need a repair, but not a text that contains the same: its quotes are escaped. */
const MALFORMED = /"(?:function_call|arguments)"\s*:\s*\{|"choices"\s*:\s*null/

function repairLine(line: string): string {
  if (!line.startsWith("data:") || (!MALFORMED.test(line) && line.includes('"choices"'))) return line
  const event = toEvent(line)
  if (!event) return line
  if (isWithoutChoices(event)) return `data: ${JSON.stringify({ ...event, choices: [] })}`
  for (const choice of Array.isArray(event.choices) ? event.choices : []) repairCalls(choice?.delta)
  return `data: ${JSON.stringify(event)}`
}

/** Usage events have no choice; OpenAI sends an empty list. Possible errors stay unchanged. */
function isWithoutChoices(event: Event): boolean {
  const isChunk = "usage" in event || event.object === "chat.completion.chunk"
  return isChunk && (event.choices ?? null) === null && !("error" in event)
}

function repairCalls(delta: Delta | null | undefined): void {
  if (!delta) return
  if (delta.function_call && !delta.tool_calls) {
    // The old format with a single call.
    delta.tool_calls = [{ index: 0, type: "function", id: "call_0", function: delta.function_call }]
    delete delta.function_call
  }
  for (const { function: called } of delta.tool_calls ?? []) {
    const given = called?.arguments
    if (called && typeof given === "object" && given !== null) called.arguments = JSON.stringify(given)
  }
}

interface Event {
  readonly object?: unknown
  readonly choices?: unknown
}

interface Called {
  arguments?: unknown
}

interface Delta {
  function_call?: Called | null
  tool_calls?: { index?: number; type?: string; id?: string; function?: Called }[]
}

function toEvent(line: string): Event | undefined {
  if (!line.startsWith("data:")) return undefined
  const event = tryReadJson(line.slice("data:".length), jsonLimits.streamEvent)
  return typeof event === "object" && event !== null ? event : undefined
}
