import { type IncomingMessage, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { CLOSE, MAX_ANSWER_BYTES } from "../../protocol/socket.ts"
import { TICKET } from "../auth/caller.ts"
import type { ConnectionHooks } from "../stream/event-stream.ts"

/** A legitimate frame of 1 MiB arrives in about a hundred packets; one in single bytes is an attack. */
const MAX_FRAGMENTS = 1024
const MAX_CHUNKS = 8192

type Fetch = (request: Request, env?: object) => Response | Promise<Response>

interface Upgrades {
  readonly upgrade: (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Accepts no new sockets. Closes the open ones when `working` resolves; those still open after `graceMs` are cut off. */
  close(graceMs: number, working: Promise<unknown>): void
}

/**
 * Upgrades requests to sockets. The app handles the request first, so a socket passes the same checks, and a refusal has a
 * real status. No input of a peer may reach the process as an unhandled `error`.
 */
export function createUpgrades(fetch: Fetch): Upgrades {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_ANSWER_BYTES, // most messages have a lower limit: `IncomingFrames`
    perMessageDeflate: false, // a small frame could expand to a huge one
    // Each fragment costs far more memory than its bytes.
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_CHUNKS,
    skipUTF8Validation: true, // a message that is cut may end inside a character; `JsonSocket` validates
    autoPong: false, // unread answers to pings would fill the memory
    handleProtocols: choose,
  })
  sockets.on("error", ignore)
  let closing = false

  return { upgrade, close }

  function upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", ignore) // a peer that is gone closes by itself
    void answer(incoming, socket, head).catch(() => socket.destroy())
  }

  async function answer(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const hooks: ConnectionHooks = {}
    let served = false
    try {
      const response = await fetch(toRequest(incoming), { incoming, hooks })
      if (socket.destroyed) return
      const { serve } = hooks
      if (!serve || closing) return await refuse(socket, response)
      // Calls back synchronously, or never: then the failed handshake was already answered.
      sockets.handleUpgrade(incoming, socket, head, (opened: WebSocket) => {
        opened.on("error", ignore) // an invalid frame closes the socket with its code; without a listener it would end the process
        served = true
        serve(opened, socket)
      })
    } finally {
      if (!served) hooks.drop?.()
    }
  }

  function close(graceMs: number, working: Promise<unknown>): void {
    closing = true
    void working.then(() => {
      for (const socket of sockets.clients) socket.close(CLOSE.goingDown, "the server goes down")
    })
    setTimeout(() => sockets.clients.forEach((socket) => socket.terminate()), graceMs).unref()
  }
}

function toRequest({ headers, url = "/", method = "GET" }: IncomingMessage): Request {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value] as [string, string]],
  )
  return new Request(new URL(url, `http://${headers.host ?? ""}`), { method, headers: pairs })
}

async function refuse(socket: Duplex, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer())
  const status = response.status < 300 ? 503 : response.status
  const headers = [...response.headers, ["connection", "close"], ["content-length", String(body.length)]]
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${head}\r\n`), body]))
  socket.once("finish", () => socket.destroy()) // a peer that never closes its end must not keep ours open
}

/** Browsers require one of the offered protocols. Echoing a ticket reveals nothing, because it is used by now. */
function choose(offered: Set<string>): string | false {
  const [first] = offered
  return [...offered].find((name) => !name.startsWith(TICKET)) ?? first ?? false
}

function ignore(): void {}
