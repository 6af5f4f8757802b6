import { type IncomingMessage, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { CLOSE, MAX_ANSWER_BYTES } from "../../protocol/socket.ts"
import { TICKET } from "../auth/caller.ts"
import type { Takeover } from "../stream/event-stream.ts"

/** A frame of a mebibyte comes in some hundred packets; who sends it byte by byte means harm. */
const MAX_FRAGMENTS = 1024
const MAX_CHUNKS = 8192

type Fetch = (request: Request, env?: object) => Response | Promise<Response>

export interface Upgrades {
  readonly upgrade: (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void
  /**
   * Accepts no new sockets. Closes the open ones when `working` has resolved; those still open after `graceMs` are cut off.
   */
  close(graceMs: number, working: Promise<unknown>): void
}

/**
 * Turns requests into sockets. The app is asked first, as for any other request, so a socket passes the same checks; what it
 * refuses is answered with a real status. Nothing a peer sends may reach the process as an unheard `error`.
 */
export function createUpgrades(fetch: Fetch): Upgrades {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_ANSWER_BYTES, // most messages may have less: `IncomingFrames`
    perMessageDeflate: false, // a small frame could be a huge one
    // Each piece of a frame that has not all come yet costs far more memory than its one byte.
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_CHUNKS,
    skipUTF8Validation: true, // a message that is cut short may end in the middle of a character; `JsonSocket` validates
    autoPong: false, // an answer to every ping, unread, would fill the memory
    handleProtocols: choose,
  })
  sockets.on("error", ignore)
  let closing = false

  return { upgrade, close }

  function upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", ignore) // whoever is gone before the answer closes; nobody else has to hear of it
    void answer(incoming, socket, head).catch(() => socket.destroy())
  }

  async function answer(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const line: Takeover = {}
    let served = false
    try {
      const response = await fetch(toRequest(incoming), { incoming, line })
      if (socket.destroyed) return
      const { serve } = line
      if (!serve || closing) return await refuse(socket, response)
      // Calls back at once, or never: where the handshake is none it has been answered.
      sockets.handleUpgrade(incoming, socket, head, (opened: WebSocket) => {
        opened.on("error", ignore) // a bad frame closes the socket with its code; without a listener it ends the process
        served = true
        serve(opened, socket)
      })
    } finally {
      if (!served) line.drop?.()
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
  socket.once("finish", () => socket.destroy()) // a peer that never closes its end does not keep ours open
}

/** A browser wants one of the protocols that it has offered; a ticket is spent by now, so to repeat it tells nothing. */
function choose(offered: Set<string>): string | false {
  const [first] = offered
  return [...offered].find((name) => !name.startsWith(TICKET)) ?? first ?? false
}

function ignore(): void {}
