import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterEach, beforeEach, expect, test } from "vitest"
import { listen } from "../../../core/server/listen.ts"

/** The requests that have started, and the function that answers each of them. */
let begun: string[]
let open: Map<string, (answer: Response) => void>
let gone: Promise<void>
let server: Awaited<ReturnType<typeof listen>>
let client: Socket
let read: string

beforeEach(async () => {
  begun = []
  open = new Map()
  read = ""
  const left = Promise.withResolvers<void>()
  gone = left.promise
  const answer = ({ url, signal }: Request) => {
    signal.addEventListener("abort", () => left.resolve())
    const { promise, resolve } = Promise.withResolvers<Response>()
    const { pathname } = new URL(url)
    begun.push(pathname)
    open.set(pathname, resolve)
    return promise
  }
  server = await listen(answer, { host: "127.0.0.1", port: 0 })
  client = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {})
  client.setEncoding("latin1").on("data", (text: string) => (read += text))
  await once(client, "connect")
})
afterEach(async () => {
  client.destroy()
  await server.close(0)
})

const send = (from: number, to: number) => {
  let requests = ""
  for (let at = from; at <= to; at++) requests += `GET /${at} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`
  client.write(requests)
}

test("requests that are sent together over one connection start one by one, each after the previous answer", async () => {
  send(1, 3)
  for (const at of ["1", "2", "3"]) {
    await expect.poll(() => begun.at(-1)).toBe(`/${at}`)
    expect(begun).toHaveLength(Number(at))
    open.get(`/${at}`)?.(new Response(`answer ${at}.`))
    await expect.poll(() => read).toContain(`answer ${at}.`)
  }
  send(4, 4)
  await expect.poll(() => begun).toHaveLength(4)
})

test("those whose connection has closed meanwhile do not start", async () => {
  send(1, 3)
  await expect.poll(() => begun).toHaveLength(1)
  const other = connect(Number(new URL(server.url).port), "127.0.0.1")
  client.destroy()
  await gone
  open.get("/1")?.(new Response("unheard"))
  other.write("GET /other HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
  await expect.poll(() => begun).toEqual(["/1", "/other"])
  other.destroy()
})

test("a connection with hundreds of waiting requests is cut", async () => {
  send(1, 257)
  await expect.poll(() => begun).toHaveLength(1)
  expect(client.closed).toBe(false)
  const closed = once(client, "close")
  send(258, 258)
  await closed
  expect(begun).toEqual(["/1"])
})
