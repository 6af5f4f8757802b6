import { z } from "zod"
import { boundedList, boundedRecord } from "../../shared/text/bounded-list.ts"
import { ids, PersonText } from "../schema.ts"
import { TimeZone } from "../../shared/time/zone.ts"

/**
 * What `useChat` of the AI SDK sends and is told (docs/reference/ai-sdk.md). A message is taken as its client has it: only the last
 * one is read closely, and what is in those before it is words from outside at most.
 */

/** A name that the client has made, of a chat or a message. */
const ClientName = PersonText.min(1).max(200)

/** Tools of a page. */
const MAX_UI_TOOLS = 64

export type UiPart = { readonly type: string } & Readonly<Record<string, unknown>>
/** Its fields are not copied: only those of the last message are read, and a long chat has a hundred thousand. */
export const UiPart = z.custom<UiPart>(isUiPart, "expected an object with a type of at most 200 characters").meta({
  type: "object",
  properties: { type: { type: "string", maxLength: 200 } },
  required: ["type"],
  additionalProperties: {},
})

function isUiPart(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  const { type } = value as { readonly type?: unknown }
  return typeof type === "string" && type.length <= 200
}

export const UiMessage = z.looseObject({
  id: ClientName,
  role: z.enum(["system", "user", "assistant"]),
  parts: boundedList(UiPart, 5000),
})
export type UiMessage = z.infer<typeof UiMessage>

export const UiChatRequest = z.strictObject({
  /** One of our conversations, or any name of the client's: then it is that person's chat of this name. */
  id: ClientName,
  messages: boundedList(UiMessage, 10_000, { least: 1 }),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  messageId: ClientName.nullish(),
  /** Whom a new chat is with. */
  agent: z.string().min(1).max(200).nullish(),
  /** Who answers from now on. */
  model: z.string().min(1).max(200).nullish(),
  /** The database that it works on from now on. */
  connectionId: ids.connection.nullish(),
  timeZone: TimeZone.nullish(),
  /** The page's own tools by their names, which it runs itself. What each is, is read when it is said. */
  tools: boundedRecord(z.record(z.string(), z.unknown()), MAX_UI_TOOLS).nullish(),
})
export type UiChatRequest = z.infer<typeof UiChatRequest>

export const UiStreamQuery = z.object({
  /**
   * Whether the newest answer is told also where it has come to its end: for whoever was cut off before they saw it. Without
   * it, where that was a short while ago.
   */
  ended: z.enum(["true", "false"]).optional(),
})

export const UiChatQuery = z.object({
  /** From an answer before: what stands before what that one told. */
  cursor: z.string().max(40).optional(),
})

/** A stop names the run that it is meant for where it knows it: a late one stops no other. The rest is passed over. */
export const UiStopRequest = z.looseObject({ activeStreamId: ids.run.nullish() })

export const UiStopped = z.object({ stopped: z.boolean() })
export type UiStopped = z.infer<typeof UiStopped>

/** The chat as `useChat` begins with it after a reload. */
export const UiChat = z.object({
  conversationId: ids.conversation.nullable(),
  /** The run that is at work or waits for a person. */
  activeStreamId: ids.run.nullable(),
  /** The newest, or those before a cursor, oldest first; there are more before them where `truncated` says so. */
  messages: z.array(z.looseObject({ id: z.string(), role: z.string(), parts: z.array(UiPart) })),
  truncated: z.boolean(),
  /** Leads to what stands before these; null where nothing does. */
  nextCursor: z.string().nullable(),
})
export type UiChat = z.infer<typeof UiChat>
