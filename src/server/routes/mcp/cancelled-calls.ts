import { createHash } from "node:crypto"
import { type MessageId, slotDigitsOf } from "../../../protocol/ids.ts"
import type { Caller } from "../../door/ports.ts"
import type { McpServerPorts } from "./ports.ts"

/**
 * Calls of clients of 2025 that are being answered by this server, so that a message that takes one back finds it. Their
 * numbers count from zero in each client: a label that we hand out with the handshake tells clients of one token apart.
 */
const openAt = new WeakMap<McpServerPorts, Map<string, AbortController>>()

/** Of the newest conversations: one that is at work is among them. */
const LOOKED_AT = 50

/** Which call a message is about. */
export interface NamedCall {
  readonly caller: Caller
  readonly session: string | undefined
  readonly id: unknown
}

/** A signal that says that the call was taken back; forgotten by `close`. Without a label nobody can take it back. */
export function openCall(ports: McpServerPorts, call: NamedCall): { readonly signal: AbortSignal; close(): void } {
  const controller = new AbortController()
  const name = nameOf(call)
  const open = openAt.get(ports) ?? new Map<string, AbortController>()
  openAt.set(ports, open)
  if (name === undefined || open.has(name)) return { signal: controller.signal, close() {} }
  open.set(name, controller)
  return { signal: controller.signal, close: () => void open.delete(name) }
}

/**
 * Takes a call back: here, or where another node answers it, whose run is found by its words. Those of a call with a key
 * have the key's name, and are not found there.
 */
export async function cancelCall(ports: McpServerPorts, call: NamedCall): Promise<void> {
  const here = openAt.get(ports)?.get(nameOf(call) ?? "")
  if (here) return here.abort()
  const message = messageOfCall(call)
  const user = call.caller.person.id
  if (message === undefined || !call.caller.scopes.has("chat")) return
  const { conversations, journal, runtime } = ports
  for (const { id, status } of (await conversations.list(user, { limit: LOOKED_AT })).items) {
    const place = status === "running" ? await conversations.placeOf(id, message) : undefined
    if (typeof place !== "number") continue
    const start = await conversations.runStart(id, place)
    const [started] = await journal.read(id, { after: start - 1, upTo: start })
    if (started?.type !== "run_started" || !("runId" in started)) continue
    return void (await runtime.submit(id, { type: "cancel", by: user, run: started.runId }))
  }
}

/** The name of the words of a call, the same on every node; undefined where nobody can take it back. */
export function messageOfCall(call: NamedCall): MessageId | undefined {
  const name = nameOf(call)
  if (name === undefined) return undefined
  const digits = createHash("sha256").update(name).digest("hex").slice(0, 18)
  return `msg_${digits}${slotDigitsOf(call.caller.person.id)}` as MessageId
}

function nameOf({ caller, session, id }: NamedCall): string | undefined {
  if (session === undefined || (typeof id !== "string" && typeof id !== "number")) return undefined
  return JSON.stringify([caller.credential.id, session, id])
}
