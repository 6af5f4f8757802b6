import { z } from "zod"
import { boundedList } from "../../shared/text/bounded-list.ts"
import { ReplySettings } from "../conversation/reply-settings.ts"
import { ids, JsonObject } from "../schema.ts"

/**
 * OpenAI's Chat Completions API. Of its fields, those with an effect are here, and those that are ignored, which the
 * header `X-Pawl-Ignored` names. All others are refused by name, because they would change the answer.
 */

const Name = z.string().min(1).max(400)
/** A field that is accepted with any value and ignored. */
const passedOver = z.unknown().optional()

const Part = z.looseObject({ type: z.string().max(100), text: z.string().optional() })
export const OpenAiContent = z.union([z.string(), boundedList(Part, 256)])
export type OpenAiContent = z.infer<typeof OpenAiContent>

/** The format of the answer: text, JSON, or JSON that fits a schema. */
export const OpenAiFormat = z.looseObject({ type: z.enum(["text", "json_object", "json_schema"]) })

const sampling = { top_p: passedOver, seed: passedOver, logit_bias: passedOver }
const bookkeeping = {
  ...{ user: passedOver, metadata: passedOver, safety_identifier: passedOver, service_tier: passedOver },
  ...{ prompt_cache_key: passedOver, prompt_cache_retention: passedOver, verbosity: passedOver },
}

/** Features that are not supported: accepted only if they are turned off. */
const tools = () => ({
  tools: z.unknown().optional(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: ReplySettings.shape.parallelCalls.nullish(),
  logprobs: z.unknown().optional(),
  top_logprobs: z.unknown().optional(),
})

const { temperature, stop, effort, maxOutputTokens } = ReplySettings.shape

export const ChatCompletionRequest = z.strictObject({
  model: Name,
  messages: boundedList(z.looseObject({ role: z.string().max(40), content: OpenAiContent.nullish() }), 10_000, {
    least: 1,
  }),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  temperature: temperature.nullish(),
  max_tokens: maxOutputTokens.nullish(),
  max_completion_tokens: maxOutputTokens.nullish(),
  stop: stop.nullish(),
  reasoning_effort: effort.nullish(),
  response_format: OpenAiFormat.nullish(),
  ...tools(),
  ...{ n: z.unknown().optional(), functions: z.unknown().optional(), function_call: z.unknown().optional() },
  ...{ audio: z.unknown().optional(), modalities: z.unknown().optional(), prediction: z.unknown().optional() },
  web_search_options: z.unknown().optional(),
  ...sampling,
  ...bookkeeping,
  ...{ frequency_penalty: passedOver, presence_penalty: passedOver, store: passedOver },
})
export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequest>

/** Pawl's additions to OpenAI's response: the ids of the conversation, and what waits for a person. */
export const PawlExtras = z.object({
  conversation_id: ids.conversation,
  run_id: ids.run,
  status: z.enum(["paused", "completed"]),
  proposals: z.array(z.object({ id: ids.proposal, summary: z.string(), expires_at: z.string() })),
})
export type PawlExtras = z.infer<typeof PawlExtras>

const ChatUsage = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
  prompt_tokens_details: z.object({ cached_tokens: z.number() }),
  completion_tokens_details: z.object({ reasoning_tokens: z.number() }),
})
export type ChatUsage = z.infer<typeof ChatUsage>

export const FinishReason = z.enum(["stop", "length", "content_filter", "tool_calls"])
export type FinishReason = z.infer<typeof FinishReason>

/** A function of the caller's that is to be called. */
export const ChatToolCall = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
})
export type ChatToolCall = z.infer<typeof ChatToolCall>

export const ChatCompletion = z.object({
  id: z.string(),
  object: z.literal("chat.completion"),
  created: z.number().int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.number().int(),
      message: z.object({
        role: z.literal("assistant"),
        content: z.string().nullable(),
        refusal: z.null(),
        tool_calls: z.array(ChatToolCall).optional(),
      }),
      logprobs: z.null(),
      finish_reason: FinishReason,
    }),
  ),
  usage: ChatUsage.optional(),
  pawl: PawlExtras,
})
export type ChatCompletion = z.infer<typeof ChatCompletion>

export const OpenAiModel = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.number().int(),
  owned_by: z.string(),
})
export type OpenAiModel = z.infer<typeof OpenAiModel>

export const OpenAiModels = z.object({ object: z.literal("list"), data: z.array(OpenAiModel) })
export type OpenAiModels = z.infer<typeof OpenAiModels>

/** An error in OpenAI's format. `code` is Pawl's stable code. */
export const OpenAiError = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() }),
})
export type OpenAiError = z.infer<typeof OpenAiError>

export const JsonSchemaFormat = z.looseObject({ schema: JsonObject })

const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    object: z.literal("list"),
    data: z.array(item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })

/** An uploaded file. Its purpose is not stored. */
export const OpenAiFile = z.object({
  id: ids.file,
  object: z.literal("file"),
  bytes: z.number().int(),
  created_at: z.number().int(),
  expires_at: z.number().int().optional(),
  filename: z.string(),
  purpose: z.literal("user_data"),
  status: z.literal("processed"),
})
export type OpenAiFile = z.infer<typeof OpenAiFile>

export const OpenAiFiles = listOf(OpenAiFile)
export type OpenAiFiles = z.infer<typeof OpenAiFiles>

export const OpenAiFilesQuery = z.object({
  limit: z.coerce.number().int().min(1).max(10_000).default(10_000),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: ids.file.optional(),
  purpose: z.string().max(100).optional(),
})
export type OpenAiFilesQuery = z.infer<typeof OpenAiFilesQuery>

export const OpenAiFileDeleted = z.object({ id: ids.file, object: z.literal("file"), deleted: z.literal(true) })
export type OpenAiFileDeleted = z.infer<typeof OpenAiFileDeleted>

/** The most texts of one request for embeddings. */
const MAX_TEXTS = 256
const EmbeddedText = z.string().min(1)

export const EmbeddingRequest = z.strictObject({
  model: Name,
  input: z.union([EmbeddedText, boundedList(EmbeddedText, MAX_TEXTS, { least: 1 })], {
    error: `must be a text, or up to ${MAX_TEXTS} texts, none of them empty; tokens are not supported`,
  }),
  encoding_format: z.enum(["float", "base64"]).nullish(),
  dimensions: z.number().int().nullish(),
  user: passedOver,
})
export type EmbeddingRequest = z.infer<typeof EmbeddingRequest>

export const OpenAiEmbeddings = z.object({
  object: z.literal("list"),
  model: z.string(),
  data: z.array(
    z.object({
      object: z.literal("embedding"),
      index: z.number().int(),
      /** In base64: 32-bit floats, little-endian. */
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  /** Estimated. */
  usage: z.object({ prompt_tokens: z.number().int(), total_tokens: z.number().int() }),
})
export type OpenAiEmbeddings = z.infer<typeof OpenAiEmbeddings>
