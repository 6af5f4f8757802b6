import { canonicalJson } from "../../protocol/canonical-json.ts"
import type { CallPart, Part, Usage } from "../../protocol/conversation/message.ts"
import type { UserId } from "../../protocol/ids.ts"
import { accounted } from "../ask/spend.ts"
import { Reply } from "../ask/reply.ts"
import { streamReply } from "../ask/stream-reply.ts"
import { systemClock } from "../clock.ts"
import { messageText } from "../history/parts.ts"
import type { Model, ModelRequest } from "../model.ts"

/** What a model said: its words, and what it called. */
export interface SaidReply {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
}

export interface DryReply extends SaidReply {
  readonly usage: Usage | undefined
  readonly ms: number
}

export const toSaid = (parts: readonly Part[]): SaidReply => ({
  text: messageText(parts),
  calls: parts.filter((part): part is CallPart => part.type === "call").map(({ name, input }) => ({ name, input })),
})

/** Asks a model once and keeps what it says to itself: no tool is called, nothing is recorded, nobody is shown it. */
export async function askDry(
  model: Model,
  request: ModelRequest,
  { user, signal }: { readonly user: UserId; readonly signal: AbortSignal },
): Promise<DryReply> {
  const reply = new Reply(model.name, user, systemClock)
  const began = performance.now()
  await streamReply({ model, request, signal }, (part) => void reply.add(part))
  const ms = Math.round(performance.now() - began)
  return { ...toSaid(reply.parts), usage: accounted(model, reply.usage, undefined), ms }
}

/** Whether both ask for the same: then what the one was answered serves the other too. */
export const callsAgree = (one: SaidReply, other: SaidReply): boolean =>
  canonicalJson(one.calls) === canonicalJson(other.calls)
