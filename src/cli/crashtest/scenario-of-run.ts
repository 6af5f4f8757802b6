import { openConfiguredStore, type StoreConfig } from "../../compose/open-store.ts"
import { isKnown } from "../../agent/replay/replay.ts"
import type { EventOf, JournalEvent } from "../../protocol/events.ts"
import type { RunId } from "../../protocol/ids.ts"
import { CommandError } from "../process/command.ts"
import { CrashScenario } from "./scenario.ts"

/** What was said and replied in a conversation up to the end of a run, as a scenario: the recorded replies are the model's. */
export async function scenarioOfRun(config: StoreConfig, run: RunId): Promise<CrashScenario> {
  await using store = await openConfiguredStore(config)
  const found = await store.conversations.runOfAnybody(run)
  if (!found) throw new CommandError(`There is no ${run} here: it was never here, or what it belonged to was erased.`)
  const { conversationId, status } = found.run
  if (status === "running" || status === "paused")
    throw new CommandError(`${run} is not over yet (${status}): what follows its last row is on no record.`)
  const rows = await store.conversations.rowsOfRun(conversationId, run)
  const events = await store.journal.read(conversationId, { upTo: rows?.upTo ?? 0 })
  const newer = events.find((event) => !isKnown(event))
  if (newer)
    throw new CommandError(
      `Row ${newer.position} (${newer.type}) was written by a newer Pawl, and is not understood here.`,
    )
  const known = events as JournalEvent[]
  const messages = known.filter((event) => event.type === "message")
  const asked = {
    say: messages.filter(({ role }) => role === "user").map(textOf),
    replies: messages.filter(isReply).map(toReply),
  }
  const begun = known.find((event) => event.type === "conversation_started")
  const read = CrashScenario.safeParse({ agent: begun?.agent, mode: begun?.mode, ...asked, decide: decisionsIn(known) })
  if (read.success) return read.data
  throw new CommandError(`${run} cannot be played again: nobody was asked in it, or no model has replied.`)
}

type Message = EventOf<"message">

const isReply = ({ role, model }: Message): boolean => role === "assistant" && model !== undefined

const textOf = ({ parts }: Message): string => parts.map((part) => (part.type === "text" ? part.text : "")).join("")

const toReply = (message: Message) => ({
  text: textOf(message),
  calls: message.parts.flatMap((part) => (part.type === "call" ? [{ name: part.name, input: part.input }] : [])),
})

/** As each proposal was decided, in the order in which they were made. */
function decisionsIn(events: readonly JournalEvent[]): ("yes" | "no")[] {
  const decided = new Map(events.flatMap((event) => (event.type === "decision" ? [[event.proposalId, event]] : [])))
  const made = events.flatMap((event) => (event.type === "proposal" ? [event.proposal.id] : []))
  return made.map((id) => (decided.get(id)?.decision === "reject" ? "no" : "yes"))
}
