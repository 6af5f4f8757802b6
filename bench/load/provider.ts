/**
 * A provider that speaks chat completions and streams long replies in small deltas, as fast as they are read, or at a
 * pace: `node bench/load/provider.ts <characters> <delta characters> <seconds a reply takes, 0: no pace>`.
 */
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { chatChunk, sse } from "../../core/models/providers/server.fixture.ts"
import { taskNumberOf, asksForTask, longReply } from "./long-reply.ts"

const [characters = 0, size = 24, seconds = 0] = process.argv.slice(2).map(Number)
/** The number of deltas in one write, as a provider's socket would combine them. */
const TOGETHER = 64
const PACE_MS = 50

const server = createServer((request, response) => {
  if (request.method !== "POST") return void response.writeHead(404).end()
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (text: string) => (body += text))
  request.on("end", () => {
    const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] }
    const asked = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content)
    const at = taskNumberOf(asked)
    response.on("error", () => {})
    response.writeHead(200, { "content-type": "text/event-stream" })
    if (messages.at(-1)?.role === "user" && asksForTask(asked)) return void response.end(createsTask(at))
    void write(response, longReply(at, characters))
  })
})
server.keepAliveTimeout = 0 // none, because a connection that closes just before reuse would fail a request
server.listen(0, "127.0.0.1")
await once(server, "listening")
console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)

/** A reply with a write that needs approval. */
function createsTask(at: number): string {
  const call = { name: "create_task", arguments: JSON.stringify({ title: `Task ${at}` }) }
  const called = chatChunk({ tool_calls: [{ index: 0, id: `call_${at}`, type: "function", function: call }] })
  return sse(called, chatChunk({}, "tool_calls"), "[DONE]")
}

async function write(response: ServerResponse, text: string): Promise<void> {
  const step = seconds > 0 ? Math.ceil((characters / (seconds * 1000)) * PACE_MS) : size * TOGETHER
  for (let at = 0; at < text.length && !response.destroyed; at += step) {
    const deltas: object[] = []
    const end = Math.min(text.length, at + step)
    for (let from = at; from < end; from += size)
      deltas.push(chatChunk({ content: text.slice(from, Math.min(end, from + size)) }))
    if (!response.write(sse(...deltas))) await Promise.race([once(response, "drain"), once(response, "close")])
    if (seconds > 0) await new Promise((resolve) => setTimeout(resolve, PACE_MS))
  }
  response.end(sse(chatChunk({}, "stop"), "[DONE]"))
}
