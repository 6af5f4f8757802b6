import { once } from "node:events"
import { renameSync, writeFileSync } from "node:fs"
import { sleep } from "../../agent/clock.ts"
import { nextStep, rests } from "../../agent/next-step.ts"
import { silentLog } from "../../agent/silent-log.ts"
import { type ComposedServer, composeServer } from "../../compose/compose-server.ts"
import { openConfiguredStore } from "../../compose/open-store.ts"
import { AppError } from "../../protocol/errors.ts"
import type { ConversationId, MessageId, UserId } from "../../protocol/ids.ts"
import type { Config } from "../settings/config.ts"
import { Boundaries } from "./boundaries.ts"
import { type LifeEnd, lifeFiles, type LifeOrders, type NotedEffect, readLines } from "./life-files.ts"
import { lifeSettings } from "./life-settings.ts"
import { noteEffects } from "./noted-tools.ts"
import { watchOutside } from "./outside.ts"
import { shortfallOf } from "./shortfall.ts"
import { checkedModels, toldModel } from "./told-model.ts"
import { toTranscript } from "./transcript.ts"

/** How often it is looked whether what a killed process has left can be taken up. */
const LOOK_MS = 20

/** Plays what the process is told that has started this one, a life after the other, until it is killed or nobody tells it any more. */
export async function liveAsTold(config: Config): Promise<void> {
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

/** One life: plays the scenario from wherever the store says that it is, and writes down how it ended. */
async function live(config: Config, orders: LifeOrders): Promise<void> {
  const files = lifeFiles(orders.folder)
  const settings = lifeSettings(config, files.data)
  await using store = await openConfiguredStore(settings, { log: silentLog })
  const user = (await store.people.ensure("crashtest", store.clock.now())).id
  const boundaries = new Boundaries(files, orders.dies)
  boundaries.watch(store.engine)
  const { replies } = orders.scenario
  await using server = await composeServer(settings, {
    ...{ store, log: silentLog, localEmbedder: "none", model: replies && toldModel(replies) },
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

/** Takes up what was left, until there is nothing to do for the loop. */
async function atRest({ runtime, store, pawl, clock }: ComposedServer, id: ConversationId): Promise<void> {
  for (;;) {
    await runtime.rest(id)
    const conversation = await store.journal.load(id, true)
    if (rests(nextStep(conversation, pawl.ports.agents.of(conversation), pawl.ports.limits))) return
    await runtime.recover()
    await sleep(clock, LOOK_MS)
  }
}

/** What a person would do: says yes or no, and of a write in doubt looks at what became of it. */
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
