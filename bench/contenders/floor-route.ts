import type { ServerResponse } from "node:http"
import { Hono } from "hono"
import type { WebSocket } from "ws"
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response"
import type { ComposedServer } from "../../core/compose/compose-server.ts"
import type { OpenedEngine } from "../engine.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import type { Place, Variant } from "../contender.ts"
import { finalText, userText } from "../script.ts"
import { ECHO } from "../socket-client.ts"
import { toContender } from "./pawl.ts"
import { type Served, serve } from "./pawl-server.ts"

type Env = { Bindings: { outgoing: ServerResponse; line: { serve?: (socket: WebSocket) => void } } }

/**
 * The floor of a server: bare routes of the same framework around the same runtime. They read and answer JSON of the
 * same size as ours, without authentication, reads or lookups. Events are written to the socket as they arrive, once
 * per turn of the event loop, without cursors, back-pressure or history. A device is a `ws` socket that echoes.
 */
export function openFloorRoute(variant: Variant, place: Place): Promise<Served> {
  return serve(variant, place, async ({ pawl, app: ours }, token) => {
    const contender = await toContender(pawl, variant)
    const [begun, answered] = await sampleAnswers(ours, token)
    const app = new Hono<Env>()
    app.post("/api/conversations", async (c) => {
      await c.req.json()
      return c.json(begun, 201)
    })
    let turns = 0
    app.post("/api/conversations/:id/messages", async (c) => {
      const { text } = await c.req.json<{ text: string }>()
      const said = await contender.turn(`conv_f${turns++}`, text, true)
      if (said !== finalText(0)) throw new Error("the answer of a turn")
      return c.json(answered)
    })
    app.get("/api/conversations/:id/events", (c) => {
      const { outgoing } = c.env
      outgoing.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
      outgoing.write(":\n\n")
      outgoing.once("close", writeEvents(pawl, c.req.param("id") as ConversationId, outgoing))
      return RESPONSE_ALREADY_SENT
    })
    const devices = new Map<string, WebSocket>()
    app.get("/api/ws", (c) => {
      c.env.line.serve = (socket) =>
        socket.once("message", (data: Buffer) => {
          const frame = JSON.parse(data.toString()) as { type: string; deviceId: string; conversationId: string }
          if (frame.type === "attach") return writeFrames(pawl, frame.conversationId as ConversationId, socket)
          devices.set(frame.deviceId, socket)
          return socket.send(data, { binary: false })
        })
      return c.body(null, 200)
    })
    return { fetch: app.fetch, askDevice: (deviceId) => echo(devices.get(deviceId) as WebSocket) }
  })
}

/** The average length of a call to a device with its answer. */
const ECHOED = `${ECHO}${"x".repeat(200)}`

function echo(socket: WebSocket): Promise<unknown> {
  return new Promise((resolve) => {
    socket.once("message", resolve)
    socket.send(ECHOED)
  })
}

function writeFrames({ ports }: OpenedEngine, id: ConversationId, socket: WebSocket): void {
  let [text, waits] = ["", false]
  const send = (type: string, data: object) =>
    socket.send(JSON.stringify({ type: "event", conversationId: id, event: { id: "", type, data } }))
  const flush = () => {
    if (text !== "") send("text_delta", { text })
    ;[text, waits] = ["", false]
  }
  send("attached", {})
  const leave = ports.bus.subscribe(id, (live) => {
    if (live.type === "text_delta") {
      text += live.text
      if (!waits) setImmediate(flush)
      waits = true
      return
    }
    flush()
    if (live.type === "events") for (const event of live.events) send(event.type, event)
    if (live.type === "rest") send("done", { status: "completed" })
  })
  socket.once("close", leave)
}

function writeEvents({ ports }: OpenedEngine, id: ConversationId, outgoing: ServerResponse): () => void {
  let [text, waits] = ["", false]
  const flush = () => {
    outgoing.write(text)
    ;[text, waits] = ["", false]
  }
  const frame = (id: string, type: string, data: object) => {
    text += `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
    if (!waits) setImmediate(flush)
    waits = true
  }
  return ports.bus.subscribe(id, (live) => {
    if (live.type === "text_delta") frame(`${live.position}.${live.offset}`, live.type, { text: live.text })
    if (live.type === "events") for (const event of live.events) frame(String(event.position), event.type, event)
    if (live.type === "rest") frame("", "done", { status: "completed" })
  })
}

/** Bodies of the same size as the answers of our own routes. */
async function sampleAnswers(app: ComposedServer["app"], token: string): Promise<object[]> {
  const headers = { authorization: `Bearer ${token}`, host: "127.0.0.1" }
  const post = async (path: string, body: object) => {
    const init = { method: "POST", headers, body: JSON.stringify(body) }
    return (await app.fetch(new Request(`http://127.0.0.1${path}`, init))).json()
  }
  const begun = (await post("/api/conversations", { agent: "bench" })) as { id: string }
  const answered = (await post(`/api/conversations/${begun.id}/messages`, { text: userText(0) })) as object
  return [begun, answered]
}
