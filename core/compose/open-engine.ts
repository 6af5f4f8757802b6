import { type Agent, Agents } from "../engine/definition/agent.ts"
import type { Clock } from "../shared/time/clock.ts"
import type { ToolJoining } from "../engine/definition/joined-tools.ts"
import { previousMessageTools } from "../engine/previous-messages.ts"
import { REPLY_CHARACTERS } from "../engine/ask/reply.ts"
import type { Journal } from "../engine/journal.ts"
import type { Model } from "../engine/model.ts"
import type { Limits } from "../engine/next-step.ts"
import type { Budget, Bus, FileContents, ModelSource, Ports } from "../engine/ports.ts"
import type { Policy } from "../engine/gate/policy.ts"
import { type Log, silentLog } from "../shared/log.ts"
import { loadLazyModules } from "../shared/concurrency/lazy-module.ts"
import { ReadCache } from "../engine/calls/read-cache.ts"
import { Runtime } from "../engine/runtime/runtime.ts"
import { startSweeping } from "../engine/runtime/sweep.ts"
import { type ChangeSource, RemoteChanges } from "../engine/runtime/remote-changes.ts"
import { InProcessBus, observed } from "../bus/in-process.ts"
import { answerSchema } from "../tools/json-schema/answer-schema.ts"
import type { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import { hostZone } from "../shared/time/zone.ts"
import { openStore, type Store, type StoreOptions } from "../store/store.ts"

export interface EngineOptions {
  readonly store: Omit<StoreOptions, "clock"> | Store
  readonly agents: readonly Agent[]
  /** Tools of MCP servers. Default: none. */
  readonly joining?: ToolJoining | undefined
  /** One model for everything, or a registry. */
  readonly models: Model | ModelSource
  /** Fallback models, if neither the conversation nor its agent names any. */
  readonly fallback?: readonly string[]
  /** Reply settings, if nothing else sets them. */
  readonly settings?: ReplySettings
  /** The model that writes titles. Default: no titles. */
  readonly titleModel?: string
  /** Limits on the cost of models. Default: none. */
  readonly budget?: Budget
  /** The content of files in messages. Default: no files. */
  readonly files?: FileContents
  /** Default: the store's clock. */
  readonly clock?: Clock
  /** Determines the day of a person without a time zone. Default: this machine's. */
  readonly timeZone?: string
  readonly limits?: Partial<Limits>
  readonly policy?: Partial<Policy>
  readonly bus?: Bus
  /** Wraps the store's journal. */
  readonly observeJournal?: ((journal: Journal) => Journal) | undefined
  readonly log?: Log
  /** The model that writes summaries. Default: the conversation's own; `none`: no summaries. */
  readonly summaryModel?: string | undefined
  /** Secrets that are removed from every tool result. */
  readonly secrets?: Iterable<string>
  /** Reports changes of documents in this process to other processes of the database. */
  readonly library?: ChangeSource
  /** How often changes by other processes are read. */
  readonly lookMs?: number
  /** See `Ports`. */
  readonly isOfTerminal?: Ports["isOfTerminal"] | undefined
  /** Continues runs of failed processes, now and while it is open. `false`: the caller does. */
  readonly recovers?: boolean
}

export interface OpenedEngine extends AsyncDisposable {
  readonly store: Store
  readonly runtime: Runtime
  readonly ports: Ports
  /** Reads what other processes record; undefined if there are none. */
  readonly otherNodes: Pick<RemoteChanges, "ageMs"> | undefined
}

/** The default limits. */
export const DEFAULT_LIMITS: Limits = { runSeconds: 30 * 60, restarts: 3, replyCharacters: REPLY_CHARACTERS }
/** A proposal waits for a week; the revision of its target decides whether it can still be applied. */
export const DEFAULT_POLICY: Policy = { proposalMinutes: 7 * 24 * 60, forbidAuto: false }
/** By then the first request is answered, and parts that load later may be loaded. */
const LAZY_LOAD_MS = 1000

/** Assembles the engine in this process, with the caller's store, models and agents. */
export async function openEngine(options: EngineOptions): Promise<OpenedEngine> {
  const { models } = options
  const store = "journal" in options.store ? options.store : await openStore({ ...options.store, clock: options.clock })
  const clock = options.clock ?? store.clock
  const earlier = previousMessageTools(store.journal)
  let zone: string | undefined
  const ports: Ports = {
    journal: options.observeJournal?.(store.journal) ?? store.journal,
    models: "stream" in models ? { get: async () => models } : models,
    ...(options.fallback ? { fallback: options.fallback } : {}),
    ...(options.titleModel ? { titleModel: options.titleModel } : {}),
    ...(options.budget ? { budget: options.budget } : {}),
    ...(options.settings ? { settings: options.settings } : {}),
    answerSchema,
    ...(options.files ? { files: options.files } : {}),
    room: store.storage,
    agents: new Agents(
      options.agents.map((agent) => ({ ...agent, tools: agent.tools.with(earlier) })),
      options.joining,
    ),
    ...(options.joining ? { joining: options.joining } : {}),
    clock,
    // Computed on first use: loading time zone names takes a tenth of the start.
    get timeZone() {
      return (zone ??= options.timeZone ?? hostZone())
    },
    bus: observed(options.bus ?? new InProcessBus(), (_, live) => otherNodes?.hear(live)),
    cache: new ReadCache(),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    policy: { ...DEFAULT_POLICY, ...options.policy },
    log: options.log ?? silentLog,
    ...(options.summaryModel ? { summaryModel: options.summaryModel } : {}),
    ...(options.secrets ? { secrets: options.secrets } : {}),
    ...(options.isOfTerminal ? { isOfTerminal: options.isOfTerminal } : {}),
  }
  const runtime = new Runtime(ports)
  const { journal, bus, log } = ports
  const otherNodes = pollOtherNodes(store, { runtime, journal, bus, clock, log }, options)
  const stopSweeping = options.recovers === false ? undefined : startSweeping(runtime, ports.log)
  const loadLater = () => void loadLazyModules().catch((error: unknown) => log.warn("lazy_parts_failed", { error }))
  const laterTimer = setTimeout(loadLater, LAZY_LOAD_MS).unref()
  return {
    store,
    runtime,
    ports,
    otherNodes,
    async [Symbol.asyncDispose]() {
      clearTimeout(laterTimer)
      await stopSweeping?.()
      await otherNodes?.[Symbol.asyncDispose]()
      await runtime.close()
      if (store !== options.store) await store[Symbol.asyncDispose]()
    },
  }
}

/** Undefined if no other process can write to the database. */
function pollOtherNodes(
  store: Store,
  parts: Pick<Ports, "journal" | "bus" | "clock" | "log"> & { readonly runtime: Runtime },
  { library, lookMs }: Pick<EngineOptions, "library" | "lookMs">,
): RemoteChanges | undefined {
  if (store.engine.exclusive) return undefined
  const { news, workspaces: workspace } = store
  const sources = { workspace, ...(library ? { library } : {}) }
  return new RemoteChanges({ ...parts, news, sources, ...(lookMs ? { everyMs: lookMs } : {}) })
}
