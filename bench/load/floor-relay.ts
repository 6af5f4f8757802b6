/**
 * The least that carries the same bytes: calls the provider, reads its stream, sends each delta to the watchers, and
 * appends one row with the whole reply to SQLite. No runs, journal, leases, limits or people: `node
 * bench/load/floor-relay.ts <provider> <database>`.
 */
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { DatabaseSync } from "node:sqlite"

const [provider = "", file = ""] = process.argv.slice(2)
const database = new DatabaseSync(file)
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE message (id TEXT, text TEXT)")
const append = database.prepare("INSERT INTO message VALUES (?, ?)")
const watchers = new Map<string, Set<ServerResponse>>()

const server = createServer((request, response) => {
  const id = request.url ?? ""
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(":\n\n")
    watchers.set(id, (watchers.get(id) ?? new Set()).add(response))
    return
  }
  let text = ""
  request.setEncoding("utf8")
  request.on("data", (piece: string) => (text += piece))
  request.on("end", () => void answer(id, text).then((reply) => response.end(JSON.stringify({ reply }))))
})
server.keepAliveTimeout = 0 // none, because a connection that closes just before reuse would fail a request
server.listen(0, "127.0.0.1")
await once(server, "listening")
console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)

async function answer(id: string, text: string): Promise<string> {
  const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: text }] })
  const response = await fetch(`${provider}/v1/chat/completions`, { method: "POST", body })
  const decoder = new TextDecoder()
  let [reply, rest] = ["", ""]
  for await (const bytes of response.body ?? []) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    let shown = ""
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue
      const { choices } = JSON.parse(line.slice(6)) as { choices: { delta: { content?: string } }[] }
      const delta = choices[0]?.delta.content ?? ""
      reply += delta
      shown += `event: text_delta\ndata: ${JSON.stringify({ text: delta })}\n\n`
    }
    for (const watcher of watchers.get(id) ?? []) watcher.write(shown)
  }
  append.run(id, reply)
  for (const watcher of watchers.get(id) ?? []) watcher.end("event: done\ndata: {}\n\n")
  return reply
}
