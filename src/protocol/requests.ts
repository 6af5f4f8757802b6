import { z } from "zod"
import { boundedList } from "./bounded-list.ts"
import { MAX_FILES } from "./conversation/message-file.ts"
import { ProposalStatus } from "./proposals/proposal.ts"
import { ReplySettings, ReplySettingsPatch } from "./conversation/reply-settings.ts"
import { ids, JsonObject, Mode } from "./schema.ts"
import { TimeZone } from "./time/zone.ts"
import { lazily } from "./lazily.ts"

/** What callers send. A field that is not here is refused by name: a mistyped one would otherwise be passed over. */

/** A larger body is refused, unless its route says otherwise. */
export const MAX_BODY_BYTES = 1024 * 1024

const Name = lazily(() => z.string().trim().min(1).max(200))

/** Models that answer, in this order, where the chosen one cannot. */
const Fallback = lazily(() => boundedList(Name, 8))

export const NewConversation = lazily(() =>
  z.strictObject({
    agent: Name.nullish(),
    model: Name.nullish(),
    fallback: Fallback.nullish(),
    mode: Mode.nullish(),
    title: Name.nullish(),
    connectionId: Name.nullish(),
    site: z.enum(["server", "device"]).nullish(),
    deviceId: Name.nullish(),
    /** How its model is to reply. */
    settings: ReplySettings.nullish(),
  }),
)

export const ConversationPatch = lazily(() =>
  z
    .strictObject({
      title: Name.optional(),
      model: Name.optional(),
      /** An empty list: nobody does. Null: those of its agent, or of the server. */
      fallback: Fallback.nullable().optional(),
      mode: Mode.optional(),
      site: z.enum(["server", "device"]).optional(),
      deviceId: Name.nullable().optional(),
      /** Null: works on no database any more. */
      connectionId: Name.nullable().optional(),
      /** What is not named stays; null takes back what was set. */
      settings: ReplySettingsPatch.optional(),
    })
    .refine((patch) => Object.keys(patch).length > 0, {
      message: "nothing to change: send title, model, fallback, mode, settings, connectionId, site or deviceId",
    }),
)

export const NewMessage = lazily(() =>
  z.strictObject({
    text: z.string(),
    when: z.enum(["queue", "steer", "reject"]).nullish(),
    maxIterations: z.number().int().min(1).max(20).nullish(),
    /** Where the person is now. Without one it is what they last told in this conversation, or the server's own. */
    timeZone: TimeZone.nullish(),
    /** How the model is to reply in the run that these words begin, whatever the conversation says. */
    settings: ReplySettings.nullish(),
    /** Ids of files that were uploaded before (POST /api/files). */
    files: boundedList(ids.file, MAX_FILES).nullish(),
    /** A person is there who sees and can answer what a tool's server asks in the middle of a call; without it that is declined. */
    attended: z.boolean().nullish(),
    /** The answer has to be JSON that fits this schema; one that does not is mended, twice at most, or the run fails. */
    schema: JsonObject.nullish(),
  }),
)

export const QueuedEdit = lazily(() => z.strictObject({ text: z.string() }))

export const ModelChoice = lazily(() => z.strictObject({ name: Name }))
/** A position of the journal; or a message of the person, which with everything after it stays behind. */
export const ForkPoint = lazily(() =>
  z.union([z.strictObject({ position: z.number().int().min(1) }), z.strictObject({ before: ids.message })]),
)
export const Rejection = lazily(() => z.strictObject({ reason: z.string().max(2000).nullish() }))
export const ProposalEdit = lazily(() => z.strictObject({ arguments: JsonObject }))
export const DoubtChoice = lazily(() => z.strictObject({ choice: z.enum(["retry", "done", "abandon"]) }))

export const Shortcut = lazily(() =>
  z.strictObject({
    decision: z.enum(["yes", "no", "all", "none"]),
    proposalIds: boundedList(ids.proposal, 256),
  }),
)

/** A page of a list, newest first: `cursor` is where the page before it ended. */
export const PageQuery = lazily(() =>
  z.object({
    cursor: z.string().max(200).optional(),
    limit: z.coerce.number().int().min(1).max(200).default(50),
  }),
)
export type PageQuery = z.infer<typeof PageQuery>

export const ConversationQuery = lazily(() =>
  PageQuery.extend({
    /**
     * Only those whose title has these words, as they stand. One page looks at 20,000 titles at most, so it may hold less
     * than its limit, or nothing, and have a `nextCursor`.
     */
    search: z.string().trim().min(1).max(200).optional(),
  }),
)
export type ConversationQuery = z.infer<typeof ConversationQuery>

export const ProposalQuery = lazily(() =>
  PageQuery.extend({
    status: ProposalStatus.optional(),
    /** Only those of one conversation. */
    conversationId: ids.conversation.optional(),
    /** Of those that expired: only what the person has seen, or has not seen, to have expired. */
    seen: z.stringbool({ truthy: ["true"], falsy: ["false"] }).optional(),
  }),
)
export type ProposalQuery = z.infer<typeof ProposalQuery>

/** A page of messages: the newest, or those before a `seq`. */
export const MessageQuery = lazily(() =>
  z.object({
    before: z.coerce.number().int().min(1).optional(),
    limit: PageQuery.shape.limit,
  }),
)

export const ModelsQuery = lazily(() =>
  z.object({
    /** Asks endpoints again that have answered lately. */
    refresh: z.enum(["true", "false"]).optional(),
    /** For how many seconds to wait for those that are being asked. */
    wait: z.coerce.number().int().min(0).max(10).default(0),
  }),
)

export const StateQuery = lazily(() => z.object({ at: z.coerce.number().int().min(1).optional() }))

/** Where a watcher is: `position`, or `position.offset` inside an open reply. */
export const EventQuery = lazily(() => z.object({ after: z.string().max(40).optional() }))
