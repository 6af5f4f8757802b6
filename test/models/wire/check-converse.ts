import { z } from "zod"
import { base64, type Check, objectSchema, Pairs, refuse, shaped, toolName, words } from "./refuse.ts"

const id = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/)
const bytes = z.strictObject({ bytes: base64 })
const CachePoint = z.strictObject({ cachePoint: z.strictObject({ type: z.literal("default") }) })
const Block = z.union([
  z.strictObject({ text: words }),
  z.strictObject({ image: z.strictObject({ format: z.enum(["png", "jpeg", "gif", "webp"]), source: bytes }) }),
  z.strictObject({
    document: z.strictObject({
      format: z.literal("pdf"),
      // A user's file name may be an instruction: Converse allows few characters.
      name: z.string().regex(/^(?!.*\s\s)[a-zA-Z0-9\s()[\]-]{1,200}$/),
      source: bytes,
      citations: z.looseObject({}).optional(),
    }),
  }),
  z.strictObject({
    toolUse: z.strictObject({ toolUseId: id, name: toolName, input: z.record(z.string(), z.unknown()) }),
  }),
  z.strictObject({
    toolResult: z.strictObject({
      toolUseId: id,
      content: z.array(z.strictObject({ text: words })).min(1),
      status: z.enum(["success", "error"]).optional(),
    }),
  }),
  z.strictObject({
    reasoningContent: z.union([
      z.strictObject({ reasoningText: z.strictObject({ text: words, signature: words }) }),
      z.strictObject({ redactedContent: words }),
    ]),
  }),
  CachePoint,
])

const Body = z.strictObject({
  messages: z.array(z.strictObject({ role: z.enum(["user", "assistant"]), content: z.array(Block).min(1) })).min(1),
  system: z
    .array(z.union([z.strictObject({ text: words }), CachePoint]))
    .min(1)
    .optional(),
  inferenceConfig: z
    .strictObject({
      ...{ maxTokens: z.number().int().positive().optional(), temperature: z.number().min(0).max(1).optional() },
      stopSequences: z.array(words).optional(),
    })
    .optional(),
  additionalModelRequestFields: z
    .strictObject({
      thinking: z
        .discriminatedUnion("type", [
          z.strictObject({ type: z.literal("enabled"), budget_tokens: z.number().int().min(1024) }),
          z.strictObject({ type: z.literal("adaptive"), display: z.literal("summarized").optional() }),
          z.strictObject({ type: z.literal("disabled") }),
        ])
        .optional(),
      output_config: z.strictObject({ effort: z.enum(["low", "medium", "high", "xhigh", "max"]) }).optional(),
    })
    .optional(),
  additionalModelResponseFieldPaths: z.array(z.string()).optional(),
  toolConfig: z
    .strictObject({
      tools: z
        .array(
          z.strictObject({
            toolSpec: z.strictObject({
              ...{ name: toolName, description: words, inputSchema: z.strictObject({ json: objectSchema }) },
            }),
          }),
        )
        .min(1),
      toolChoice: z.strictObject({ auto: z.strictObject({}) }).optional(),
    })
    .optional(),
})

type Request = z.infer<typeof Body>

/** At most four, each after some content, and never after thinking. */
function checkPoints({ system = [], messages }: Request): void {
  const lists: readonly (readonly object[])[] = [system, ...messages.map(({ content }) => content)]
  const before = lists.flatMap((list) => list.flatMap((block, at) => ("cachePoint" in block ? [list[at - 1]] : [])))
  if (before.length > 4) refuse("cachePoint", `there are ${before.length} of four`)
  for (const block of before) {
    if (!block || "cachePoint" in block) refuse("cachePoint", "there is nothing to keep")
    if ("reasoningContent" in block) refuse("cachePoint", "it stands behind thinking")
  }
}

/**
 * As in Anthropic's messages: it leaves room for text, allows no temperature, and comes before the calls of a reply.
 */
function checkThinking({ messages, inferenceConfig = {}, additionalModelRequestFields = {} }: Request): void {
  const { thinking } = additionalModelRequestFields
  if (thinking?.type !== "enabled") return
  const { maxTokens, temperature } = inferenceConfig
  if (maxTokens === undefined || thinking.budget_tokens >= maxTokens) refuse("thinking", "takes all of the reply")
  if (temperature !== undefined) refuse("temperature", "beside thinking")
  const asked = messages.findLastIndex(({ role, content }) => {
    return role === "user" && !content.some((block) => "toolResult" in block)
  })
  const [first] = messages.slice(asked + 1).find(({ role }) => role === "assistant")?.content ?? []
  if (first && !("reasoningContent" in first)) refuse("thinking", "a reply with calls does not begin with it")
}

/** A request of Bedrock's Converse. */
export const checkConverse: Check = ({ body }) => {
  const request = shaped(Body, body)
  const { messages, toolConfig } = request
  checkPoints(request)
  checkThinking(request)
  const pairs = new Pairs()
  const names = new Set<string>()
  messages.forEach(({ role, content }, at) => {
    const place = `message ${at}`
    if (role !== (at % 2 === 0 ? "user" : "assistant")) refuse(place, "they do not take turns")
    for (const block of content) {
      if ("toolResult" in block) {
        if (role !== "user") refuse(place, "a result of the model")
        pairs.result(block.toolResult.toolUseId, place)
        continue
      }
      if ("cachePoint" in block) continue
      if (role === "user") pairs.closed(place)
      if (role === "user" && ("toolUse" in block || "reasoningContent" in block)) refuse(place, "a call of a person")
      if (role === "assistant" && ("image" in block || "document" in block)) refuse(place, "a file of the model")
      if ("toolUse" in block) pairs.call(block.toolUse.toolUseId, block.toolUse.name, place)
    }
    const last = content.findLast((block) => !("cachePoint" in block))
    if (last && "reasoningContent" in last) refuse(place, "ends with thinking")
    const hasDocument = content.some((block) => "document" in block)
    if (hasDocument && !content.some((block) => "text" in block)) refuse(place, "a document without words")
    for (const block of content) {
      if (!("document" in block)) continue
      if (names.has(block.document.name)) refuse(place, `a second document is called ${block.document.name}`)
      names.add(block.document.name)
    }
  })
  if (messages.at(-1)?.role === "assistant") refuse("end", "the last word is the model's own")
  pairs.end(toolConfig?.tools.map(({ toolSpec }) => toolSpec.name) ?? [])
}
