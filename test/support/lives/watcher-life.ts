import { WebSocket } from "ws"
import "./keep-compiled.ts"

// A plain watcher: `watcher-life.ts SERVER CONVERSATION`, with WATCHER_TOKEN. It prints every frame as a line, and
// reconnects with its last cursor when its stream is closed.
const [server = "", conversationId = ""] = process.argv.slice(2)
const headers = { authorization: `Bearer ${process.env.WATCHER_TOKEN}` }
let after: string | undefined

function watch(): void {
  const socket = new WebSocket(`${server.replace("http", "ws")}/api/ws`, { headers })
  socket.on("open", () => socket.send(JSON.stringify({ type: "attach", conversationId, ...(after ? { after } : {}) })))
  socket.on("message", (data: Buffer) => {
    const { type, event } = JSON.parse(data.toString()) as { type: string; event?: { id: string; type: string } }
    if (type !== "event" || !event) return
    after = event.id
    process.stdout.write(`${JSON.stringify(event)}\n`)
  })
  socket.on("error", () => {})
  socket.on("close", (code) => {
    process.stdout.write(`closed ${code}\n`)
    setTimeout(watch, 100)
  })
}

watch()
