import { z } from "zod"
import { ids, JsonObject } from "../schema.ts"
import { ReplySettings } from "./reply-settings.ts"

/** One item of client context, such as a profile or a document, as the model sees it. */
export const ClientContext = z.object({ name: z.string(), text: z.string() })
export type ClientContext = z.infer<typeof ClientContext>

/** The client's own history, for a conversation that does not have it. */
export const CLIENT_HISTORY = "conversation_history"

/** The most files in one message. */
export const MAX_FILES = 10
/** The most bytes in one file. */
export const MAX_MESSAGE_FILE_BYTES = 25_000_000
/** The most characters in a file name. */
export const MAX_MESSAGE_FILE_NAME = 200

/** A file attached to a message or a result. It holds no bytes: read them by the file's id. */
export const MessageFile = z.object({
  id: ids.file,
  name: z.string(),
  /** The media type, detected from the content. */
  type: z.string(),
  /** In bytes. */
  size: z.number().int(),
  /** For an image, in pixels. */
  width: z.number().int().optional(),
  height: z.number().int().optional(),
  /** For a file of the work folder: its path there, and whether the user trusts that folder. */
  path: z.string().optional(),
  folder: z.enum(["trusted", "untrusted"]).optional(),
})
export type MessageFile = z.infer<typeof MessageFile>

/** A file of the work folder, as the client sends it. */
export const WorkFile = z.strictObject({ id: ids.file, path: z.string().min(1).max(4096), trusted: z.boolean() })
export type WorkFile = z.infer<typeof WorkFile>

/** The response to an upload. Uploading the same bytes again returns the same file. */
export const UploadedFile = MessageFile.extend({
  sha256: z.string(),
  /** When these bytes were last uploaded. */
  createdAt: z.string(),
  /** When the file is deleted unless a message uses it; null if one does. */
  expiresAt: z.string().nullable(),
})
export type UploadedFile = z.infer<typeof UploadedFile>

/** The image types that models and pages display. Other types are treated as plain files. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const

/** Returns true for the image types in `IMAGE_TYPES`, which models and pages display. */
export const isImageType = (type: string): boolean => (IMAGE_TYPES as readonly string[]).includes(type)

/**
 * The outcome of a tool call. The tool reports `ok` or `error`; the server sets the others. `CallResult` has it with
 * the text for the model, and `CallOutcome` is what a device returns.
 */
export const CallStatus = z.enum([
  "ok",
  "error",
  "denied",
  "rejected",
  "expired",
  "superseded",
  "timed_out",
  "cancelled",
  "interrupted",
  "in_doubt",
])
export type CallStatus = z.infer<typeof CallStatus>

/**
 * The model's thinking before its reply, as far as the provider returns it as text. Encrypted thinking is not included.
 */
export const Reasoning = z.object({
  text: z.string(),
  /** How long it took in milliseconds, if it was streamed. */
  ms: z.number().optional(),
  /** True for long thinking in a list: `text` is its beginning. */
  truncated: z.literal(true).optional(),
})
export interface Reasoning extends Readonly<z.infer<typeof Reasoning>> {}

/** The separator between two thinking blocks. */
export const THINKING_SEPARATOR = "\n\n"

/** A part of a reply. */
type AnyPart =
  | { readonly type: string }
  | { readonly type: "reasoning"; readonly text: string; readonly ms?: number | undefined }

/** Joins the thinking of a reply; undefined if it has none as text. */
export function reasoningOf(parts: readonly AnyPart[]): Reasoning | undefined {
  // Most replies have none, so this check is worth a pass over the parts.
  if (!parts.some(({ type }) => type === "reasoning")) return undefined
  const blocks = parts.flatMap((part) => (part.type === "reasoning" && "text" in part ? [part] : []))
  const text = blocks.flatMap((block) => (block.text.trim() === "" ? [] : [block.text])).join(THINKING_SEPARATOR)
  if (text === "") return undefined
  const timed = blocks.flatMap(({ ms }) => (ms === undefined ? [] : [ms]))
  return timed.length === 0 ? { text } : { text, ms: timed.reduce((sum, ms) => sum + ms, 0) }
}

/** A part of a message that is text. */
export const TextPart = z.object({ type: z.literal("text"), text: z.string() })

/** A model's thinking. It is sent back only to the `model` that wrote it, with the provider's `metadata` unchanged. */
export const ReasoningPart = z.object({
  type: z.literal("reasoning"),
  text: z.string(),
  model: z.string(),
  metadata: z.unknown().optional(),
  /** How long it took in milliseconds, if it was streamed. */
  ms: z.number().optional(),
})

/** A tool call. `invalidInput` has the arguments as the model wrote them if they were not a JSON object. */
export const CallPart = z.object({
  type: z.literal("call"),
  id: ids.call,
  name: z.string(),
  input: JsonObject,
  invalidInput: z.string().optional(),
  metadata: z.unknown().optional(),
})

/** A part of a model's reply: text, thinking, or a tool call. */
export const Part = z.discriminatedUnion("type", [TextPart, ReasoningPart, CallPart])
export type TextPart = z.infer<typeof TextPart>
export type ReasoningPart = z.infer<typeof ReasoningPart>
export type CallPart = z.infer<typeof CallPart>
export type Part = z.infer<typeof Part>

/** Whose API key paid for a model call: the user's own (`own`) or the operator's (`shared`). */
export const PaidBy = z.enum(["own", "shared"])
export type PaidBy = z.infer<typeof PaidBy>

/** The usage of a model call, as the provider counted it; `null` if it did not. */
export const Usage = z.object({
  inputTokens: z.number().nullable(),
  outputTokens: z.number().nullable(),
  /** Input tokens read from the provider's cache, and written to it. */
  cachedTokens: z.number().nullable().optional(),
  cacheWriteTokens: z.number().nullable().optional(),
  reasoningTokens: z.number().nullable().optional(),
  /** In US dollars; null if the price is unknown. */
  cost: z.number().nullable().optional(),
  provider: z.string().optional(),
  paidBy: PaidBy.optional(),
})
export type Usage = z.infer<typeof Usage>

/**
 * Why a reply ended. `limit`: the provider's output limit. `unknown`: the provider gave no reason. `cancelled`: a user
 * cancelled it. `broken`: it failed after this text was shown.
 */
export const Finish = z.enum(["stop", "calls", "limit", "refused", "unknown", "cancelled", "broken"])
export type Finish = z.infer<typeof Finish>

/** Explains why a completed run has no answer, from how its last reply ended: a clause without a full stop. */
export function missingAnswerReason(finish: Finish | undefined): string {
  const why: Partial<Record<Finish, string>> = {
    calls: "the model still asked for tools after the limit of rounds, when it had to answer",
    limit: "the model reached its output limit",
    refused: "the provider refused to answer (content filter)",
  }
  return why[finish ?? "stop"] ?? "the model replied with no text"
}

/** Explains in one sentence why a completed run has no answer, for clients that show only the answer. */
export const missingAnswerText = (finish: Finish | undefined): string =>
  `There is no answer: ${missingAnswerReason(finish)}.`

/** How a model's reply can end, without the ends that the server adds (`cancelled` and `broken`). */
export type ReplyFinish = Exclude<Finish, "cancelled" | "broken">

/** A tool call as the API returns it with a message: its id, the tool and the arguments. */
export const CallView = z.object({ id: ids.call, name: z.string(), input: JsonObject })

/** A message as the API returns it. */
export const Message = z.object({
  id: ids.message,
  seq: z.number().int(),
  role: z.enum(["user", "assistant", "tool"]),
  content: z.string(),
  toolCalls: z.array(CallView).nullable(),
  toolCallId: ids.call.nullable(),
  data: z.unknown().optional(),
  /** For a user's message: the client context, as the model saw it. */
  brought: z.array(ClientContext).optional(),
  /** For a user's message: its reply settings. */
  settings: ReplySettings.optional(),
  files: z.array(MessageFile).optional(),
  /** For a user's message: the JSON schema for its answer. */
  schema: JsonObject.optional(),
  /** For a tool's message: how its call ended, and how long it took in milliseconds. */
  status: CallStatus.optional(),
  ms: z.number().optional(),
  /** For a reply: why it ended, the model, and the usage. */
  finish: Finish.optional(),
  model: z.string().optional(),
  usage: Usage.optional(),
  /** For a reply: the model's thinking, as far as the provider returns it as text. */
  reasoning: Reasoning.optional(),
  /** For a long message in a list: `content` is its beginning, and `length` is the length of the whole. */
  truncated: z.literal(true).optional(),
  length: z.number().int().optional(),
  createdAt: z.string(),
})
export type Message = z.infer<typeof Message>
/**
 * Returns `missingAnswerText` for the last reply of a completed run, or undefined if it has text or calls that ran. A run
 * that undoes a change, for example, ends with its call and needs no answer.
 */
export function missingAnswer(last: Pick<Message, "content" | "toolCalls" | "finish"> | undefined): string | undefined {
  if (!last || last.content.trim() !== "" || (last.toolCalls ?? []).length > 0) return undefined
  return missingAnswerText(last.finish)
}

/** The most characters in a generated title. */
const MAX_TITLE = 60
/**
 * The most characters of a message to read for a title: every load of a conversation does this, and messages can be
 * long.
 */
const MAX_READ = 1000

/**
 * Returns the first words of a message as a title, until a user or a model sets another. The server and the clients
 * both use this function, so that they show the same title.
 */
export function titleOf(text: string): string {
  const start = text.trimStart().slice(0, MAX_READ)
  const line = start.toWellFormed().replaceAll(/\s+/g, " ").trim()
  const characters = [...line]
  if (characters.length <= MAX_TITLE) return line
  const cut = characters.slice(0, MAX_TITLE).join("")
  return `${cut.replace(/\s+\S*$/, "") || cut}…`
}
