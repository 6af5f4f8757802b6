import { ownRoutes } from "../../protocol/routes/own-routes.ts"
import type { Calls } from "../calls.ts"
import type { PlainSocket } from "./connection.ts"
import type { Transport } from "../transport.ts"

export type SocketConstructor = new (url: string, protocols: string[]) => PlainSocket

export interface Dialled {
  readonly transport: Transport
  readonly calls: Pick<Calls, "createTicket">
  /** The platform's own by default. */
  readonly WebSocket?: SocketConstructor | undefined
}

/**
 * Begins to open a socket, with a ticket: the platform's own WebSocket can send no header, neither in a page nor in Node.
 * Where the caller is refused it is the ticket that is, with a status; of a socket nothing could be told but that it failed.
 */
export async function dial(
  { transport, calls, WebSocket = globalThis.WebSocket }: Dialled,
  signal: AbortSignal,
): Promise<PlainSocket> {
  const { ticket } = await calls.createTicket({ signal })
  signal.throwIfAborted()
  return new WebSocket(transport.socketUrl(ownRoutes.openSocket.path), [`pawl.ticket.${ticket}`])
}
