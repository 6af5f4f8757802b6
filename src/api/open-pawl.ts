import type { Log } from "../agent/ports.ts"
import { silentLog } from "../agent/silent-log.ts"
import { InProcessBus } from "../bus/in-process.ts"
import { observed } from "../bus/observed.ts"
import { budgetOf } from "../compose/ceilings.ts"
import { fileContents } from "../compose/file-contents.ts"
import { openPdfReader } from "../compose/pdf-reader.ts"
import { openEngine, USUAL_LIMITS } from "../compose/open-engine.ts"
import { observedModels } from "../server/metrics/observed-models.ts"
import { RunMeter } from "../server/metrics/run-meter.ts"
import { createServerMetrics } from "../server/metrics/server-metrics.ts"
import { Devices } from "../server/socket/devices.ts"
import type { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import { failure } from "../protocol/errors.ts"
import { type Agent, toInternalAgents } from "./agent.ts"
import { check } from "../server/request/read-input.ts"
import { GivenSettings } from "./given.ts"
import type { ListenOptions, ListeningServer } from "./listen.ts"
import { type Models, openModels } from "./models.ts"
import { openPerson, type Person } from "./person.ts"
import { openGivenStore, type StoreSettings } from "./store.ts"
import { openTraces, type Traces } from "./traces.ts"

export interface PawlOptions {
  /** Which models answer: providers by their settings, one language model of the AI SDK, or several by name. */
  readonly models: Models
  /** What conversations are with; without, the model alone. The first is asked where none is named. */
  readonly agents?: readonly Agent[]
  /** Where everything is kept: a file, or `postgres://…`; `pawl.db` in the working folder without. */
  readonly store?: string | StoreSettings
  readonly limits?: Limits
  /** How models reply, where neither agent, conversation nor question says otherwise. */
  readonly settings?: ReplySettings
  /** What counts as the day of a person who has not told their zone; this machine's without. */
  readonly timeZone?: string
  readonly log?: Log
  /** Runs are told as traces of OpenTelemetry; nobody is told without. */
  readonly traces?: Traces
}

export interface Limits {
  /** How long a run may work, waiting for people not counted; 180. */
  readonly runSeconds?: number
  /** How many characters a reply may hold. */
  readonly replyCharacters?: number
  /** How long a proposal waits for its decision; 15. */
  readonly proposalMinutes?: number
  /** What models may cost in a day, and in one run, in dollars. A call that could cost more is not made. */
  readonly dailyUsd?: number
  readonly runUsd?: number
}

/** A Pawl in this process. What is asked of it directly is asked by its owner; `as` is for everybody else. */
export interface Pawl extends Person, AsyncDisposable {
  /** The same for a person of this name, who sees nothing of anybody else's. Made at first sight. */
  as(name: string): Person
  /** The whole server over the same conversations, with its page, until this is closed. */
  listen(options: ListenOptions): Promise<ListeningServer>
  /** Lets go of what is at work: the next process that opens the store goes on with it. */
  close(): Promise<void>
}

/** Who asks where nobody is named. */
const OWNER = "owner"

/** Opens the store, takes up what an earlier process has left, and is ready to be asked. */
export async function openPawl(options: PawlOptions): Promise<Pawl> {
  const { timeZone, limits = {}, settings, traces } = options
  check(GivenSettings, { timeZone, limits, settings, traces, store: options.store })
  const { dailyUsd, runUsd, runSeconds = USUAL_LIMITS.runSeconds } = limits
  const agents = toInternalAgents(options.agents)
  const { models, secrets } = openModels(options.models)
  await using opening = new AsyncDisposableStack()
  opening.defer(() => models.close?.())
  const store = opening.use(await openGivenStore(options.store))
  // Counted from the start, so that a server over it later tells of all that was asked here.
  const metrics = createServerMetrics()
  const tools = new Set(agents.flatMap(({ tools: each }) => each.names))
  // Closed after the engine, so that its last words are told, and before the store, which they are read from.
  const told = traces && (await openTraces(traces, { store, metrics, log: options.log ?? silentLog }))
  const telemetry = told && opening.use(told.telemetry)
  const log = told?.log ?? options.log
  const meter = new RunMeter({ metrics, log: log ?? silentLog, isTool: (name) => tools.has(name) })
  const pdfs = opening.use(openPdfReader(log ?? silentLog))
  const metered = observed(new InProcessBus(), meter.hear)
  const engine = opening.use(
    await openEngine({
      store,
      agents,
      models: observedModels(models, metrics),
      bus: telemetry ? observed(metered, telemetry.hear) : metered,
      observeJournal: telemetry && ((journal) => telemetry.observe(journal)),
      secrets,
      // Messages get files over a server that listens; in a later life there may be none, and they are still read.
      files: fileContents(store.messageFiles, pdfs),
      limits: given({ runSeconds: limits.runSeconds, replyCharacters: limits.replyCharacters }),
      policy: given({ proposalMinutes: limits.proposalMinutes }),
      ...budgetOf(store, { ...given({ dailyUsd, runUsd }), runSeconds, now: () => store.clock.now() }),
      ...(timeZone ? { timeZone } : {}),
      ...(settings ? { settings } : {}),
      ...(log ? { log } : {}),
    }),
  )
  const closing = new AbortController()
  const parts = {
    store,
    runtime: engine.runtime,
    ports: engine.ports,
    models,
    devices: new Devices(store.clock),
    metrics,
    keepsTraces: telemetry !== undefined,
    closing: closing.signal,
  }
  const open = opening.move()
  /** Servers that are being opened: closing waits for them, or one of them would be left with its port. */
  const listens = new Set<Promise<unknown>>()
  const closeAll = async () => {
    closing.abort()
    await Promise.allSettled(listens)
    await open.disposeAsync()
  }
  let closed: Promise<void> | undefined
  const close = () => (closed ??= closeAll())
  const listenUnlessClosed = async (how: ListenOptions) => {
    if (closing.signal.aborted) throw failure("draining")
    // Loaded now: a program that only asks does not pay for a server.
    const { openListening } = await import("./listen.ts")
    const { server, close: end } = await openListening({ parts, engine, agents, owner: OWNER }, how)
    open.defer(end)
    if (closing.signal.aborted) throw failure("draining") // it goes with the rest
    return server
  }
  return {
    ...openPerson(parts, OWNER),
    as: (name) => openPerson(parts, name),
    listen(how) {
      const listening = listenUnlessClosed(how)
      listens.add(listening)
      return listening.finally(() => listens.delete(listening))
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Only what was said: an option that is there and undefined would take the place of what is usual. */
const given = <Options extends object>(
  options: Options,
): Partial<{ [Key in keyof Options]: NonNullable<Options[Key]> }> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never
