import { z } from "zod"
import { boundedList } from "../../shared/text/bounded-list.ts"
import { ChatCompletionRequest, OpenAiContent, OpenAiFormat, PawlExtras } from "./openai.ts"

/** OpenAI's Responses API, which refers to previous responses. */

const Id = z.string().min(1).max(100)

/** A message; `type` may be missing. */
const InputItem = z.looseObject({
  type: z.string().max(100).nullish(),
  role: z.string().max(40).nullish(),
  content: OpenAiContent.nullish(),
})

const { model, stream, temperature, max_completion_tokens, reasoning_effort, ...shared } = ChatCompletionRequest.shape
const { tools, tool_choice, parallel_tool_calls, top_logprobs, top_p, user, metadata, safety_identifier } = shared
const { service_tier, prompt_cache_key, prompt_cache_retention, stream_options } = shared

export const ResponseRequest = z.strictObject({
  model,
  input: z.union([z.string(), boundedList(InputItem, 10_000, { least: 1 })]),
  instructions: z.string().nullish(),
  previous_response_id: Id.nullish(),
  conversation: z.union([Id, z.looseObject({ id: Id })]).nullish(),
  stream,
  ...{ stream_options, temperature, max_output_tokens: max_completion_tokens },
  reasoning: z.looseObject({ effort: reasoning_effort }).nullish(),
  text: z.looseObject({ format: OpenAiFormat.nullish() }).nullish(),
  store: z.boolean().nullish(),
  ...{ tools, tool_choice, parallel_tool_calls, top_logprobs },
  background: z.boolean().nullish(),
  prompt: z.unknown().optional(),
  ...{ include: z.unknown().optional(), truncation: z.unknown().optional(), max_tool_calls: z.unknown().optional() },
  ...{ top_p, user, metadata, safety_identifier, service_tier, prompt_cache_key, prompt_cache_retention },
})
export type ResponseRequest = z.infer<typeof ResponseRequest>

const OutputMessage = z.object({
  id: z.string(),
  type: z.literal("message"),
  role: z.literal("assistant"),
  status: z.enum(["in_progress", "completed", "incomplete"]),
  content: z.array(z.object({ type: z.literal("output_text"), text: z.string(), annotations: z.array(z.unknown()) })),
})
export type OutputMessage = z.infer<typeof OutputMessage>

/** A function of the caller's that is to be called. */
const OutputCall = z.object({
  id: z.string(),
  type: z.literal("function_call"),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  status: z.enum(["in_progress", "completed"]),
})
export type OutputCall = z.infer<typeof OutputCall>

const OutputItem = z.union([OutputMessage, OutputCall])
export type OutputItem = z.infer<typeof OutputItem>

const ResponseUsage = z.object({
  input_tokens: z.number(),
  input_tokens_details: z.object({ cached_tokens: z.number() }),
  output_tokens: z.number(),
  output_tokens_details: z.object({ reasoning_tokens: z.number() }),
  total_tokens: z.number(),
})

/** Fields that Open Responses requires and Pawl does not use: always the default. */
const unused = {
  ...{
    top_p: z.literal(1),
    presence_penalty: z.literal(0),
    frequency_penalty: z.literal(0),
    top_logprobs: z.literal(0),
  },
  ...{ max_tool_calls: z.null(), tool_choice: z.literal("auto"), tools: z.array(z.unknown()) },
  ...{ truncation: z.literal("disabled"), service_tier: z.literal("default") },
  ...{ safety_identifier: z.null(), prompt_cache_key: z.null() },
}

export const ResponseAnswered = z.object({
  id: z.string(),
  object: z.literal("response"),
  created_at: z.number().int(),
  completed_at: z.number().int().nullable(),
  status: z.enum(["in_progress", "completed", "incomplete", "failed", "cancelled"]),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z.object({ reason: z.enum(["max_output_tokens", "content_filter"]) }).nullable(),
  instructions: z.string().nullable(),
  model: z.string(),
  output: z.array(OutputItem),
  parallel_tool_calls: z.boolean(),
  previous_response_id: z.string().nullable(),
  conversation: z.object({ id: z.string() }),
  background: z.boolean(),
  max_output_tokens: z.number().nullable(),
  reasoning: z.object({ effort: reasoning_effort.unwrap().nullable(), summary: z.null() }),
  store: z.boolean(),
  temperature: z.number(),
  text: z.object({ format: OpenAiFormat }),
  ...unused,
  metadata: z.object({}),
  usage: ResponseUsage.nullable(),
  pawl: PawlExtras.optional(),
})
export type ResponseAnswered = z.infer<typeof ResponseAnswered>

/** How an existing response is returned: as JSON, or as a stream from its start or after an event. */
export const ResponseQuery = z.object({
  stream: z.enum(["true", "false"]).optional(),
  starting_after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
})
export type ResponseQuery = z.infer<typeof ResponseQuery>

export const ResponseDeleted = z.object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) })
export type ResponseDeleted = z.infer<typeof ResponseDeleted>

export const InputItemsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: z.string().max(200).optional(),
})
export type InputItemsQuery = z.infer<typeof InputItemsQuery>

const status = z.literal("completed")
const ListedItem = z.union([
  z.object({
    ...{ id: z.string(), type: z.literal("message"), role: z.literal("user"), status },
    content: z.array(z.object({ type: z.literal("input_text"), text: z.string() })),
  }),
  z.object({
    ...{ id: z.string(), type: z.literal("function_call_output"), status },
    ...{ call_id: z.string(), output: z.string() },
  }),
])
export type ListedItem = z.infer<typeof ListedItem>

/** The input of a response. */
export const InputItems = z.object({
  object: z.literal("list"),
  data: z.array(ListedItem),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
})
export type InputItems = z.infer<typeof InputItems>

/** A conversation's agent, as a model's name, and its title. Other metadata is not stored. */
const ConversationMetadata = z.strictObject(
  { model: z.string().min(1).max(400).optional(), title: z.string().trim().min(1).max(200).optional() },
  { error: (issue) => (issue.code === "unrecognized_keys" ? "only model and title are stored" : undefined) },
)

export const NewOpenAiConversation = z.strictObject({
  metadata: ConversationMetadata.nullish(),
  items: boundedList(InputItem, 20).nullish(),
})
export type NewOpenAiConversation = z.infer<typeof NewOpenAiConversation>

export const OpenAiConversationPatch = z.strictObject({ metadata: ConversationMetadata.nullish() })
export type OpenAiConversationPatch = z.infer<typeof OpenAiConversationPatch>

export const OpenAiConversation = z.object({
  id: z.string(),
  object: z.literal("conversation"),
  created_at: z.number().int(),
  metadata: ConversationMetadata,
})
export type OpenAiConversation = z.infer<typeof OpenAiConversation>

export const OpenAiConversationDeleted = z.object({
  id: z.string(),
  object: z.literal("conversation.deleted"),
  deleted: z.literal(true),
})
export type OpenAiConversationDeleted = z.infer<typeof OpenAiConversationDeleted>

const UserContent = z.union([
  z.object({ type: z.literal("input_text"), text: z.string() }),
  z.object({
    ...{ type: z.literal("input_image"), file_id: z.string() },
    ...{ image_url: z.null(), detail: z.literal("auto") },
  }),
  z.object({ type: z.literal("input_file"), file_id: z.string(), filename: z.string() }),
])

/** A message of a conversation, a call of the caller's function, or its result. */
export const ConversationItem = z.union([
  z.object({
    ...{ id: z.string(), type: z.literal("message"), role: z.literal("user"), status },
    content: z.array(UserContent),
  }),
  OutputItem,
  z.object({
    ...{ id: z.string(), type: z.literal("function_call_output"), status },
    ...{ call_id: z.string(), output: z.string() },
  }),
])
export type ConversationItem = z.infer<typeof ConversationItem>

export const ConversationItems = InputItems.extend({ data: z.array(ConversationItem) })
export type ConversationItems = z.infer<typeof ConversationItems>

/** Refused with a reason, whatever it contains. */
export const NewItems = z.looseObject({})

const { input, previous_response_id, instructions, conversation, reasoning, text, truncation } = ResponseRequest.shape

/** The fields of a response that decide what is sent to the model. */
export const InputTokensRequest = z.strictObject({
  ...{ model, input: input.nullish(), previous_response_id, instructions, conversation, reasoning, text },
  ...{ tools, tool_choice, parallel_tool_calls, truncation },
})
export type InputTokensRequest = z.infer<typeof InputTokensRequest>

export const InputTokens = z.object({ object: z.literal("response.input_tokens"), input_tokens: z.number().int() })
export type InputTokens = z.infer<typeof InputTokens>

export const CompactRequest = z.strictObject({
  ...{ model, input: input.nullish(), previous_response_id, instructions },
  ...{ prompt_cache_key, prompt_cache_retention, prompt_cache_options: z.unknown().optional() },
})
export type CompactRequest = z.infer<typeof CompactRequest>

/** A summarized conversation. As part of an input, its one item continues the conversation. */
export const CompactedResponse = z.object({
  id: z.string(),
  object: z.literal("response.compaction"),
  created_at: z.number().int(),
  output: z.array(z.object({ id: z.string(), type: z.literal("compaction"), encrypted_content: z.string() })),
  usage: ResponseUsage,
})
export type CompactedResponse = z.infer<typeof CompactedResponse>
