import { z } from "zod"
import {
  anyWords,
  base64,
  type Check,
  imageType,
  objectSchema,
  Pairs,
  refuse,
  shaped,
  toolName,
  words,
} from "./refuse.ts"

const marked = { cache_control: z.strictObject({ type: z.literal("ephemeral") }).optional() }
const id = z.string().regex(/^[a-zA-Z0-9_-]+$/)
const Text = z.strictObject({ type: z.literal("text"), text: words, ...marked })
const Image = z.strictObject({
  type: z.literal("image"),
  source: z.strictObject({ type: z.literal("base64"), media_type: imageType, data: base64 }),
  ...marked,
})
const Document = z.strictObject({
  type: z.literal("document"),
  source: z.strictObject({ type: z.literal("base64"), media_type: z.literal("application/pdf"), data: base64 }),
  title: words.optional(),
  ...marked,
})
const ToolUse = z.strictObject({
  ...{ type: z.literal("tool_use"), id, name: toolName, input: z.record(z.string(), z.unknown()) },
  ...marked,
})
const ToolResult = z.strictObject({
  ...{ type: z.literal("tool_result"), tool_use_id: id, content: anyWords, is_error: z.boolean().optional() },
  ...marked,
})
const Thinking = z.strictObject({ type: z.literal("thinking"), thinking: anyWords, signature: words })
const Redacted = z.strictObject({ type: z.literal("redacted_thinking"), data: words })
const Block = z.discriminatedUnion("type", [Text, Image, Document, ToolUse, ToolResult, Thinking, Redacted])

const Body = z.strictObject({
  model: words,
  max_tokens: z.number().int().positive(),
  system: z.array(Text).min(1).optional(),
  messages: z.array(z.strictObject({ role: z.enum(["user", "assistant"]), content: z.array(Block).min(1) })).min(1),
  stream: z.literal(true),
  tools: z
    .array(
      z.strictObject({
        ...{ name: toolName, description: words, input_schema: objectSchema },
        ...{ eager_input_streaming: z.boolean().optional(), ...marked },
      }),
    )
    .min(1)
    .optional(),
  tool_choice: z
    .strictObject({ type: z.enum(["auto", "none"]), disable_parallel_tool_use: z.boolean().optional() })
    .optional(),
  thinking: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("enabled"), budget_tokens: z.number().int().min(1024) }),
      z.strictObject({ type: z.enum(["disabled", "adaptive"]) }),
    ])
    .optional(),
  temperature: z.number().optional(),
})

const isThinking = (type: string | undefined) => type === "thinking" || type === "redacted_thinking"

/** A request of Anthropic's messages. */
export const checkMessages: Check = ({ body }) => {
  const { messages, tools = [], tool_choice, thinking, max_tokens, temperature } = shaped(Body, body)
  const pairs = new Pairs()
  messages.forEach(({ role, content }, at) => {
    const place = `message ${at}`
    if (role !== (at % 2 === 0 ? "user" : "assistant")) refuse(place, "they do not take turns")
    let hasOther = false
    for (const [index, block] of content.entries()) {
      const here = `${place}, block ${index}`
      const isPersons = ["image", "document", "tool_result"].includes(block.type)
      const isModels = block.type === "tool_use" || isThinking(block.type)
      if (role === "user" ? isModels : isPersons) refuse(here, `a ${block.type} of the ${role}`)
      if (block.type === "tool_result") {
        // Directly after the calls, before anything else.
        if (hasOther) refuse(here, "a result behind other words")
        if (block.is_error && block.content.trim() === "") refuse(here, "an error without a word")
        pairs.result(block.tool_use_id, here)
        continue
      }
      hasOther = true
      if (role === "user") pairs.closed(here)
      if (block.type === "tool_use") pairs.call(block.id, block.name, here)
    }
    if (role === "assistant" && isThinking(content.at(-1)?.type)) refuse(place, "ends with thinking")
  })
  if (messages.at(-1)?.role === "assistant") refuse("end", "the last word is the model's own")
  if (JSON.stringify(body).split('"cache_control"').length > 5) refuse("cache_control", "more than four marks")
  if (tool_choice && tools.length === 0) refuse("tool_choice", "without tools")
  pairs.end(tools.map(({ name }) => name))
  if (thinking?.type !== "enabled") return
  if (thinking.budget_tokens >= max_tokens) refuse("thinking", "takes all of the reply")
  if (temperature !== undefined && temperature !== 1) refuse("temperature", "beside thinking")
  // A reply that continues after calls has to start with its thinking.
  const asked = messages.findLastIndex(({ role, content }) => {
    return role === "user" && !content.some(({ type }) => type === "tool_result")
  })
  const [first] = messages.slice(asked + 1).find(({ role }) => role === "assistant")?.content ?? []
  if (first && !isThinking(first.type)) refuse("thinking", "a reply with calls does not begin with it")
}
