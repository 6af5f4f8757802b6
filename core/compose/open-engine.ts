import { type Agent, Agents } from "../engine/definition/agent.ts"
import type { Clock } from "../shared/time/clock.ts"
import type { ToolJoining } from "../engine/definition/joined-tools.ts"
import { previousMessageTools } from "../engine/previous-messages.ts"
import { REPLY_CHARACTERS } from "../engine/ask/reply.ts"
import type { Journal } from "../engine/journal.ts"
import type { Model } from "../engine/model.ts"
import type { Limits } from "../engine/next-step.ts"
import type { Budget, Bus, FileContents, ModelSource, Policy, Ports } from "../engine/ports.ts"
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
  /** Tools of other people's servers; without, no agent has any. */
  readonly joining?: ToolJoining | undefined
  /** One model for everything, or a registry of them. */
  readonly models: Model | ModelSource
  /** Who answers where a conversation's model cannot, and neither it nor its agent says who does. */
  readonly fallback?: readonly string[]
  /** How models are to reply, where nobody says otherwise. */
  readonly settings?: ReplySettings
  /** Which model is asked for titles; without one none is. */
  readonly titleModel?: string
  /** Ceilings on what models cost; without, there are none. */
  readonly budget?: Budget
  /** What is in the files of messages; without it no message has any. */
  readonly files?: FileContents
  /** Where it is not to be the store's. */
  readonly clock?: Clock
  /** What counts as the day of a person who has not told their zone; without, this machine's. */
  readonly timeZone?: string
  readonly limits?: Partial<Limits>
  readonly policy?: Partial<Policy>
  readonly bus?: Bus
  /** Stands between the loop and the store's journal: for who watches what is written. */
  readonly observeJournal?: ((journal: Journal) => Journal) | undefined
  readonly log?: Log
  /** Which model sums up what has grown too long; without, the conversation's own. `none`: nobody. */
  readonly summaryModel?: string | undefined
  /** What no tool may tell: taken out of every result. */
  readonly secrets?: Iterable<string>
  /** Who says whose documents were changed in this process, for others that share the database. */
  readonly library?: ChangeSource
  /** How often it looks at what other processes have written to the same database. */
  readonly lookMs?: number
  /** See `Ports`. */
  readonly isOfTerminal?: Ports["isOfTerminal"] | undefined
  /** Takes up by itself what a dead process has left, now and while it is open. `false`: the caller sees to that. */
  readonly recovers?: boolean
}

export interface OpenedEngine extends AsyncDisposable {
  readonly store: Store
  readonly runtime: Runtime
  readonly ports: Ports
  /** Looks at what other processes record, where there may be any. */
  readonly elsewhere: Pick<RemoteChanges, "ageMs"> | undefined
}

/** What counts where nobody says otherwise. */
export const USUAL_LIMITS: Limits = { runSeconds: 30 * 60, restarts: 3, replyCharacters: REPLY_CHARACTERS }
/** A proposal waits for a week: whether it can still be applied is judged by the revision of its target. */
export const USUAL_POLICY: Policy = { proposalMinutes: 7 * 24 * 60, forbidAuto: false }
/** After so long whoever has just started has been answered, and what that did not need is loaded. */
const LATE_MS = 1000

/** Puts the rooms together: the whole engine in this process, with the caller's store, models and agents. */
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
    // Asked for when somebody has said something: what the zones are called takes a tenth of a start to load.
    get timeZone() {
      return (zone ??= options.timeZone ?? hostZone())
    },
    bus: observed(options.bus ?? new InProcessBus(), (_, live) => elsewhere?.hear(live)),
    cache: new ReadCache(),
    limits: { ...USUAL_LIMITS, ...options.limits },
    policy: { ...USUAL_POLICY, ...options.policy },
    log: options.log ?? silentLog,
    ...(options.summaryModel ? { summaryModel: options.summaryModel } : {}),
    ...(options.secrets ? { secrets: options.secrets } : {}),
    ...(options.isOfTerminal ? { isOfTerminal: options.isOfTerminal } : {}),
  }
  const runtime = new Runtime(ports)
  const { journal, bus, log } = ports
  const elsewhere = pollRemoteChanges(store, { runtime, journal, bus, clock, log }, options)
  const stopSweeping = options.recovers === false ? undefined : startSweeping(runtime, ports.log)
  const loadRest = () => void loadLazyModules().catch((error: unknown) => log.warn("lazy_parts_failed", { error }))
  const restTimer = setTimeout(loadRest, LATE_MS).unref()
  return {
    store,
    runtime,
    ports,
    elsewhere,
    async [Symbol.asyncDispose]() {
      clearTimeout(restTimer)
      await stopSweeping?.()
      await elsewhere?.[Symbol.asyncDispose]()
      await runtime.close()
      if (store !== options.store) await store[Symbol.asyncDispose]()
    },
  }
}

/** Where no other process can write to the database there is nothing to look for. */
function pollRemoteChanges(
  store: Store,
  parts: Pick<Ports, "journal" | "bus" | "clock" | "log"> & { readonly runtime: Runtime },
  { library, lookMs }: Pick<EngineOptions, "library" | "lookMs">,
): RemoteChanges | undefined {
  if (store.engine.exclusive) return undefined
  const { news, workspaces: workspace } = store
  const sources = { workspace, ...(library ? { library } : {}) }
  return new RemoteChanges({ ...parts, news, sources, ...(lookMs ? { everyMs: lookMs } : {}) })
}
