import { z } from "zod"
import {
  ContextMeter,
  ConversationStatus,
  ConversationView,
  PauseReason,
  Run,
  RunError,
  RunStatus,
} from "./conversation/conversation.ts"
import { CallStatus, Message, MessageFile, Usage } from "./conversation/message.ts"
import { FactSources, LocalModelServer, ModelAbilities, ModelEndpoint, ModelPrice } from "./models/providers.ts"
import { NoticeView } from "./notices.ts"
import { DelayedResult, Proposal, DecidedProposal } from "./proposals/proposal.ts"
import { Grading, Guardrail, RouterChoice, RouterDecision, StepView } from "./conversation/stages.ts"
import { ids, JsonObject, Mode } from "./schema.ts"

/** Responses of the API that consist of more than one resource. */

/** A page of a list. Pass `nextCursor` to read the next page; it is null on the last. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() })
export interface Page<Item> {
  items: Item[]
  nextCursor: string | null
}

/** A call of a tool that the client runs. The conversation waits for its result until `expiresAt`. */
export const DelegatedCall = z.object({ callId: ids.call, expiresAt: z.string() })
export type DelegatedCall = z.infer<typeof DelegatedCall>

/**
 * The response that shows one conversation: its settings and state, its newest messages, and what waits for the user.
 */
export const ConversationDetail = ConversationView.extend({
  messages: z.array(Message),
  /** The steps between these messages. Older servers omit it. */
  steps: z.array(StepView).optional(),
  /** The notices between these messages. */
  notices: z.array(NoticeView).optional(),
  /** Proposals for the calls of these messages that no longer wait for a decision. */
  decided: z.array(DecidedProposal).optional(),
  /** Results of interrupted calls that arrived later. */
  lateResults: z.array(DelayedResult).optional(),
  proposals: z.array(Proposal),
  /** Expired proposals that were not proposed again. Older ones are omitted. */
  expired: z.array(Proposal).optional(),
  /** Calls of client tools that wait for the client, each with its deadline. */
  handedOver: z.array(DelegatedCall).optional(),
  /** How much of the context window is used, and the cost so far. */
  context: ContextMeter.optional(),
})
export type ConversationDetail = z.infer<typeof ConversationDetail>

/**
 * A page of messages, oldest first. Pass `nextBefore` as `before` to read the previous page; it is null on the first
 * page.
 */
export const MessagePage = z.object({
  items: z.array(Message),
  steps: z.array(StepView).optional(),
  notices: z.array(NoticeView).optional(),
  decided: z.array(DecidedProposal).optional(),
  lateResults: z.array(DelayedResult).optional(),
  nextBefore: z.number().int().nullable(),
})
export type MessagePage = z.infer<typeof MessagePage>
/** The content of a page of messages, without the cursor `nextBefore`. */
export type MessagesRead = Required<Omit<MessagePage, "nextBefore">>

/** A run that ended or paused, with its messages and the open proposals. */
export const RunAnswer = z.object({
  conversation: ConversationView,
  run: Run,
  messages: z.array(Message),
  proposals: z.array(Proposal),
})
export type RunAnswer = z.infer<typeof RunAnswer>

/** A message that is stored and will be processed after the active run. */
export const QueuedAnswer = z.object({
  queued: z.object({ id: ids.message, text: z.string(), when: z.enum(["queue", "steer"]) }),
})
export type QueuedAnswer = z.infer<typeof QueuedAnswer>

/** A message in the queue. */
export const QueuedMessage = z.object({
  id: ids.message,
  text: z.string(),
  when: z.enum(["queue", "steer"]),
  files: z.array(MessageFile).optional(),
  createdAt: z.string(),
})
export type QueuedMessage = z.infer<typeof QueuedMessage>

/** The state of a conversation after the journal event at a position. Tools add fields under their own names. */
export const StateAnswer = z.looseObject({
  conversationId: ids.conversation,
  position: z.number().int(),
  agent: z.string(),
  model: z.string().nullable(),
  mode: Mode,
  title: z.string().nullable(),
  /** The selected database, and its owner. */
  connection: z.object({ userId: ids.user, connectionId: ids.connection }).nullable(),
  conversationStatus: ConversationStatus,
  /** The id of the newest run; null before the first. */
  runId: ids.run.nullable(),
  status: RunStatus.nullable(),
  iteration: z.number().int(),
  maxIterations: z.number().int(),
  pauseReason: PauseReason.nullable(),
  error: RunError.nullable(),
  usage: Usage.nullable(),
  /** The tools selected for the newest message or, for an agent with stages, the chosen action. */
  routerDecision: z.union([RouterDecision, RouterChoice]).nullable(),
  /** For an agent with stages: the verdicts on the newest question and on the passages found for it. */
  guardrail: Guardrail.nullable(),
  grading: Grading.nullable(),
  /** Ids of the passages that the newest run found. */
  sources: z.array(z.string()),
  toolHistory: z.array(z.object({ callId: ids.call, name: z.string(), status: CallStatus })),
  openProposals: z.array(ids.proposal),
})
export type StateAnswer = z.infer<typeof StateAnswer>

/**
 * The model of a conversation, the models to choose from with their availability, and the models to try if it fails.
 */
export const ModelAnswer = z.object({
  conversationId: ids.conversation,
  model: z.string().nullable(),
  models: z.record(z.string(), z.boolean()),
  /** The models to try in this order if the model fails, and where the list is set. Older servers omit it. */
  fallback: z.object({ models: z.array(z.string()), from: z.enum(["conversation", "agent", "server"]) }).optional(),
})
export type ModelAnswer = z.infer<typeof ModelAnswer>

/** A model that conversations can use, with what is known about its abilities, context window and price. */
export const ListedModel = z.object({
  name: z.string(),
  provider: z.string(),
  aliases: z.array(z.string()).readonly(),
  features: z.array(z.string()).readonly(),
  contextTokens: z.number(),
  available: z.boolean(),
  /** The setting that would make the model available. */
  need: z.string().nullable(),
  can: ModelAbilities.optional(),
  /** Omitted if it is unknown. */
  price: ModelPrice.optional(),
  /** The largest context window that the model supports, if its server uses a smaller one. */
  maxContextTokens: z.number().optional(),
  /** The sources of these facts. */
  sources: FactSources.optional(),
})
export type ListedModel = z.infer<typeof ListedModel>

/** A model that the user chose but that cannot be used now, and in `need` what to set so that it can. */
export const UnavailableChoice = z.object({ name: z.string(), need: z.string() })
export type UnavailableChoice = z.infer<typeof UnavailableChoice>

/** The models that the user can choose from, the default model, and the endpoints that list models. */
export const ModelList = z.object({
  items: z.array(ListedModel),
  default: z.string().nullable(),
  /** The default that the user set for all clients; null if the server chooses. */
  chosenDefault: z.string().nullable().optional(),
  /** The model that the user chose last, if it is unavailable. New conversations then use `default`. */
  unavailableChoice: UnavailableChoice.optional(),
  /** Endpoints that list their models. */
  endpoints: z.array(ModelEndpoint).optional(),
  /**
   * Model servers on the machine of this server, if the user has no provider. `mayConnect`: the user may connect them
   * with `PUT /api/providers/{name}`.
   */
  localServers: z.object({ items: z.array(LocalModelServer), mayConnect: z.boolean() }).optional(),
})

/** The model that a new conversation uses; null if none is set. */
export const DefaultModel = z.object({ default: z.string().nullable() })

/** The agents that a conversation can use. */
export const AgentList = z.object({
  items: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      tools: z.array(z.string()).readonly(),
      maxIterations: z.number(),
      /** Example requests for a new conversation. */
      examples: z.array(z.string()).readonly(),
    }),
  ),
})

/** The tools of all agents, with their JSON schemas and whether each reads or writes. */
export const ToolList = z.object({
  items: z.array(
    z.object({
      agent: z.string(),
      name: z.string(),
      description: z.string(),
      inputSchema: JsonObject,
      effect: z.enum(["read", "write"]),
      undoable: z.boolean().optional(),
      /** Example requests for this tool, without those that refer to an earlier answer. */
      examples: z.array(z.string()).readonly(),
    }),
  ),
})

/** An error response, as in RFC 9457. `code` is stable. A conflict about a proposal includes the proposal. */
export const ProblemAnswer = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  code: z.string(),
  proposal: Proposal.optional(),
})
