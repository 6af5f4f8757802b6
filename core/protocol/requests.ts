import { z } from "zod"
import { boundedList } from "../shared/text/bounded-list.ts"
import { MAX_FILES, WorkFile } from "./conversation/message.ts"
import { ProposalStatus } from "./proposals/proposal.ts"
import { ReplySettings, ReplySettingsPatch } from "./conversation/reply-settings.ts"
import { ids, JsonObject, Mode } from "./schema.ts"
import { TimeZone } from "../shared/time/zone.ts"

/** Requests. Unknown fields are rejected, because a misspelt field would otherwise be ignored. */

/** The most bytes in a request body, unless its route has another limit. */
export const MAX_BODY_BYTES = 1024 * 1024

/** The most bytes of JSON rows in one page of a list, unless a single row is larger. */
export const MAX_PAGE_BYTES = 450_000

const Name = z.string().trim().min(1).max(200)

/** The models to try in this order if the chosen one fails. */
const Fallback = boundedList(Name, 8)

/** The body of a request that creates a conversation. Every field is optional. */
export const NewConversation = z.strictObject({
  agent: Name.nullish(),
  model: Name.nullish(),
  fallback: Fallback.nullish(),
  mode: Mode.nullish(),
  title: Name.nullish(),
  connectionId: Name.nullish(),
  site: z.enum(["server", "device"]).nullish(),
  deviceId: Name.nullish(),
  /** The reply settings. */
  settings: ReplySettings.nullish(),
})

/** The body of a request that changes a conversation. Omitted fields stay as they are. */
export const ConversationPatch = z
  .strictObject({
    title: Name.optional(),
    model: Name.optional(),
    /** An empty list: no other model. Null: those of the agent or the server. */
    fallback: Fallback.nullable().optional(),
    mode: Mode.optional(),
    site: z.enum(["server", "device"]).optional(),
    deviceId: Name.nullable().optional(),
    /** Null removes the selected database. */
    connectionId: Name.nullable().optional(),
    /** Omitted settings stay as they are; null removes one. */
    settings: ReplySettingsPatch.optional(),
  })
  .refine((patch) => Object.keys(patch).length > 0, {
    message: "nothing to change: send title, model, fallback, mode, settings, connectionId, site or deviceId",
  })

/** The body of a request that sends a message. `when` says what to do if a run is active. */
export const NewMessage = z.strictObject({
  text: z.string(),
  when: z.enum(["queue", "steer", "reject"]).nullish(),
  maxIterations: z.number().int().min(1).max(20).nullish(),
  /** The user's current time zone. Default: the last one sent in this conversation, or the server's. */
  timeZone: TimeZone.nullish(),
  /** The reply settings for this message's run. They take precedence over those of the conversation. */
  settings: ReplySettings.nullish(),
  /** Ids of files uploaded with POST /api/files. */
  files: boundedList(ids.file, MAX_FILES).nullish(),
  /**
   * Which of these files are in the user's work folder: their paths, and whether the user trusts that folder. Other
   * files may contain third-party text, so later writes need approval.
   */
  workFiles: boundedList(WorkFile, MAX_FILES).nullish(),
  /** True if a person is present to answer questions of MCP servers during a call. Otherwise they are declined. */
  attended: z.boolean().nullish(),
  /**
   * A JSON schema for the answer. A reply that does not fit is sent back to the model for correction, at most twice;
   * after that the run fails.
   */
  schema: JsonObject.nullish(),
})

/** The new text of a message that waits in the queue. */
export const QueuedEdit = z.strictObject({ text: z.string() })

/** The body of a request that sets the user's default model. */
export const DefaultModelChoice = z.strictObject({
  /** Null removes the default: the server chooses the model. */
  name: Name.nullable(),
  /** Replaces what was chosen in each client. Without it, the choice counts in this client only. */
  everywhere: z.boolean().optional(),
})
/** The body of a request that sets a conversation's model. */
export const ModelChoice = z.strictObject({ name: Name })
/** The end of a copied conversation: at a journal position, or before one of the user's messages. */
export const ForkPoint = z.union([
  z.strictObject({ position: z.number().int().min(1) }),
  z.strictObject({ before: ids.message }),
])
/** The body of a request that rejects a proposal. The model sees the reason. */
export const Rejection = z.strictObject({ reason: z.string().max(2000).nullish() })
/** The body of a request that replaces a proposal with one that has these arguments. */
export const ProposalEdit = z.strictObject({ arguments: JsonObject })
/** A decision about a write in doubt: repeat it, treat it as done, or abandon it. */
export const DoubtChoice = z.strictObject({ choice: z.enum(["retry", "done", "abandon"]) })

/**
 * The body of a request that decides about several proposals at once. `all` and `none` also set the conversation's
 * mode.
 */
export const Shortcut = z.strictObject({
  decision: z.enum(["yes", "no", "all", "none"]),
  proposalIds: boundedList(ids.proposal, 256),
})

/** A page of a list, newest first. `cursor` is the `nextCursor` of the previous page. */
export const PageQuery = z.object({
  cursor: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})
export type PageQuery = z.infer<typeof PageQuery>

/** Query parameters for a list of conversations: a page, and words to search for in titles. */
export const ConversationQuery = PageQuery.extend({
  /**
   * Only conversations whose title contains these words. One page searches at most 20,000 titles, so it can have
   * fewer items than `limit`, or none, and still have a `nextCursor`.
   */
  search: z.string().trim().min(1).max(200).optional(),
})
export type ConversationQuery = z.infer<typeof ConversationQuery>

/** Query parameters for a list of proposals. */
export const ProposalQuery = PageQuery.extend({
  status: ProposalStatus.optional(),
  /** Only those of one conversation. */
  conversationId: ids.conversation.optional(),
  /** For expired proposals: only those that the user has seen, or has not seen, as expired. */
  seen: z.stringbool({ truthy: ["true"], falsy: ["false"] }).optional(),
})
export type ProposalQuery = z.infer<typeof ProposalQuery>

/** A page of messages: the newest, or those before a `seq`. */
export const MessageQuery = z.object({
  before: z.coerce.number().int().min(1).optional(),
  limit: PageQuery.shape.limit,
})

/** Query parameters for the list of models. */
export const ModelsQuery = z.object({
  /** Asks endpoints again, even if they responded recently. */
  refresh: z.enum(["true", "false"]).optional(),
  /** How many seconds to wait for endpoints that are being asked. */
  wait: z.coerce.number().int().min(0).max(10).default(0),
})

/** Query parameters for the state of a conversation. `at` is a journal position; the default is the latest. */
export const StateQuery = z.object({ at: z.coerce.number().int().min(1).optional() })

/**
 * Query parameters for a stream of events. `after` is the cursor to continue from: `position`, or `position.offset`
 * within a reply in progress.
 */
export const EventQuery = z.object({ after: z.string().max(40).optional() })
