import type { Caller } from "../../door/ports.ts"

/**
 * Calls of clients of 2025 that are being answered in this process, so that a message that takes one back finds it. Their
 * numbers count from zero in each client: a label that we hand out with the handshake tells clients of one token apart.
 */
const open = new Map<string, AbortController>()

/** Which call a message is about. */
interface NamedCall {
  readonly caller: Caller
  readonly session: string | undefined
  readonly id: unknown
}

/** A signal that says that the call was taken back; forgotten by `close`. Without a label nobody can take it back. */
export function openCall(call: NamedCall): { readonly signal: AbortSignal; close(): void } {
  const controller = new AbortController()
  const name = nameOf(call)
  if (name === undefined || open.has(name)) return { signal: controller.signal, close() {} }
  open.set(name, controller)
  return { signal: controller.signal, close: () => void open.delete(name) }
}

export function cancelCall(call: NamedCall): void {
  const name = nameOf(call)
  if (name !== undefined) open.get(name)?.abort()
}

function nameOf({ caller, session, id }: NamedCall): string | undefined {
  if (session === undefined || (typeof id !== "string" && typeof id !== "number")) return undefined
  return JSON.stringify([caller.credential.id, session, id])
}
