import { z } from "zod"
import { anyWords, argumentsText, type Check, imageUrl, objectSchema, Pairs, pdfUrl, refuse } from "./refuse.ts"
import { shaped, toolName, words } from "./refuse.ts"

export interface ChatRules {
  readonly callId: RegExp
  /** The provider takes thinking back under this name. */
  readonly thinks: boolean
  /** A user message may follow right after a result. */
  readonly interrupts: boolean
  /** It can report token counts. */
  readonly counts: boolean
}

export const usualChat: ChatRules = { callId: /^[\w-]{1,40}$/, thinks: true, interrupts: true, counts: true }
export const mistralChat: ChatRules = { callId: /^[a-zA-Z0-9]{9}$/, thinks: false, interrupts: false, counts: false }

const Message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: words }),
  z.strictObject({
    role: z.literal("user"),
    content: z.union([
      words,
      z
        .array(
          z.discriminatedUnion("type", [
            z.strictObject({ type: z.literal("text"), text: words }),
            z.strictObject({ type: z.literal("image_url"), image_url: z.strictObject({ url: imageUrl }) }),
            z.strictObject({
              type: z.literal("file"),
              file: z.strictObject({ filename: words, file_data: pdfUrl }),
            }),
          ]),
        )
        .min(1),
    ]),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.union([words, z.null(), z.literal("")]),
    reasoning_content: words.optional(),
    tool_calls: z
      .array(
        z.strictObject({
          id: z.string(),
          type: z.literal("function"),
          function: z.strictObject({ name: toolName, arguments: argumentsText }),
        }),
      )
      .min(1)
      .optional(),
  }),
  z.strictObject({ role: z.literal("tool"), tool_call_id: z.string(), content: anyWords }),
])

const Body = z.strictObject({
  model: words,
  messages: z.array(Message).min(1),
  stream: z.literal(true),
  stream_options: z.strictObject({ include_usage: z.literal(true) }).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({ name: toolName, description: words, parameters: objectSchema }),
      }),
    )
    .min(1)
    .optional(),
  tool_choice: z.enum(["auto", "none"]).optional(),
  max_tokens: z.number().int().positive().optional(),
  reasoning_effort: z.enum(["low", "medium", "high"]).optional(),
  temperature: z.number().optional(),
})

/** A request of OpenAI's chat completions. */
export const checkChat =
  (rules: ChatRules): Check =>
  ({ body }) => {
    const { messages, tools = [], tool_choice, stream_options } = shaped(Body, body)
    const pairs = new Pairs()
    messages.forEach((message, at) => {
      const [place, before] = [`message ${at}`, messages[at - 1]?.role]
      if (message.role === "system" && at > 0) refuse(place, "instructions in the middle")
      if (message.role === "tool") return pairs.result(message.tool_call_id, place)
      pairs.closed(place)
      if (before === undefined && message.role === "assistant") refuse(place, "opens with the model")
      if (message.role === "user" && before === "tool" && !rules.interrupts) refuse(place, "a person after a result")
      if (message.role !== "assistant") return
      if (before === "assistant" || before === "system") refuse(place, `the model speaks after ${before}`)
      if (message.reasoning_content && !rules.thinks) refuse(place, "takes no thinking back")
      if (!message.content && !message.tool_calls) refuse(place, "says nothing")
      for (const { id, function: called } of message.tool_calls ?? []) {
        if (!rules.callId.test(id)) refuse(place, `the id ${id} is not well formed`)
        pairs.call(id, called.name, place)
      }
    })
    if (messages.at(-1)?.role === "assistant") refuse("end", "the last word is the model's own")
    if (tool_choice && tools.length === 0) refuse("tool_choice", "without tools")
    if (stream_options && !rules.counts) refuse("stream_options", "is not known")
    pairs.end(tools.map((tool) => tool.function.name))
  }
