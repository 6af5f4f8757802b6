import { z } from "zod"
import { base64, type Check, imageType, objectSchema, Pairs, refuse, shaped, toolName, words } from "./refuse.ts"

const signed = { thoughtSignature: words.optional() }
const args = z.record(z.string(), z.unknown())
const Part = z.union([
  z.strictObject({ text: words, thought: z.literal(true).optional(), ...signed }),
  z.strictObject({
    inlineData: z.strictObject({ mimeType: z.union([imageType, z.literal("application/pdf")]), data: base64 }),
    ...signed,
  }),
  z.strictObject({ functionCall: z.strictObject({ id: words.optional(), name: toolName, args }), ...signed }),
  z.strictObject({
    functionResponse: z.strictObject({ id: words.optional(), name: toolName, response: args }),
  }),
])

const Body = z.strictObject({
  contents: z.array(z.strictObject({ role: z.enum(["user", "model"]), parts: z.array(Part).min(1) })).min(1),
  systemInstruction: z.strictObject({ parts: z.array(z.strictObject({ text: words })).min(1) }).optional(),
  generationConfig: z.looseObject({}).optional(),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z
          .array(z.strictObject({ name: toolName, description: words, parametersJsonSchema: objectSchema }))
          .min(1),
      }),
    )
    .min(1)
    .optional(),
  toolConfig: z.strictObject({ functionCallingConfig: z.strictObject({ mode: z.enum(["AUTO", "NONE"]) }) }).optional(),
})

/** A request of Gemini's own format, for a model that requires the thought signatures of its calls. */
export const checkGemini: Check = ({ body }) => {
  const { contents, tools = [], toolConfig } = shaped(Body, body)
  const pairs = new Pairs()
  const declared = tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name))
  contents.forEach(({ role, parts }, at) => {
    const [place, before] = [`content ${at}`, contents[at - 1]]
    if (role === "model" && before?.role !== "user") refuse(place, "the model does not speak after a person")
    let hasCalled = false
    let called = 0
    for (const part of parts) {
      if ("functionResponse" in part) {
        const { name } = part.functionResponse
        // Without ids they are matched by their positions.
        if (role !== "user") refuse(place, "a result of the model")
        pairs.result(`${at - 1}.${called++}`, place, name)
        continue
      }
      if (role === "user" && before?.role === "model") pairs.closed(place)
      if ("functionCall" in part) {
        if (role !== "model") refuse(place, "a call of a person")
        pairs.call(`${at}.${called++}`, part.functionCall.name, place)
        if (!hasCalled && !part.thoughtSignature) refuse(place, "the first call of a reply has no signature")
        hasCalled = true
      }
      if ("inlineData" in part && role !== "user") refuse(place, "a file of the model")
      if ("thought" in part && role !== "model") refuse(place, "a thought of a person")
    }
    const [last] = parts.slice(-1)
    if (last && "thought" in last && last.thought) refuse(place, "ends with a thought")
  })
  if (contents.at(-1)?.role !== "user") refuse("end", "the last word is the model's own")
  if (toolConfig && declared.length === 0) refuse("toolConfig", "without tools")
  pairs.end(declared)
}
