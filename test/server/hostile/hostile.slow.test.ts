import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { lifeNamed } from "../../support/processes/package.ts"
import { dataFolder } from "../../support/processes/pawl-process.ts"
import { tokenFor } from "../../support/processes/token-for.ts"
import { Visitor } from "../../support/server/face.ts"
import { isLong, oneIn } from "../../support/sizes.ts"
import { WatchedServer } from "../../support/processes/watched-server.ts"

/** No request ends the process or delays `/healthz` by more than a second. */
const MAX_LATE_MS = 1000
const MEGABYTE = 1024 * 1024
/** The number of identical bodies that are sent at once. */
const AT_ONCE = isLong ? 30 : 10
/** More streams than one user may open. */
const ATTEMPTS = 1100

describe("a server among hostile callers", () => {
  let server: WatchedServer
  let ada: Visitor
  let conversation: string
  let token: string
  let port: number
  /** From the first test to the last: silent connections, and heads and bodies that arrive slowly. */
  let idle: Line[]
  let heading: Line[]
  let uploads: Line[]
  let drip: NodeJS.Timeout

  beforeAll(async () => {
    const environment = { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_RATE_LIMIT: "0" }
    token = await tokenFor(environment)
    server = new WatchedServer(environment, lifeNamed("impatient-life"))
    const url = await server.url()
    port = Number(new URL(url).port)
    ada = new Visitor(fetch, token, url)
    conversation = await ada.begin()
    expect((await ada.say(conversation, "list my tasks")).status).toBe(200)
    await server.longestTurn() // do not count the turn of its start
    const lines = (length: number) => Promise.all(Array.from({ length }, () => Line.open(port)))
    idle = await lines(600)
    heading = await lines(100)
    uploads = await lines(50)
    for (const line of heading) line.write("GET /api/models HTTP/1.1\r\nhost: 127.0.0.1\r\n")
    for (const line of uploads) line.write(head("POST", messages(), "content-length: 1000"))
    const drop = () => {
      for (const line of heading.filter(drips)) line.write("x: y\r\n")
      for (const line of uploads.filter(drips)) line.write(" ")
    }
    drip = setInterval(drop, 250)
  })

  afterAll(async () => {
    clearInterval(drip)
    await server[Symbol.asyncDispose]()
  })

  /** Only every second one: a write to a cut connection closes it unread, so a slow client may not get the reason. */
  const drips = (line: Line, index: number) => index % 2 === 0 && line.text === ""

  /** The head of a request by ada. */
  const head = (method: string, path: string, ...lines: string[]) =>
    `${[`${method} ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`, `authorization: Bearer ${token}`, ...lines].join("\r\n")}\r\n\r\n`

  /** Checks that no other request had to wait and that the process is still the same. */
  async function expectUnmoved(): Promise<void> {
    expect(server.child.exitCode).toBe(null)
    expect((await ada.get("/healthz")).status).toBe(200)
    expect(await server.longestTurn(), "the longest that it did not look for others, in ms").toBeLessThan(MAX_LATE_MS)
  }

  const post = (path: string, body: string | Uint8Array, headers?: Record<string, string>) =>
    ada.ask("POST", path, { body, headers })

  const messages = () => `/api/conversations/${conversation}/messages`
  const many = (unit: string, last: string) => unit.repeat(Math.floor((MEGABYTE - 1000) / unit.length)) + last

  const bodies: [
    what: string,
    path: () => string,
    body: () => string | Uint8Array,
    headers?: Record<string, string>,
  ][] = [
    ["deep arrays", messages, () => "[".repeat(500_000) + "]".repeat(500_000)],
    ["deep objects", messages, () => many('{"a":', "1")],
    ["deep in a field", messages, () => `{"text":${"[".repeat(400_000)}${"]".repeat(400_000)}}`],
    ["__proto__", messages, () => '{"text":"a","__proto__":{"when":"steer"}}'],
    ["a constructor", messages, () => '{"text":"a","constructor":{"prototype":{"admin":true}}}'],
    ["bytes that are no UTF-8", messages, () => new Uint8Array(MEGABYTE).fill(0xff)],
    ["a gzip body", messages, () => gzipSync('{"text":"a"}'), { "content-encoding": "gzip" }],
    ["a number as a body", messages, () => "5"],
    ["null", messages, () => "null"],
    ["wrong types", messages, () => '{"text":["a"],"when":{},"maxIterations":"many"}'],
    [
      "half a million zeros",
      () => `/api/conversations/${conversation}/decide`,
      () => `{"decision":"yes","proposalIds":[${many("0,", "0]}")}`,
    ],
    ["wrong scopes without end", () => "/api/tokens", () => `{"scopes":[${many('"",', '""]}')}`],
    ["unknown fields without end", () => "/api/conversations", () => `{${many('"k":1,', '"l":1}')}`],
    ["one long name of a field", () => "/api/conversations", () => `{"${"k".repeat(900_000)}":1}`],
    ["half of a surrogate", messages, () => `{"text":"${"\\ud800".repeat(100_000)}"}`],
    ["JSON without an end", messages, () => `{"text":"${"a".repeat(900_000)}`],
    ["backslashes", messages, () => `{"text":"${"\\\\".repeat(400_000)}`],
    ["a number without end", messages, () => `{"text":${"9".repeat(900_000)}}`],
    ["a position beyond all", () => `/api/conversations/${conversation}/fork`, () => '{"position":1e308}'],
    ["one byte too much", messages, () => " ".repeat(MEGABYTE + 1)],
    ["50 MB", messages, () => new Uint8Array(50 * MEGABYTE).fill(0x20)],
  ]

  test.each(oneIn(3, bodies))(
    "a body of %s is refused with a short error, also many at once",
    async (_what, path, body, headers) => {
      const bytes = body()
      const times = bytes.length > 2 * MEGABYTE ? 3 : AT_ONCE
      const replies = await Promise.all(
        Array.from({ length: times }, () => post(path(), bytes, headers).catch((error: unknown) => hangUp(error))),
      )
      for (const reply of replies) {
        if (!reply && times === 3) continue // refused before the whole body was sent
        expect(reply).toMatchObject({ status: 400, type: "application/problem+json" })
        expect(reply!.text.length).toBeLessThan(1000)
      }
      await expectUnmoved()
    },
  )

  test("50 MB in pieces are refused before they have all arrived", async () => {
    await using line = await Line.open(port)
    line.write(head("POST", messages(), "transfer-encoding: chunked"))
    for (let sent = 0; sent < 50 && !line.closed; sent++) {
      line.write(Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(MEGABYTE, 0x20), Buffer.from("\r\n")]))
    }
    expect(await line.answer()).toMatch(/^HTTP\/1\.1 400 /)
    await expectUnmoved()
  })

  const heads: [what: string, bytes: () => string | Buffer, status: RegExp][] = [
    ["TRACE", () => head("TRACE", "/api/models"), /404/],
    ["PROPFIND", () => head("PROPFIND", "/api/models"), /404/],
    ["OPTIONS", () => head("OPTIONS", "/api/models"), /404/],
    ["HEAD of a stream", () => head("HEAD", `/api/conversations/${conversation}/events`), /200/],
    ["an unknown method", () => head("FOO", "/api/models"), /400/],
    ["CONNECT", () => head("CONNECT", "127.0.0.1:1"), /^$/],
    ["HTTP/2", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", /400/],
    ["TLS", () => Buffer.from("16030102000100", "hex"), /400/],
    ["garbage", () => Buffer.alloc(100_000, 0xfe), /400/],
    ["no host", () => "GET /healthz HTTP/1.1\r\n\r\n", /400/],
    ["a host that is none", () => "GET /healthz HTTP/1.1\r\nhost: [::1\r\n\r\n", /400/],
    ["two hosts", () => `GET /healthz HTTP/1.1\r\nhost: evil.example\r\nhost: 127.0.0.1\r\n\r\n`, /4\d\d/],
    ["another's address", () => head("GET", "http://[/healthz"), /400/],
    ["a file", () => head("GET", "file:///etc/passwd"), /40[04]/],
    ["dots", () => head("GET", "/api/conversations/../../../etc/passwd"), /404/],
    ["encoded dots", () => head("GET", "/api/conversations/%2e%2e%2f%2e%2e%2fetc%2fpasswd"), /404/],
    ["a NUL in the path", () => head("GET", "/api/conversations/\0"), /400/],
    ["an encoded NUL", () => head("GET", "/api/conversations/%00"), /404/],
    ["half of an escape", () => head("GET", "/api/conversations/%E0%A4%A"), /404/],
    ["bytes in the path", () => Buffer.from(head("GET", "/api/\xff\xfe"), "latin1"), /400/],
    ["a long path", () => head("GET", `/api/${"a/".repeat(7000)}`), /404/],
    ["a longer path", () => head("GET", `/api/${"a/".repeat(50_000)}`), /431/],
    ["a long query", () => head("GET", `/api/conversations?${"limit=1&".repeat(1900)}`), /200/],
    ["a query of nonsense", () => head("GET", "/api/conversations?%=%&limit=%FF&__proto__=1"), /400/],
    ["no limit", () => head("GET", "/api/conversations?limit=1e400"), /400/],
    ["a cursor of nonsense", () => head("GET", "/api/agent/proposals?cursor=%00%FF'--"), /400/],
    ["a header without end", () => head("GET", "/api/models", `x: ${"a".repeat(MEGABYTE)}`), /431/],
    ["headers without end", () => head("GET", "/api/models", ...Array.from({ length: 20_000 }, () => "x: a")), /431/],
    [
      "two tokens",
      () => head("GET", "/api/models").replace("authorization", "authorization: Bearer x\r\nauthorization"),
      /401/,
    ],
    [
      "a cookie of nonsense",
      () => `GET /api/models HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: pawl_session=%E0%A4%A;;=;\xff\r\n\r\n`,
      /401/,
    ],
    [
      "a token of dots",
      () => `GET /api/models HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${".".repeat(12_000)}\r\n\r\n`,
      /401/,
    ],
    ["two lengths", () => `${head("POST", "/api/conversations", "content-length: 2", "content-length: 3")}{}`, /400/],
    [
      "a length and pieces",
      () => `${head("POST", "/api/conversations", "content-length: 2", "transfer-encoding: chunked")}{}`,
      /400/,
    ],
    ["a negative length", () => head("POST", "/api/conversations", "content-length: -1"), /400/],
    ["a length beyond numbers", () => head("POST", "/api/conversations", `content-length: ${"9".repeat(30)}`), /400/],
    ["a piece of no length", () => `${head("POST", "/api/conversations", "transfer-encoding: chunked")}ZZ\r\n`, /400/],
    [
      "a piece with a long name",
      () => `${head("POST", "/api/conversations", "transfer-encoding: chunked")}2;${"a".repeat(100_000)}\r\n`,
      /413/,
    ],
    ["an unknown coding", () => head("POST", "/api/conversations", "transfer-encoding: gzip"), /400/],
    ["an odd expectation", () => head("POST", "/api/conversations", "expect: nonsense", "content-length: 2"), /417/],
    [
      "a place far ahead",
      () => head("GET", `/api/conversations/${conversation}/events`, `last-event-id: ${"9".repeat(15)}`),
      /400/,
    ],
    [
      "a place that is none",
      () => head("GET", `/api/conversations/${conversation}/events`, `last-event-id: ${"9".repeat(500)}`),
      /400/,
    ],
    ["an empty socket", () => head("GET", "/api/feed", "connection: upgrade", "upgrade: h2c"), /200/],
  ]

  test.each(heads)("%s gets a plain answer", async (_what, bytes, status) => {
    await using line = await Line.open(port)
    line.write(bytes())
    const [first = ""] = (await line.answer()).split("\r\n")
    expect(first).toMatch(first === "" ? /^$/ : /^HTTP\/1\.1 [24]\d\d /)
    expect(first.split(" ")[1] ?? "").toMatch(status)
    await expectUnmoved()
  })

  test("requests in a row on one connection are answered in order, up to the garbage after them", async () => {
    await using line = await Line.open(port)
    line.write(`${head("GET", "/api/models").repeat(200)}garbage\r\n\r\n`)
    await line.end()
    expect(line.text.match(/HTTP\/1\.1 [^45]/g)?.length ?? 0).toBeLessThanOrEqual(200)
    expect(line.text).toContain("HTTP/1.1 400 ")
    await expectUnmoved()
  })

  test("a body that ends early creates nothing, and logs no error", async () => {
    const before = (await ada.get("/api/conversations?limit=200")).body.items.length
    for (const [line, part] of [
      ["content-length: 100", '{"title":'],
      ["transfer-encoding: chunked", '9\r\n{"title":\r\n'],
    ] as const) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, n) => {
          await using socket = await Line.open(port)
          socket.write(head("POST", "/api/conversations", line) + part)
          if (n % 2) await sleep(5)
        }),
      )
    }
    await expectUnmoved()
    expect((await ada.get("/api/conversations?limit=200")).body.items.length).toBe(before)
  })

  test("one user cannot open unlimited streams; others still can, and so can the user once some are closed", async () => {
    const open: AbortController[] = []
    const held: Response[] = [] // the garbage collector closes a forgotten stream
    const watch = async () => {
      const controller = new AbortController()
      const path = open.length % 2 ? `/api/conversations/${conversation}/events?after=0` : "/api/feed"
      open.push(controller)
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { authorization: `Bearer ${token}` },
        signal: controller.signal,
      })
      if (response.status === 200) return held.push(response) && 200
      expect(await response.json()).toMatchObject({ code: "too_many_streams" })
      return response.status
    }
    const statuses: number[] = []
    for (let tries = 0; tries < ATTEMPTS; tries += 100) {
      statuses.push(...(await Promise.all(Array.from({ length: 100 }, watch))))
    }
    expect(statuses).toHaveLength(ATTEMPTS)
    const opened = statuses.filter((status) => status === 200).length
    expect(opened).toBe(1000)
    expect(statuses.filter((status) => status === 429)).toHaveLength(ATTEMPTS - opened)
    const refused = await ada.ask("POST", messages(), {
      body: { text: "list my tasks" },
      headers: { accept: "text/event-stream" },
    })
    expect([refused.status, refused.body.code]).toEqual([429, "too_many_streams"])
    expect((await ada.say(conversation, "list my tasks")).status).toBe(200)
    for (const controller of open) controller.abort()
    await expect.poll(watch, { timeout: 60_000 }).toBe(200)
    open.at(-1)?.abort()
    await expectUnmoved()
  })

  test("hundreds of connections that are idle or drip have been cut, and no other request has waited for them", async () => {
    const all = [...idle, ...heading, ...uploads]
    await Promise.all(all.map((line) => line.end()))
    for (const [index, { text }] of [...heading.entries(), ...uploads.entries()])
      expect(text).toMatch(index % 2 === 0 ? /^(HTTP\/1\.1 408 |$)/ : /^HTTP\/1\.1 408 /)
    await expectUnmoved()
  })

  test("after all tests the process is the same, not much larger, and has logged no fault", async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const rss = Number(/pawl_memory_bytes\{kind="rss"\} (\d+)/.exec(metrics)?.[1])
    expect(rss).toBeLessThan(700 * MEGABYTE)
    expect(metrics).not.toMatch(/status="5\d\d"/)
    expect((await ada.say(conversation, "list my tasks")).body.run.status).toBe("completed")
    const { code, stderr } = await server.kill("SIGTERM")
    expect(code).toBe(0)
    expect(stderr).not.toMatch(/"level":"(warn|error)"/)
    expect(stderr).not.toContain("__proto__")
  })
})

/** A client that is refused in the middle of a body may find the connection closed before it has read the reason. */
function hangUp(error: unknown): undefined {
  const { cause } = error as { cause?: { code?: string } }
  if (!/ECONNRESET|EPIPE|UND_ERR_SOCKET/.test(cause?.code ?? "")) throw error
}

/** A bare connection, for data that no HTTP client would send. */
class Line implements AsyncDisposable {
  readonly #socket: Socket
  readonly #closed = Promise.withResolvers<void>()
  #answered = Promise.withResolvers<void>()
  text = ""

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding("latin1")
    socket.on("data", (text: string) => {
      this.text += text
      this.#answered.resolve()
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      this.#answered.resolve()
      this.#closed.resolve()
    })
  }

  static open(port: number): Promise<Line> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1")
      socket.once("error", reject)
      socket.once("connect", () => resolve(new Line(socket)))
    })
  }

  get closed(): boolean {
    return this.#socket.closed
  }

  write(bytes: string | Buffer): void {
    if (!this.#socket.destroyed) this.#socket.write(bytes)
  }

  /** The first answer, or nothing if the connection is closed without one. */
  async answer(): Promise<string> {
    await this.#answered.promise
    return this.text
  }

  async end(): Promise<void> {
    await this.#closed.promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy()
    await this.#closed.promise
  }
}
