import { z } from "zod"
import {
  type AuditId,
  type DeviceRequestId,
  type CollectionId,
  type ConnectionId,
  type ConversationId,
  type CallId,
  type DocumentId,
  type FileId,
  type InboxId,
  type MessageId,
  type PassageId,
  type ProposalId,
  type QuestionId,
  type ResultId,
  type RunId,
  type SessionId,
  type SharedRunId,
  type TokenId,
  type UserId,
} from "./ids.ts"
import { isStorable } from "../shared/text/text.ts"

/** Basic schemas that the other schemas use. */

const id = <T extends string>(prefix: string) =>
  z
    .string()
    .max(64)
    .regex(new RegExp(`^${prefix}_[0-9A-Za-z_-]+$`), {
      message: `expected an id like ${prefix}_…`,
    }) as unknown as z.ZodType<T, T>

/** A schema for each kind of id. It accepts only texts with the prefix and the format of that kind. */
export const ids = {
  conversation: id<ConversationId>("conv"),
  message: id<MessageId>("msg"),
  run: id<RunId>("run"),
  call: id<CallId>("call"),
  proposal: id<ProposalId>("prop"),
  user: id<UserId>("user"),
  token: id<TokenId>("tok"),
  session: id<SessionId>("sess"),
  inbox: id<InboxId>("in"),
  audit: id<AuditId>("aud"),
  deviceRequest: id<DeviceRequestId>("dreq"),
  connection: id<ConnectionId>("conn"),
  result: id<ResultId>("res"),
  collection: id<CollectionId>("col"),
  document: id<DocumentId>("doc"),
  file: id<FileId>("file"),
  passage: id<PassageId>("psg"),
  question: id<QuestionId>("ques"),
  sharedRun: id<SharedRunId>("shr"),
}

/** Text from a user. Text that cannot be stored is rejected, not corrected. */
export const PersonText = z.string().refine(isStorable, { message: "holds a NUL or half of a surrogate pair" })

/** A JSON object, such as the arguments of a tool. */
export const JsonObject = z.record(z.string(), z.unknown())
export type JsonObject = z.infer<typeof JsonObject>

/**
 * A conversation's permission to write: none (`read-only`), only with approval (`confirm`), or without it (`auto`).
 */
export const Mode = z.enum(["read-only", "confirm", "auto"])
export type Mode = z.infer<typeof Mode>

/** Returns true for any object that is not a list. Its fields are not checked, because there may be very many. */
export const isRow = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const UncheckedRow = z.custom<JsonObject>(isRow, "expected an object")
