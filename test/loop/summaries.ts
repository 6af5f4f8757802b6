import type { ModelRequest } from "../../core/engine/model.ts"
import { always, type ScriptedModel, scripted } from "../../core/models/scripted/model.ts"
import { says } from "../../core/models/scripted/script.ts"
import type { EventOf } from "../../core/protocol/events.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { of } from "../support/loop/checked-world.ts"
import type { World } from "../support/loop/world.ts"

export const LONG_WORDS = "x".repeat(600)

/** Reports whether the model is asked for a summary instead of a reply. */
export const asksForSummary = ({ system }: Pick<ModelRequest, "system">): boolean =>
  system.startsWith("You summarize the older part")

/** A model of 2,000 tokens that answers with long texts, and with this text when it must summarize. */
export function talkative(summary = "They spoke of x."): ScriptedModel {
  const model = scripted(always((request) => says(asksForSummary(request) ? summary : "y".repeat(600))))
  model.contextTokens = 2000
  return model
}

/** A conversation with so many long questions. */
export async function talkAtLength(world: World, turns: number): Promise<ConversationId> {
  const id = await world.begin(`0 ${LONG_WORDS}`)
  for (let n = 1; n < turns; n++) await world.send(id, `${n} ${LONG_WORDS}`)
  return id
}

export async function askForSummary(world: World, id: ConversationId): Promise<void> {
  await world.pawl.runtime.submit(id, { type: "compact", by: world.user })
  await world.pawl.runtime.rest(id)
}

export async function compactionsOf(world: World, id: ConversationId): Promise<EventOf<"compaction">[]> {
  return of(await world.events(id), "compaction")
}

/** The summary in place of the previous history, as in the model's last request. */
export function summaryShown({ received }: ScriptedModel): string {
  const first = received.at(-1)?.history[0]
  return first?.role === "user" && first.isNote ? first.text : ""
}
