/** The wire formats between a client and a provider: OpenAI's two, and Anthropic's. */
export type Wire = "completions" | "responses" | "messages"

export interface OfferedTool {
  readonly name: string
  readonly schema: { readonly properties?: Record<string, { readonly type?: string }>; readonly required?: string[] }
}

/** The contents of a request, independent of its wire format. */
export interface RecordedRequest {
  readonly tools: readonly OfferedTool[]
  /** The ids of the calls in the history, and of those with a result. */
  readonly calls: readonly string[]
  readonly results: ReadonlyMap<string, string>
  /** The model's previous replies. */
  readonly said: string
  /** The whole request as text, for searches. */
  readonly raw: string
}

type Json = Record<string, unknown>

export function read(wire: Wire, body: Json): RecordedRequest {
  const tools = list(body.tools).flatMap((tool): OfferedTool[] => {
    const inner = (tool.function ?? tool) as Json
    const schema = (inner.parameters ?? inner.input_schema ?? {}) as OfferedTool["schema"]
    return typeof inner.name === "string" ? [{ name: inner.name, schema }] : []
  })
  const calls: string[] = []
  const results = new Map<string, string>()
  let said = ""
  for (const part of partsOf(wire, body)) {
    if ("call" in part) calls.push(part.call)
    if ("result" in part) results.set(part.result, part.text)
    if ("said" in part) said += part.said
  }
  return { tools, calls, results, said, raw: JSON.stringify(body) }
}

type Told = { readonly call: string } | { readonly result: string; readonly text: string } | { readonly said: string }

function partsOf(wire: Wire, body: Json): Told[] {
  if (wire === "responses") return list(body.input).flatMap(ofItem)
  return list(body.messages).flatMap((message) => [
    ...list(message.tool_calls).map((call) => ({ call: String(call.id) })),
    ...(message.role === "tool" ? [{ result: String(message.tool_call_id), text: words(message.content) }] : []),
    ...(message.role === "assistant" ? [{ said: words(message.content) }] : []),
    ...list(message.content).flatMap((block): Told[] => {
      if (block.type === "tool_use") return [{ call: String(block.id) }]
      if (block.type === "tool_result") return [{ result: String(block.tool_use_id), text: words(block.content) }]
      return []
    }),
  ])
}

function ofItem(item: Json): Told[] {
  if (item.type === "function_call") return [{ call: String(item.call_id) }]
  if (item.type === "function_call_output") return [{ result: String(item.call_id), text: words(item.output) }]
  return item.role === "assistant" ? [{ said: words(item.content) }] : []
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])

const words = (content: unknown): string =>
  typeof content === "string"
    ? content
    : list(content)
        .map(({ text }) => (typeof text === "string" ? text : ""))
        .join("")
