/**
 * The clients of W6, in a separate process, so that their CPU time is not counted as the server's. Controlled by
 * messages from the parent process; answers each with its measurements.
 */
import { get, type IncomingMessage } from "node:http"
import { connect, type Socket } from "node:net"
import { type DeviceOrder, openBenchDevice, openSocketWatcher } from "./socket-client.ts"

export type Order =
  | { readonly type: "watch"; readonly ids: readonly string[]; readonly by?: "socket" }
  /** Stays until `leave`. */
  | ({ readonly type: "device" } & DeviceOrder)
  /** Answered when each watcher has received the end of the run, with the text that each received. */
  | { readonly type: "over" }
  | { readonly type: "leave" }
  | { readonly type: "turns"; readonly count: number; readonly text: string }

export interface Seen {
  readonly texts?: readonly string[]
  readonly times?: readonly number[]
  /** The answer to the last message. */
  readonly answer?: string
}

const [url = "", token = ""] = process.argv.slice(2)
const { hostname, port, host } = new URL(url)
let watchers: Watcher[] = []
let devices: { close(): void }[] = []

process.on("message", (order: Order) => {
  obey(order).then(
    (seen) => process.send?.(seen),
    (error: Error) => process.send?.({ error: error.message }),
  )
})
process.on("disconnect", () => process.exit(0))
process.send?.({})

async function obey(order: Order): Promise<Seen> {
  switch (order.type) {
    case "watch":
      watchers.push(...(await Promise.all(order.ids.map(order.by === "socket" ? openBySocket : openWatcher))))
      return {}
    case "device":
      devices.push(await openBenchDevice({ url, token }, order))
      return {}
    case "over":
      return { texts: await Promise.all(watchers.map((watcher) => watcher.over())) }
    case "leave":
      for (const open of [...watchers, ...devices]) open.close()
      watchers = []
      devices = []
      return {}
    case "turns":
      return takeTurns(order.count, order.text)
  }
}

interface Watcher {
  over(): Promise<string>
  close(): void
}

const openBySocket = (id: string): Promise<Watcher> => openSocketWatcher({ url, token }, id)

/** Resolves when the first bytes have arrived: from then on no event is missed. */
async function openWatcher(id: string): Promise<Watcher> {
  const path = `/api/conversations/${id}/events?after=1`
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ hostname, port, path, agent: false, headers: { authorization: `Bearer ${token}` } }, resolve).on(
      "error",
      reject,
    )
  })
  if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}`)
  const over = Promise.withResolvers<string>()
  const connected = Promise.withResolvers<void>()
  let seen = ""
  response.setEncoding("utf8")
  response.on("data", (text: string) => {
    connected.resolve()
    seen += text
    if (/^event: done$/m.test(text.length > 100 ? text.slice(-200) : seen.slice(-200))) over.resolve(seen)
  })
  response.on("error", () => {})
  await connected.promise
  return { over: async () => textIn(await over.promise), close: () => response.destroy() }
}

/** The text of the deltas in a stream of events. */
function textIn(stream: string): string {
  const deltas = stream.matchAll(/^event: text_delta\ndata: (.*)$/gm)
  return Array.from(deltas, ([, data = ""]) => (JSON.parse(data) as { text: string }).text).join("")
}

/** Runs conversations of one turn, one after the other over one connection, with a minimal client. */
async function takeTurns(count: number, text: string): Promise<Seen> {
  const socket = connect(Number(port), hostname).setNoDelay()
  const times: number[] = []
  let answer = ""
  for (let i = 0; i < count; i++) {
    const from = performance.now()
    const { id } = JSON.parse(await post(socket, "/api/conversations", { agent: "bench" })) as { id: string }
    answer = await post(socket, `/api/conversations/${id}/messages`, { text })
    times.push(performance.now() - from)
  }
  socket.destroy()
  return { times, answer }
}

function post(socket: Socket, path: string, body: object): Promise<string> {
  const json = JSON.stringify(body)
  const head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\naccept: application/json\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n`
  return new Promise((resolve, reject) => {
    let got = ""
    socket.once("error", reject)
    socket.on("data", function hear(bytes) {
      got += bytes.toString("latin1")
      const end = got.indexOf("\r\n\r\n")
      if (end < 0) return
      const length = Number(/content-length: (\d+)/i.exec(got)?.[1])
      if (got.length < end + 4 + length) return
      socket.off("data", hear)
      socket.off("error", reject)
      if (!/^HTTP\/1.1 20/.test(got)) return reject(new Error(got))
      resolve(got.slice(end + 4))
    })
    socket.write(head + json)
  })
}
