import { z } from "zod"
import { anyWords, argumentsText, callId, type Check, imageUrl, objectSchema, Pairs, pdfUrl } from "./refuse.ts"
import { refuse, shaped, toolName, words } from "./refuse.ts"

const Item = z.union([
  z.strictObject({ role: z.enum(["system", "developer"]), content: words }),
  z.strictObject({
    role: z.literal("user"),
    content: z
      .array(
        z.discriminatedUnion("type", [
          z.strictObject({ type: z.literal("input_text"), text: words }),
          z.strictObject({ type: z.literal("input_image"), image_url: imageUrl }),
          z.strictObject({ type: z.literal("input_file"), filename: words, file_data: pdfUrl }),
        ]),
      )
      .min(1),
  }),
  z.strictObject({ role: z.literal("assistant"), content: words }),
  z.strictObject({
    type: z.literal("function_call"),
    call_id: callId,
    name: toolName,
    arguments: argumentsText,
  }),
  z.strictObject({ type: z.literal("function_call_output"), call_id: callId, output: anyWords }),
  z.strictObject({
    type: z.literal("reasoning"),
    id: words,
    encrypted_content: words,
    summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: anyWords })),
  }),
])

const Body = z.strictObject({
  model: words,
  input: z.array(Item).min(1),
  // The provider stores nothing, so items cannot be referenced: they are sent whole.
  store: z.literal(false),
  include: z.array(z.literal("reasoning.encrypted_content")).optional(),
  stream: z.literal(true),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        name: toolName,
        description: words,
        parameters: objectSchema,
        strict: z.literal(false).optional(),
      }),
    )
    .min(1)
    .optional(),
  tool_choice: z.enum(["auto", "none"]).optional(),
  max_output_tokens: z.number().int().min(16).optional(),
  reasoning: z.strictObject({ effort: z.string().optional(), summary: z.string().optional() }).optional(),
  text: z.looseObject({}).optional(),
  parallel_tool_calls: z.boolean().optional(),
})

const kindOf = (item: z.infer<typeof Item> | undefined): string | undefined =>
  item && ("role" in item ? item.role : item.type)

/** A request of OpenAI's responses. */
export const checkResponses: Check = ({ body }) => {
  const { input, tools = [], tool_choice } = shaped(Body, body)
  const pairs = new Pairs()
  const thoughts = new Set<string>()
  input.forEach((item, at) => {
    const [place, kind, before, after] = [`item ${at}`, kindOf(item), kindOf(input[at - 1]), kindOf(input[at + 1])]
    if ("role" in item) {
      pairs.closed(place)
      if ((kind === "system" || kind === "developer") && at > 0) refuse(place, "instructions in the middle")
      if (kind === "assistant" && (before === undefined || before === "system" || before === "developer"))
        refuse(place, "opens with the model")
      return
    }
    if (item.type === "function_call_output") return pairs.result(item.call_id, place)
    if (item.type === "function_call") {
      if (before === "function_call_output" && !isNewTurn(pairs)) refuse(place, "a call among results")
      return pairs.call(item.call_id, item.name, place)
    }
    // Thinking comes before the item it led to, each once.
    if (after !== "assistant" && after !== "function_call" && after !== "reasoning")
      refuse(place, `thinking that leads to ${after ?? "nothing"}`)
    if (thoughts.has(item.id)) refuse(place, `the thought ${item.id} comes twice`)
    thoughts.add(item.id)
  })
  const last = kindOf(input.at(-1))
  if (last !== "user" && last !== "function_call_output") refuse("end", `the last item is ${last}`)
  if (tool_choice && tools.length === 0) refuse("tool_choice", "without tools")
  pairs.end(tools.map(({ name }) => name))
}

/** All calls so far have their results. */
function isNewTurn(pairs: Pairs): boolean {
  try {
    pairs.closed("")
    return true
  } catch {
    return false
  }
}
