import { once } from "node:events"
import { renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Config } from "../../apps/cli/settings/config.ts"
import { crashtestText } from "../../apps/strings/tests.ts"
import { type ComposedServer, composeServer } from "../../core/compose/compose-server.ts"
import { openConfiguredStore } from "../../core/compose/open-store.ts"
import type { Agent } from "../../core/engine/definition/agent.ts"
import type { CallContext, Tool } from "../../core/engine/definition/tool.ts"
import type { Model } from "../../core/engine/model.ts"
import { nextStep, isIdle } from "../../core/engine/next-step.ts"
import type { ModelSource } from "../../core/engine/ports.ts"
import { checkRequest } from "../../core/models/scripted/check-request.ts"
import { byTurn, scripted } from "../../core/models/scripted/model.ts"
import { calls, replies, says } from "../../core/models/scripted/script.ts"
import { AppError } from "../../core/protocol/errors.ts"
import type { JournalEvent, UnknownEvent } from "../../core/protocol/events.ts"
import type { ConversationId, MessageId, UserId } from "../../core/protocol/ids.ts"
import type { JsonObject } from "../../core/protocol/schema.ts"
import { silentLog } from "../../core/shared/log.ts"
import { canonicalJson } from "../../core/shared/text/json.ts"
import { sleep } from "../../core/shared/time/clock.ts"
import { Boundaries } from "./boundaries.ts"
import {
  type LifeEnd,
  type LifeOrders,
  type LifeOutcome,
  type NotedEffect,
  type TranscriptLine,
  lifeFiles,
  noteLine,
  readLines,
} from "./life-files.ts"
import { watchOutside } from "./outside.ts"
import type { CrashScenario } from "./scenario.ts"

/** How often to check whether the conversation of a killed process can be continued. */
const LOOK_MS = 20

/** Plays scenarios as the parent process orders, until it is killed or the parent ends. */
export async function serveLifeOrders(config: Config): Promise<void> {
  await watchOutside()
  const say = (end: LifeEnd) => process.send?.(end)
  process.on("message", (orders: LifeOrders) => {
    live(config, orders).then(
      () => say({}),
      (error: Error) => say({ failure: error instanceof AppError ? error.message : (error.stack ?? String(error)) }),
    )
  })
  await once(process, "disconnect")
}

/** Plays the scenario from its current state in the store, and records the outcome. */
async function live(config: Config, orders: LifeOrders): Promise<void> {
  const files = lifeFiles(orders.folder)
  const settings = lifeSettings(config, files.data)
  await using store = await openConfiguredStore(settings, { log: silentLog })
  const user = (await store.people.ensure("crashtest", store.clock.now())).id
  const boundaries = new Boundaries(files, orders.dies)
  boundaries.watch(store.engine)
  const { replies } = orders.scenario
  await using server = await composeServer(settings, {
    ...{ store, log: silentLog, model: replies && toldModel(replies) },
    agents(all) {
      noteEffects(all, files.effects, boundaries)
      return all
    },
  })
  const { ports } = server.pawl
  Object.assign(ports, { models: checkedModels(ports.models, files.problems) })
  const id = await play(server, orders, user)
  const events = await store.journal.read(id)
  const { tools } = ports.agents.of(await store.journal.load(id, true))
  const shortfall = shortfallOf(events, orders.scenario, (name) => tools.find(name) !== undefined)
  const outcome = { ...toTranscript(events), ...(shortfall === undefined ? {} : { shortfall }) }
  writeFileSync(`${files.outcome}.new`, JSON.stringify(outcome))
  renameSync(`${files.outcome}.new`, files.outcome)
}

async function play(server: ComposedServer, orders: LifeOrders, user: UserId): Promise<ConversationId> {
  const { runtime, store } = server
  const { scenario, messageIds } = orders
  const limit = scenario.maxIterations === undefined ? {} : { maxIterations: scenario.maxIterations }
  const words = (at: number) =>
    ({
      type: "message",
      id: messageIds[at] as MessageId,
      text: scenario.say[at] ?? "",
      when: "queue",
      ...limit,
    }) as const
  const [begun] = await store.retention.conversationsOf(user)
  const agent = scenario.agent ?? server.pawl.ports.agents.all[0]?.name ?? ""
  const id = begun?.id ?? (await runtime.begin({ user, agent, mode: scenario.mode }, words(0))).id
  for (;;) {
    await atRest(server, id)
    if (await settle(server, id, orders)) continue
    const said = (await store.journal.load(id, true)).said
    const next = messageIds.findIndex((message) => !said.includes(message as MessageId))
    if (next < 0) return id
    await runtime.submit(id, words(next))
  }
}

/** Continues the conversation until it is idle. */
async function atRest({ runtime, store, pawl, clock }: ComposedServer, id: ConversationId): Promise<void> {
  for (;;) {
    await runtime.rest(id)
    const conversation = await store.journal.load(id, true)
    if (isIdle(nextStep(conversation, pawl.ports.agents.of(conversation), pawl.ports.limits))) return
    await runtime.recover()
    await sleep(clock, LOOK_MS)
  }
}

/** Acts as the user: approves or rejects, and checks the outcome of writes in doubt. */
async function settle({ runtime, store }: ComposedServer, id: ConversationId, { scenario, folder }: LifeOrders) {
  const { proposals, calls } = await store.journal.load(id, true)
  const by = "crashtest"
  for (const [index, { proposed, status }] of [...proposals.values()].entries()) {
    const { id: proposalId } = proposed
    const call = calls.find(({ proposal }) => proposal === proposalId)
    if (call?.state === "in_doubt") {
      const effects = readLines<NotedEffect>(lifeFiles(folder).effects).filter((effect) => effect.call === call.id)
      const choice = effects.length === 0 ? "retry" : effects.at(-1)?.phase === "done" ? "done" : "abandon"
      await runtime.submit(id, { type: "resolve", proposalId, choice, by })
      return true
    }
    if (status !== "pending") continue
    const decision = (scenario.decide[index] ?? scenario.decide.at(-1)) === "no" ? "reject" : "commit"
    await runtime.submit(id, { type: "decide", proposalId, decision, by })
    return true
  }
  return false
}

/**
 * The operator's settings without everything that leads to user data or other systems: database and files, cluster and
 * traces, and MCP servers, whose tools would really be called at each position. Models are those of the scenario, and
 * no titles are generated.
 */
export function lifeSettings(config: Config, dataFolder: string): Config {
  return {
    ...config,
    ...{ dataFolder, databaseUrl: `file:${join(dataFolder, "pawl.db")}`, models: {} },
    ...{ filesFolder: undefined, nats: undefined, webhook: undefined, telemetry: undefined, mcp: [] },
    titleModel: undefined,
  }
}

/**
 * The original functions of tools: a pack that stores its tools in its module has the same ones in the next run of this
 * process.
 */
const unnoted = new WeakMap<Tool, Tool["run"]>()

/** Makes each tool record its calls in a file that survives the process. */
function noteEffects(agents: readonly Agent[], file: string, boundaries: Boundaries): void {
  const seen = new Set<Tool>()
  for (const { tools } of agents) {
    for (const name of tools.names) {
      const tool = tools.find(name)
      if (!tool || seen.has(tool)) continue
      seen.add(tool)
      const run = unnoted.get(tool) ?? tool.run
      unnoted.set(tool, run)
      const noted = async (input: JsonObject, context: CallContext) => {
        const { effect, afterCrash } = tool
        const call = { call: context.callId, tool: name, input: canonicalJson(input), effect, afterCrash }
        noteLine(file, { ...call, phase: "begun" } satisfies NotedEffect)
        try {
          return await boundaries.run(call, () => run.call(tool, input, context))
        } finally {
          noteLine(file, { ...call, phase: "done" } satisfies NotedEffect)
        }
      }
      // Replaced in the same object, because packs and agents refer to it by several names.
      Object.defineProperty(tool, "run", { value: noted, configurable: true })
    }
  }
}

/**
 * Returns why an uninterrupted run did not reach what the scenario is about. Every interrupted run would miss it too
 * and be equal: a test that cannot fail.
 */
export function shortfallOf(
  events: readonly (JournalEvent | UnknownEvent)[],
  { replies }: CrashScenario,
  has: (tool: string) => boolean,
): string | undefined {
  const known = events as readonly JournalEvent[]
  const named = replies?.flatMap(({ calls }) => calls.map(({ name }) => name)) ?? []
  const unknown = named.find((name) => !has(name))
  if (unknown !== undefined) return crashtestText.unknownTool(unknown)
  const asked = known.filter((event) => event.type === "message" && event.role === "assistant").length
  const failed = known.find((event) => event.type === "run_ended" && event.status === "failed")
  if (failed?.type === "run_ended")
    return failed.error?.code === "script_ended"
      ? crashtestText.tooFewReplies(asked)
      : crashtestText.runFails(failed.error?.message ?? failed.reason)
  if (replies && asked < replies.length) return crashtestText.tooManyReplies(replies.length, asked)
  return undefined
}

/**
 * Selects the reply by the number of replies in the request, so that a new process continues where the last one was
 * killed.
 */
function toldModel(script: NonNullable<CrashScenario["replies"]>): Model {
  const parts = script.map(({ text, calls: called }) =>
    replies(...(text === "" ? [] : [says(text)]), ...called.map(({ name, input }) => calls(name, input))),
  )
  // A scenario contains replies, not decisions of stages: these continue as without a model that can decide.
  return Object.assign(scripted(byTurn(...parts)), { decides: false as const })
}

/** The same models, which check each request as a strict provider does: every tool call has exactly one result. */
function checkedModels(models: ModelSource, problems: string): ModelSource {
  return {
    ...models,
    async get(name, user) {
      const model = await models.get(name, user)
      const stream: Model["stream"] = (request, signal) => {
        try {
          checkRequest(request)
        } catch (error) {
          noteLine(problems, (error as Error).message)
        }
        return model.stream(request, signal)
      }
      return { ...model, name: model.name, provider: model.provider, contextTokens: model.contextTokens, stream }
    },
  }
}

/** The messages, calls and results, and how each run ended, without ids and times, which always differ. */
function toTranscript(events: readonly (JournalEvent | UnknownEvent)[]): LifeOutcome {
  const known = events as readonly JournalEvent[]
  const doubted = new Set(known.flatMap((event) => (event.type === "in_doubt" ? [event.callId] : [])))
  const lines: { line: TranscriptLine; seq: number }[] = []
  let status = "nothing was asked"
  let seq = 0
  for (const event of known) {
    if (event.type === "message") {
      seq = event.seq
      for (const part of event.parts) {
        if (part.type === "text") lines.push({ seq, line: { who: event.role, text: plain(part.text) } })
        if (part.type === "call")
          lines.push({ seq, line: { who: "call", text: plain(`${part.name} ${JSON.stringify(part.input)}`) } })
      }
    }
    if (event.type === "tool_end") {
      seq = Math.max(seq, event.seq)
      const line = { who: `result ${event.status}`, text: plain(event.text) }
      lines.push({ seq: event.seq, line: doubted.has(event.callId) ? { ...line, wasInDoubt: true } : line })
    }
    if (event.type === "run_ended") {
      status = event.error ? `${event.status}: ${event.error.code}` : event.status
      lines.push({ seq, line: { who: "run", text: event.reason ? `${status} (${event.reason})` : status } })
    }
  }
  // Results of one reply end in any order, so they are sorted by their calls.
  return { transcript: lines.sort((one, other) => one.seq - other.seq).map(({ line }) => line), status }
}

/** Ids differ in each run. */
const plain = (text: string): string => text.replaceAll(/\b([a-z]+)_[0-9A-Za-z]{16,}\b/g, "$1_…")
