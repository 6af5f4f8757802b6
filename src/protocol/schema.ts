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
import { isStorable } from "./text/text.ts"
import { lazily } from "./lazily.ts"

/** Small schemas that every other schema is made of. */

const id = <T extends string>(prefix: string) =>
  lazily(() =>
    z
      .string()
      .max(64)
      .regex(new RegExp(`^${prefix}_[0-9A-Za-z_-]+$`), { message: `expected an id like ${prefix}_…` }),
  ) as unknown as z.ZodType<T, T>

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

/** Text from a person: refused, not mended, when it cannot be stored. */
export const PersonText = lazily(() =>
  z.string().refine(isStorable, { message: "holds a NUL or half of a surrogate pair" }),
)

/** A JSON object, as tools take for arguments. */
export const JsonObject = lazily(() => z.record(z.string(), z.unknown()))
export type JsonObject = z.infer<typeof JsonObject>

export const Mode = lazily(() => z.enum(["read-only", "confirm", "auto"]))
export type Mode = z.infer<typeof Mode>
