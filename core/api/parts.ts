import type { Ports } from "../engine/ports.ts"
import type { Runtime } from "../engine/runtime/runtime.ts"
import type { ConversationView } from "../protocol/conversation/conversation.ts"
import type { Message as ProtocolMessage, Usage as ProtocolUsage } from "../protocol/conversation/message.ts"
import { AppError, hasCode } from "../protocol/errors.ts"
import type { Frame } from "../protocol/frames.ts"
import type { UserId } from "../protocol/ids.ts"
import type { Proposal as ProtocolProposal } from "../protocol/proposals/proposal.ts"
import type { ServerMetrics } from "../server/metrics/server-metrics.ts"
import type { Devices } from "../server/socket/devices.ts"
import type { Store } from "../store/store.ts"
import type { OpenedModels } from "./models.ts"

/** The open parts of an instance. */
export interface Parts {
  readonly store: Store
  readonly runtime: Runtime
  /** The interfaces that the loop uses. */
  readonly ports: Ports
  readonly models: OpenedModels
  readonly devices: Devices
  /** Request metrics since the instance was opened, for its HTTP server. */
  readonly metrics: ServerMetrics
  /** True if runs are exported as traces, so that a request's trace can be linked to its run. */
  readonly storesTraces: boolean
  /** True if an agent has an `agentTool`, so that a run can wait for a decision about a write of another agent. */
  readonly hasSubAgents: boolean
  /** Aborts when the instance closes. */
  readonly closing: AbortSignal
}

/** The parts of an instance for one user. */
export interface PersonalParts extends Parts {
  /** Creates the user at the first call. */
  user(): Promise<UserId>
}

/** The parts that deciding and erasing need. */
export const portsOf = ({ store, runtime, ports, devices }: Parts) => ({
  ...ports,
  runtime,
  devices,
  proposals: store.proposals,
  conversations: store.conversations,
  retention: store.retention,
})

type Closing = Pick<Parts, "closing">

/** The error of every call after `close`. Active runs continue when the store is opened again. */
export const closedError = () =>
  new AppError("draining", "This Pawl instance is closed. Open the store again with openPawl to continue.")

/** Throws `draining` if the instance is closed. */
export function refuseClosed({ closing }: Closing): void {
  if (closing.aborted) throw closedError()
}

/**
 * Rejects with `draining` if the instance closes during the work: the errors of a closing store are misleading, or have
 * no code.
 */
export function orClosed<T>({ closing }: Closing, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const isOfStore = !(error instanceof AppError) || hasCode(error, "store_unavailable")
    throw closing.aborted && isOfStore ? closedError() : error
  })
}

/** Wraps each function so that it throws `draining` if the instance is closed. */
export function untilClosed<Calls extends object>(parts: Closing, calls: Calls): Calls {
  const told = Object.entries(calls).map(([name, call]: [string, (...given: unknown[]) => unknown]) => {
    const asked = (...given: unknown[]) => {
      const work = call(...given)
      return work instanceof Promise ? orClosed(parts, work) : work
    }
    return [name, asked] as const
  })
  return Object.fromEntries(told) as Calls
}

/** Makes a value deeply read-only: changing a copy of journal data has no effect. */
export type ReadOnly<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly ReadOnly<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: ReadOnly<Value[Key]> }
      : Value

/** A conversation: its agent, model, mode and status. */
export interface Conversation extends ReadOnly<ConversationView> {}

/** A message of the user, the model or a tool. */
export interface Message extends ReadOnly<ProtocolMessage> {}

/** A write that needs or needed a person's approval: what it would change, and its outcome. */
export interface Proposal extends ReadOnly<ProtocolProposal> {}

/** Token usage of model calls, as the provider counted it. */
export interface Usage extends ReadOnly<ProtocolUsage> {}

/** A page of a list. Pass `nextCursor` to read the next page; it is null on the last. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/**
 * An event of a conversation. `id` is its position: a subscription that continues after it misses no event and repeats
 * none. A `text_delta` is part of a reply in progress and is not stored; every other event is stored before it is sent.
 */
export type PawlEvent = ReadOnly<Frame>
