import { once } from "node:events"
import { WebSocket } from "ws"

/** A minimal client of a socket, which `http-client.ts` uses in its own process. */
export interface Reach {
  readonly url: string
  readonly token: string
}

export interface SocketWatcher {
  over(): Promise<string>
  close(): void
}

/** Resolves when the first event has arrived: from then on no event is missed. */
export async function openSocketWatcher(reach: Reach, conversationId: string): Promise<SocketWatcher> {
  const socket = await open(reach)
  const over = Promise.withResolvers<string>()
  const attached = Promise.withResolvers<void>()
  let text = ""
  socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as { type: string; event?: { type: string; data: { text: string } } }
    if (frame.type !== "event" || !frame.event) return
    attached.resolve()
    if (frame.event.type === "text_delta") text += frame.event.data.text
    if (frame.event.type === "done") over.resolve(text)
  })
  socket.send(JSON.stringify({ type: "attach", conversationId }))
  await attached.promise
  return { over: () => over.promise, close: () => socket.terminate() }
}

/** A device with one row that answers every call with it. Without a server, it echoes. */
export async function openBenchDevice(reach: Reach, { deviceId, row }: DeviceOrder): Promise<{ close(): void }> {
  const socket = await open(reach)
  const known = Promise.withResolvers<void>()
  const answer = `","row":${row}}`
  socket.on("message", (data: Buffer, binary) => {
    const text = data.toString()
    if (text.startsWith(ECHO)) return socket.send(data, { binary })
    const { type, id } = JSON.parse(text) as { type: string; id: string }
    if (type === "tool_call") socket.send(`{"type":"tool_result","id":"${id}${answer}`)
    else if (type === "hello") known.resolve()
  })
  socket.send(JSON.stringify({ type: "hello", deviceId, ledger: true, offers: ["workspace"] }))
  await known.promise
  return { close: () => socket.terminate() }
}

export interface DeviceOrder {
  readonly deviceId: string
  /** The row as JSON. */
  readonly row: string
}

/** The start of a frame that is only echoed. */
export const ECHO = "echo"

async function open({ url, token }: Reach): Promise<WebSocket> {
  const headers = { authorization: `Bearer ${token}` }
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/ws`, { headers, perMessageDeflate: false })
  await once(socket, "open")
  return socket
}
