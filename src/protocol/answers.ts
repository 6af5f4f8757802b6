import { z } from "zod"
import { ConversationStatus, ConversationView } from "./conversation/conversation.ts"
import { MessageFile } from "./conversation/message-file.ts"
import { CallStatus } from "./conversation/call-status.ts"
import { ContextMeter } from "./conversation/context-meter.ts"
import { Message, Usage } from "./conversation/message.ts"
import { FactSources, ModelAbilities, ModelEndpoint, ModelPrice } from "./models/model-facts.ts"
import { NoticeView } from "./notices.ts"
import { Proposal } from "./proposals/proposal.ts"
import { RouterDecision } from "./conversation/router-decision.ts"
import { PauseReason, Run, RunError, RunStatus } from "./conversation/run.ts"
import { ids, JsonObject, Mode } from "./schema.ts"
import { Grading, Guardrail, RouterChoice, StepView } from "./conversation/stages.ts"
import { lazily } from "./lazily.ts"

/** What callers get where it is more than one resource. */

/** A page of a list. `nextCursor` leads to the next one; null on the last. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  lazily(() => z.object({ items: z.array(item), nextCursor: z.string().nullable() }))
export interface Page<Item> {
  items: Item[]
  nextCursor: string | null
}

export const HandedCall = lazily(() => z.object({ callId: ids.call, expiresAt: z.string() }))
export type HandedCall = z.infer<typeof HandedCall>

export const ConversationDetail = lazily(() =>
  ConversationView.extend({
    messages: z.array(Message),
    /** What was decided between these messages; a server of before there were steps says nothing. */
    steps: z.array(StepView).optional(),
    /** What happened between these messages, for small print. */
    notices: z.array(NoticeView).optional(),
    proposals: z.array(Proposal),
    /** Those that were settled as expired and that nobody has proposed again, as far back as is usual to look. */
    expired: z.array(Proposal).optional(),
    /** Calls of a program's own tools that wait for it, each with the time until which it is waited for. */
    handedOver: z.array(HandedCall).optional(),
    /** How full it is, and what it has cost so far. */
    context: ContextMeter.optional(),
  }),
)
export type ConversationDetail = z.infer<typeof ConversationDetail>

/** Messages in order; `nextBefore` is what to ask for next to page back, null at the beginning. */
export const MessagePage = lazily(() =>
  z.object({
    items: z.array(Message),
    steps: z.array(StepView).optional(),
    notices: z.array(NoticeView).optional(),
    nextBefore: z.number().int().nullable(),
  }),
)
export type MessagePage = z.infer<typeof MessagePage>
/** The same without the way to more. */
export type MessagesRead = Required<Omit<MessagePage, "nextBefore">>

/** A run that has ended or paused, with the messages it brought and the proposals that wait now. */
export const RunAnswer = lazily(() =>
  z.object({
    conversation: ConversationView,
    run: Run,
    messages: z.array(Message),
    proposals: z.array(Proposal),
  }),
)
export type RunAnswer = z.infer<typeof RunAnswer>

/** A message that is safely kept and will be answered later. */
export const QueuedAnswer = lazily(() =>
  z.object({
    queued: z.object({ id: ids.message, text: z.string(), when: z.enum(["queue", "steer"]) }),
  }),
)
export type QueuedAnswer = z.infer<typeof QueuedAnswer>

/** A message that waits for its turn. */
export const QueuedMessage = lazily(() =>
  z.object({
    id: ids.message,
    text: z.string(),
    when: z.enum(["queue", "steer"]),
    files: z.array(MessageFile).optional(),
    createdAt: z.string(),
  }),
)
export type QueuedMessage = z.infer<typeof QueuedMessage>

/** The fold of a journal at a position. What tools have added stands beside these under their own names. */
export const StateAnswer = lazily(() =>
  z.looseObject({
    conversationId: ids.conversation,
    position: z.number().int(),
    agent: z.string(),
    model: z.string().nullable(),
    mode: Mode,
    title: z.string().nullable(),
    /** The database that it works on, and whose it is. */
    connection: z.object({ userId: ids.user, connectionId: ids.connection }).nullable(),
    conversationStatus: ConversationStatus,
    /** Of the newest run; null before the first. */
    runId: ids.run.nullable(),
    status: RunStatus.nullable(),
    iteration: z.number().int(),
    maxIterations: z.number().int(),
    pauseReason: PauseReason.nullable(),
    error: RunError.nullable(),
    usage: Usage.nullable(),
    /** Which tools the newest words were given, or what an agent with stages chose to do, where that is decided. */
    routerDecision: z.union([RouterDecision, RouterChoice]).nullable(),
    /** Of an agent with stages: the verdict on the newest question, and on what was found for it. */
    guardrail: Guardrail.nullable(),
    grading: Grading.nullable(),
    /** Ids of the passages that the newest run has found. */
    sources: z.array(z.string()),
    toolHistory: z.array(z.object({ callId: ids.call, name: z.string(), status: CallStatus })),
    openProposals: z.array(ids.proposal),
  }),
)
export type StateAnswer = z.infer<typeof StateAnswer>

export const ModelAnswer = lazily(() =>
  z.object({
    conversationId: ids.conversation,
    model: z.string().nullable(),
    models: z.record(z.string(), z.boolean()),
    /** Who answers, in this order, where that one cannot; and who said so. A server of before there was such a list says nothing. */
    fallback: z.object({ models: z.array(z.string()), from: z.enum(["conversation", "agent", "server"]) }).optional(),
  }),
)
export type ModelAnswer = z.infer<typeof ModelAnswer>

export const ListedModel = lazily(() =>
  z.object({
    name: z.string(),
    provider: z.string(),
    aliases: z.array(z.string()).readonly(),
    features: z.array(z.string()).readonly(),
    contextTokens: z.number(),
    available: z.boolean(),
    /** What to set to make it available. */
    need: z.string().nullable(),
    can: ModelAbilities.optional(),
    /** Absent where it is not known. */
    price: ModelPrice.optional(),
    /** What it could read if its server gave it the room, where that is more. */
    maxContextTokens: z.number().optional(),
    /** Where these facts are from. */
    sources: FactSources.optional(),
  }),
)
export type ListedModel = z.infer<typeof ListedModel>

export const ModelList = lazily(() =>
  z.object({
    items: z.array(ListedModel),
    default: z.string().nullable(),
    /** Those that list their models by themselves. */
    endpoints: z.array(ModelEndpoint).optional(),
  }),
)

export const AgentList = lazily(() =>
  z.object({
    items: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        tools: z.array(z.string()).readonly(),
        maxIterations: z.number(),
        /** Plain requests to begin with, for whoever has said nothing to it yet. */
        examples: z.array(z.string()).readonly(),
      }),
    ),
  }),
)

export const ToolList = lazily(() =>
  z.object({
    items: z.array(
      z.object({
        agent: z.string(),
        name: z.string(),
        description: z.string(),
        inputSchema: JsonObject,
        effect: z.enum(["read", "write"]),
        undoable: z.boolean().optional(),
        /** Plain requests that it serves, for whoever wonders what to say; those about an earlier answer are not among them. */
        examples: z.array(z.string()).readonly(),
      }),
    ),
  }),
)

/** What goes wrong, after RFC 9457. `code` is the contract. A conflict about a proposal carries it. */
export const ProblemAnswer = lazily(() =>
  z.looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string(),
    proposal: Proposal.optional(),
  }),
)
