import { jsonLimits, tryReadJson } from "../../../shared/text/read-json.ts"

type Fetch = typeof globalThis.fetch

/** A `fetch` whose streams of chat completions are as the adapter wants them, from servers that write them loosely. */
export function mendedFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok || !response.body) return response
    const { status, statusText, headers } = response
    return new Response(mended(response.body), { status, statusText, headers })
  }
}

function mended(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  // Read by hand: whoever watches this stream sees what goes through its reader.
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  /** The pieces of a line that has not ended. Joined when it does: looked through with each, a long one would take for ever. */
  let rest: string[] = []
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { done, value } = await reader.read()
        const piece = done ? decoder.decode() : decoder.decode(value, { stream: true })
        const end = piece.lastIndexOf("\n") + 1
        let text = ""
        if (end > 0) {
          text = `${rest.join("")}${piece.slice(0, end)}`.split("\n").map(mendedLine).join("\n")
          rest = []
        }
        if (end < piece.length) rest.push(piece.slice(end))
        if (done) text += ended(mendedLine(rest.join("")))
        if (text !== "") controller.enqueue(encoder.encode(text))
        if (done) return controller.close()
        if (text !== "") return
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** The last event, with the blank line that some leave out. One that was cut stays as it is: it is no event. */
function ended(line: string): string {
  return line === "" || line.trim() === "data: [DONE]" || toEvent(line) ? `${line}\n\n` : line
}

/** What may be odd in a line. Inside a text its quotes would have backslashes before them. */
const ODD = /"(?:function_call|arguments)"\s*:\s*\{|"choices"\s*:\s*null/

function mendedLine(line: string): string {
  if (!line.startsWith("data:") || (!ODD.test(line) && line.includes('"choices"'))) return line
  const event = toEvent(line)
  if (!event) return line
  if (isWithoutChoices(event)) return `data: ${JSON.stringify({ ...event, choices: [] })}`
  for (const choice of Array.isArray(event.choices) ? event.choices : []) mendCalls(choice?.delta)
  return `data: ${JSON.stringify(event)}`
}

/** Usage and the like come without a choice; a list of none is how OpenAI says so. What may be an error stays one. */
function isWithoutChoices(event: Event): boolean {
  const isChunk = "usage" in event || event.object === "chat.completion.chunk"
  return isChunk && (event.choices ?? null) === null && !("error" in event)
}

function mendCalls(delta: Delta | null | undefined): void {
  if (!delta) return
  if (delta.function_call && !delta.tool_calls) {
    // As calls were before there could be several.
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
