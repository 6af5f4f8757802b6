import { openConfiguredStore, type StoreConfig } from "../../core/compose/open-store.ts"
import { isKnown } from "../../core/engine/replay/replay.ts"
import type { EventOf, JournalEvent } from "../../core/protocol/events.ts"
import type { RunId } from "../../core/protocol/ids.ts"
import { CommandError } from "../../apps/cli/process/command.ts"
import { CrashScenario } from "./scenario.ts"
import { crashtestText } from "../../apps/strings/tests.ts"

/**
 * Returns the messages and replies of a conversation up to the end of a run as a scenario, with the recorded replies as
 * the model's.
 */
export async function scenarioOfRun(config: StoreConfig, run: RunId): Promise<CrashScenario> {
  await using store = await openConfiguredStore(config)
  const found = await store.conversations.runOfAnybody(run)
  if (!found) throw new CommandError(crashtestText.noRun(run))
  const { conversationId, status } = found.run
  if (status === "running" || status === "paused") throw new CommandError(crashtestText.runNotOver(run, status))
  const rows = await store.conversations.rowsOfRun(conversationId, run)
  const events = await store.journal.read(conversationId, { upTo: rows?.upTo ?? 0 })
  const newer = events.find((event) => !isKnown(event))
  if (newer) throw new CommandError(crashtestText.newerRow(newer.position, newer.type))
  const scenario = scenarioIn(events as JournalEvent[])
  if (scenario) return scenario
  throw new CommandError(crashtestText.notReplayable(run))
}

/** Returns the messages, replies and decisions in these rows; undefined if there is no message or no reply. */
export function scenarioIn(events: readonly JournalEvent[]): CrashScenario | undefined {
  const messages = events.filter((event) => event.type === "message")
  const begun = events.find((event) => event.type === "conversation_started")
  const decide = decisionsIn(events)
  // The highest limit of its runs does not cut the others, which end with their replies.
  const rounds = events.flatMap((event) => (event.type === "run_started" ? event.maxIterations : []))
  return CrashScenario.safeParse({
    agent: begun?.agent,
    mode: begun?.mode,
    say: messages.filter(({ role }) => role === "user").map(textOf),
    replies: messages.filter(isReply).map(toReply),
    ...(decide.length > 0 ? { decide } : {}),
    ...(rounds.length > 0 ? { maxIterations: Math.max(...rounds) } : {}),
  }).data
}

type Message = EventOf<"message">

const isReply = ({ role, model }: Message): boolean => role === "assistant" && model !== undefined

const textOf = ({ parts }: Message): string => parts.map((part) => (part.type === "text" ? part.text : "")).join("")

const toReply = (message: Message) => ({
  text: textOf(message),
  calls: message.parts.flatMap((part) => (part.type === "call" ? [{ name: part.name, input: part.input }] : [])),
})

/**
 * The decisions, in the order of the proposals; an edited proposal as its result. Writes without an approval, such as
 * expired ones, were not applied and are not applied here.
 */
function decisionsIn(events: readonly JournalEvent[]): ("yes" | "no")[] {
  const agreed = new Set<string>()
  const successors = new Map<string, string>()
  const made: string[] = []
  for (const event of events) {
    if (event.type === "awaiting_confirmation") made.push(...event.proposals.map(({ id }) => id))
    if (event.type === "decision" && event.decision === "commit") agreed.add(event.proposalId)
    if (event.type !== "proposal") continue
    const { proposal, replaces, approvedBy } = event
    if (approvedBy !== undefined) agreed.add(proposal.id)
    if (replaces === undefined) made.push(proposal.id)
    else successors.set(replaces, proposal.id)
  }
  const last = (id: string): string => {
    const next = successors.get(id)
    return next === undefined ? id : last(next)
  }
  return made.map((id) => (agreed.has(last(id)) ? "yes" : "no"))
}
