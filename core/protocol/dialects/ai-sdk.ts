import { z } from "zod"
import { boundedList, boundedRecord } from "../../shared/text/bounded-list.ts"
import { ids, PersonText } from "../schema.ts"
import { TimeZone } from "../../shared/time/zone.ts"

/**
 * The requests and streams of `useChat` of the AI SDK (docs/reference/ai-sdk.md). Only the last message is validated
 * closely; earlier ones are at most untrusted text.
 */

/** An id that the client generated for a chat or a message. */
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
  /** The agent of a new chat. */
  agent: z.string().min(1).max(200).nullish(),
  /** The model from now on. */
  model: z.string().min(1).max(200).nullish(),
  /** The database that it works on from now on. */
  connectionId: ids.connection.nullish(),
  timeZone: TimeZone.nullish(),
  /** Tools of the page by name, which it executes itself. Their definitions are validated later. */
  tools: boundedRecord(z.record(z.string(), z.unknown()), MAX_UI_TOOLS).nullish(),
})
export type UiChatRequest = z.infer<typeof UiChatRequest>

export const UiStreamQuery = z.object({
  /**
   * Also repeats the newest answer if it ended recently, for a client that was disconnected before it got all of it.
   */
  ended: z.enum(["true", "false"]).optional(),
})

export const UiChatQuery = z.object({
  /** From an earlier response: messages before those that it contained. */
  cursor: z.string().max(40).optional(),
})

/**
 * A stop names its run if the client knows it, so that a late one does not stop another run. Other fields are ignored.
 */
export const UiStopRequest = z.looseObject({ activeStreamId: ids.run.nullish() })

export const UiStopped = z.object({ stopped: z.boolean() })
export type UiStopped = z.infer<typeof UiStopped>

/** The chat as `useChat` begins with it after a reload. */
export const UiChat = z.object({
  conversationId: ids.conversation.nullable(),
  /** The run that is at work or waits for a person. */
  activeStreamId: ids.run.nullable(),
  /** The newest messages, or those before a cursor, oldest first. `truncated`: there are earlier ones. */
  messages: z.array(z.looseObject({ id: z.string(), role: z.string(), parts: z.array(UiPart) })),
  truncated: z.boolean(),
  /** The cursor for the messages before these; null if there are none. */
  nextCursor: z.string().nullable(),
})
export type UiChat = z.infer<typeof UiChat>
