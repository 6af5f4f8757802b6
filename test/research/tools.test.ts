import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest"
import type { CallContext, Tool } from "../../core/engine/definition/tool.ts"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { WebClient } from "../../core/models/network/web-client.ts"
import { arxivSearch } from "../../packs/research/arxiv-search.ts"
import { createResearchTools } from "../../packs/research/create-tools.ts"
import { DocumentReader } from "../../packs/research/document-reader.ts"
import { Librarian } from "../../packs/research/librarian.ts"
import { createSearchProvider, type WebSearchSetting } from "../../packs/research/search-provider.ts"
import { webSearch } from "../../packs/research/web-search.ts"
import type { EventOf } from "../../core/protocol/events.ts"
import { Source } from "../../core/protocol/conversation/stages.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { PassageIndexer } from "../../core/store/library/passage-indexer.ts"
import { openStore } from "../../core/store/store.ts"
import { databasesInTurn } from "../support/databases.ts"
import { programOf } from "../support/processes/processes.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { openWorld, TurnedClock } from "../support/loop/world.ts"

const { signal } = new AbortController()
const context = { signal, user: "user_x" } as unknown as CallContext
type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** As DuckDuckGo writes its results. */
const RESULTS = `<div class="result results_links"><h2 class="result__title">
  <a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fvit&amp;rut=x">Vision <b>transformers</b></a></h2>
  <a class="result__snippet" href="x">Images as <b>words</b> &amp; patches.</a></div>
  <div class="result result--ad"><a class="result__a" href="https://duckduckgo.com/y.js?ad=1">Buy now</a></div>
  <div class="result"><a class="result__a" href="javascript:alert(1)">Bad</a><a class="result__snippet">No.</a></div>`

const ATOM = `<feed xmlns="http://www.w3.org/2005/Atom"><title>query</title><id>http://arxiv.org/api/1</id>
  <entry><id>http://arxiv.org/abs/2401.00001v2</id><published>2024-01-02T00:00:00Z</published><title>Object
  detection</title><summary> Boxes &amp; labels. </summary><author><name>Ada B.</name></author><author><name>Cy D.</name></author></entry>
  <entry><id>http://arxiv.org/abs/hep-th/9901001v3</id><title>Strings</title><summary>Strings.</summary></entry>
  <entry><id>nonsense</id><summary>x</summary></entry></feed>`

let server: Server
let base = ""
let handle: Handler = () => {}
const seen: { url: string; method: string; headers: IncomingMessage["headers"]; body: string }[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += chunk))
    request.on("end", () => {
      seen.push({ url: request.url ?? "", method: request.method ?? "", headers: request.headers, body })
      handle(request, response)
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())
beforeEach(() => void seen.splice(0))

const web = new WebClient(new OutboundPolicy(["127.0.0.1"]))
const reader = new DocumentReader()
afterAll(() => reader.close())
const saying =
  (text: string, status = 200, headers = {}): Handler =>
  (_, response) =>
    void response.writeHead(status, headers).end(text)
const redirecting =
  (to: string, status = 302): Handler =>
  (_, response) =>
    void response.writeHead(status, { location: to }).end()
const run = (tool: Tool, input: object) =>
  tool.run(input, context) as Promise<{ status: string; text: string; data?: { kind: string; sources: Source[] } }>

describe("outbound requests", () => {
  test("reach no private address: not by name, number or redirect, whatever the setting allows", async () => {
    const closed = new WebClient(new OutboundPolicy())
    for (const url of [
      base,
      "http://localhost:1/",
      "http://[::1]/",
      "http://169.254.169.254/",
      "http://0x7f.1/",
      "http://2130706433/",
    ])
      await expect(closed.fetch({ url }, signal), url).rejects.toMatchObject({ code: "host_not_allowed" })
    for (const to of ["http://10.0.0.1/", "http://169.254.169.254/latest/meta-data", "http://[fd00::1]/"]) {
      handle = redirecting(to)
      await expect(web.fetch({ url: `${base}/start` }, signal), to).rejects.toMatchObject({ code: "host_not_allowed" })
    }
    for (const to of [
      "file:///etc/passwd",
      "ftp://example.org/",
      "http://user:secret@127.0.0.1/",
      "data:text/plain,x",
    ]) {
      handle = redirecting(to)
      await expect(web.fetch({ url: `${base}/start` }, signal), to).rejects.toMatchObject({ code: "web_unreachable" })
    }
    expect(seen.every(({ url }) => url === "/start")).toBe(true)
  })

  test("say why a host was not reached, and mention private hosts only if its address is one", async () => {
    const failing = (code: string) => {
      const error = Object.assign(new Error(`getaddrinfo ${code} search.example`), { code })
      return ((_: string, __: object, answer: (error: Error, found: []) => void) => answer(error, [])) as never
    }
    const found = ((_: string, __: object, answer: (error: null, found: object[]) => void) =>
      answer(null, [{ address: "127.0.0.1", family: 4 }])) as never
    const closed = createServer().listen(0, "127.0.0.1")
    await once(closed, "listening")
    const { port } = closed.address() as AddressInfo
    closed.close()
    await once(closed, "close")
    const cut = createServer((request) => void request.socket.destroy()).listen(0, "127.0.0.1")
    await once(cut, "listening")
    const url = (at: number | string) => `http://search.example:${at}/`
    const told = async (reach: OutboundPolicy, at: number | string = 80) =>
      String((await new WebClient(reach).fetch({ url: url(at) }, signal).catch((error: unknown) => error)) as Error)
    const listed = new OutboundPolicy(["search.example"], found)
    const all = {
      unknown: await told(new OutboundPolicy(false, failing("ENOTFOUND"))),
      offline: await told(new OutboundPolicy(false, failing("EAI_AGAIN"))),
      refused: await told(listed, port),
      cut: await told(listed, (cut.address() as AddressInfo).port),
      private: await told(new OutboundPolicy(false, found)),
    }
    cut.close()
    expect(all).toMatchObject({
      unknown: expect.stringMatching(/search\.example could not be reached: there is no host of that name/),
      offline: expect.stringMatching(/its name could not be looked up \(this machine may be offline\)/),
      refused: expect.stringMatching(/it refused the connection/),
      cut: expect.stringMatching(/it closed the connection/),
      private: expect.stringMatching(/search\.example has no public address.*PAWL_ALLOW_PRIVATE_HOSTS/),
    })
    const { private: _, ...others } = all
    expect(Object.values(others).filter((words) => words.includes("PRIVATE_HOSTS"))).toEqual([])
    // The error for a redirect reveals nothing about its target: a remote page must not find out internal names.
    handle = redirecting("http://inside.example/")
    const led = new WebClient(new OutboundPolicy(["127.0.0.1"], failing("ENOTFOUND")))
    await expect(led.fetch({ url: base }, signal)).rejects.toMatchObject({ code: "host_not_allowed" })
  })

  test("follow a few redirects, and send a key to no other host", async () => {
    handle = (request, response) => (request.url === "/a" ? redirecting("/b", 307) : saying("there"))(request, response)
    const headers = { authorization: "Bearer secret" }
    expect(await web.fetch({ url: `${base}/a`, headers }, signal)).toMatchObject({ url: `${base}/b`, text: "there" })
    expect(seen[1]?.headers.authorization).toBe("Bearer secret")
    const other = createServer((request, response) => {
      seen.push({ url: "other", method: request.method ?? "", headers: request.headers, body: "" })
      response.end("other")
    }).listen(0, "127.0.0.1")
    await once(other, "listening")
    handle = redirecting(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`, 307)
    await web.fetch({ url: `${base}/a`, method: "POST", body: "private", headers }, signal)
    other.close()
    expect(seen.at(-1)).toMatchObject({ url: "other", method: "GET" })
    expect(seen.at(-1)?.headers.authorization).toBeUndefined()
    handle = redirecting("/again")
    await expect(web.fetch({ url: base }, signal)).rejects.toThrow("redirects more than 5 times")
  })

  const latin1 = (text: string) => Buffer.from(text, "latin1")
  const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le")
  const nihongo = Buffer.from("93fa967b8cea", "hex")
  test.each([
    ["text/html; charset=windows-1252", latin1('<meta charset="koi8-r">caf\xE9'), "café"],
    ["text/html; charset='ISO-8859-1'", latin1("caf\xE9"), "café"],
    ["text/html;charset=x-sjis", nihongo, "日本語"],
    [
      "text/html",
      Buffer.concat([latin1("<meta http-equiv='x' content='text/html; charset=Shift_JIS'>"), nihongo]),
      "日本語",
    ],
    ["application/atom+xml", latin1('<?xml version="1.0" encoding="iso-8859-2"?><a>\xB1</a>'), "ą"],
    ["text/html", utf16("<p>日本語"), "日本語"],
    ["text/html; charset=utf-16", utf16("<p>日本語").swap16(), "日本語"],
    ["text/html; charset=utf-16", utf16("<p>A word in it.").swap16().subarray(2), "A word in it."],
    ["text/html; charset=utf-8", latin1("un caf\xE9 noir"), "un café noir"],
    ["text/html; charset=utf-16", Buffer.from("<p>Der Bär."), "Der Bär."],
    ["text/html; charset=nonsense", Buffer.from('<meta charset="utf-16">Der Bär.'), "Der Bär."],
    ["application/json", Buffer.from('"Der Bär."'), "Der Bär."],
  ])("decode a page with the encoding of its header, else of the page itself: %s", async (type, body, text) => {
    handle = (_, response) => void response.writeHead(200, { "content-type": type }).end(body)
    expect((await web.fetch({ url: base }, signal)).text).toContain(text)
  })

  test("read no more than the limit: not of a long answer, nor of one that unpacks to one, nor of an endless one", async () => {
    handle = saying("x".repeat(5000))
    expect(await web.fetch({ url: base, mostBytes: 1000 }, signal)).toMatchObject({ text: "x".repeat(1000), cut: true })
    handle = (_, response) =>
      void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(50_000_000)))
    expect(await web.fetch({ url: base, mostBytes: 1000 }, signal)).toMatchObject({ cut: true })
    handle = (_, response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write("."), 20)
      response.on("close", () => clearInterval(drip))
    }
    await expect(web.fetch({ url: base, seconds: 0.3 }, signal)).rejects.toMatchObject({
      code: "web_unreachable",
      message: expect.stringContaining("within 0.3 s"),
    })
    handle = () => {} // not even a header
    await expect(web.fetch({ url: base, seconds: 0.2 }, signal)).rejects.toMatchObject({ code: "web_unreachable" })
    handle = (_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip")
    await expect(web.fetch({ url: base }, signal)).rejects.toMatchObject({ code: "web_unreachable" })
  })
})

describe("web_search", () => {
  const searching = (setting: WebSearchSetting) => webSearch(createSearchProvider(setting, web, reader)!)

  test("reads DuckDuckGo's page: decoded addresses, no advertisement, and only valid addresses", async () => {
    handle = saying(RESULTS)
    const { status, text, data } = await run(searching({ provider: "duckduckgo", url: `${base}/html/` }), {
      query: "vision & more",
    })
    expect([status, seen[0]?.url]).toEqual(["ok", "/html/?q=vision+%26+more"])
    expect(data).toEqual({
      kind: "sources",
      sources: [
        expect.objectContaining({
          title: "Vision transformers",
          url: "https://example.org/vit",
          passage: "Images as words & patches.",
        }),
      ],
    })
    expect(Source.array().safeParse(data!.sources).success).toBe(true)
    expect(text).toContain(`[${data!.sources[0]!.id}] Vision transformers (https://example.org/vit)`)
  })

  test.each<[WebSearchSetting["provider"], object]>([
    [
      "brave",
      {
        web: {
          results: [{ title: "T", url: "https://e.org/", description: "<b>D</b>" }, { url: "javascript:1" }, null],
        },
      },
    ],
    ["tavily", { results: [{ title: "T", url: "https://e.org/", content: "D" }] }],
    ["searxng", { results: [{ title: "T", url: "https://e.org/", content: "D" }] }],
  ])("asks %s with its own API", async (provider, answer) => {
    handle = saying(JSON.stringify(answer))
    const { data } = await run(searching({ provider, key: "k-secret", url: `${base}/s` } as WebSearchSetting), {
      query: "q",
    })
    expect(data?.sources).toMatchObject([{ title: "T", url: "https://e.org/", passage: "D" }])
    const sent = JSON.stringify(seen[0])
    if (provider !== "searxng") expect(sent).toContain("k-secret")
    expect(seen[0]?.url).not.toContain("k-secret")
  })

  test.each<[string, Handler]>([
    ["an error", saying("no", 503)],
    ["no JSON", saying("<html>")],
    ["a page without end", saying("<div>".repeat(300_000))],
    ["a hang-up", (request) => void request.socket.destroy()],
  ])("returns a clear error after %s, and the run continues", async (_, faulty) => {
    handle = faulty
    for (const provider of ["duckduckgo", "searxng"] as const) {
      const { status, text } = await run(searching({ provider, url: base } as WebSearchSetting), { query: "q" })
      if (status === "error") expect(text).toContain("could not be searched")
      else expect(text).toContain("found nothing")
    }
  })

  test("a search or arXiv that limits our rate is asked once, and the model learns when to try again", async () => {
    handle = saying("{}", 429, { "retry-after": "7200" })
    const brave = searching({ provider: "brave", key: "k", url: base })
    const arxiv = arxivSearch(new WebClient(new OutboundPolicy(["127.0.0.1"])), reader, base)
    for (const tool of [brave, arxiv]) {
      const { status, text } = await run(tool, { query: "q" })
      expect(status).toBe("error")
      expect(text).toMatch(
        /answered 429 \(too many requests\); try again in 120 min, after \d{4}-\d\d-\d\d \d\d:\d\d UTC/,
      )
    }
    expect(seen).toHaveLength(2)
  })

  test("an answer is parsed in another process: a crash of it is reported, and nothing else happens", async () => {
    const dying = programOf(`
      process.on("message", () => process.kill(process.pid, "SIGKILL"))
      process.send("ready")`)
    const frail = new DocumentReader({ other: { script: dying } })
    onTestFinished(() => frail.close())
    handle = saying('{"results": [], "web": {"results": []}}')
    const settings: WebSearchSetting[] = [
      { provider: "duckduckgo", url: base },
      { provider: "brave", key: "k", url: base },
      { provider: "tavily", key: "k", url: base },
      { provider: "searxng", url: base },
    ]
    const tools = settings.map((setting) => webSearch(createSearchProvider(setting, web, frail)!))
    for (const tool of [...tools, arxivSearch(web, frail, base)]) {
      const { status, text } = await run(tool, { query: "q" })
      expect([status, text]).toEqual(["error", expect.stringContaining("broke the reader")])
    }
  })

  test("without a network it says so", async () => {
    const { status, text } = await run(searching({ provider: "duckduckgo", url: "http://127.0.0.1:1/" }), {
      query: "q",
    })
    expect([status, text]).toEqual(["error", expect.stringContaining("say that it was not searched")])
  })
})

test("arxiv_search accepts words and dates, and reads papers", async () => {
  handle = saying(ATOM)
  const { data } = await run(arxivSearch(web, reader, `${base}/api`), {
    query: 'object AND "detection") OR all:x',
    from: "2024",
    to: "2024-06",
  })
  expect(data?.sources).toMatchObject([
    {
      id: "arxiv_2401.00001",
      url: "https://arxiv.org/abs/2401.00001",
      passage: "Boxes & labels.",
      title: "Object detection · Ada B., Cy D. · 2024-01-02",
    },
    { id: "arxiv_hep-th_9901001", url: "https://arxiv.org/abs/hep-th/9901001" },
  ])
  const query = new URL(seen[0]!.url, base).searchParams.get("search_query")
  expect(query).toBe(
    "all:object AND all:AND AND all:detection AND all:OR AND all:all AND all:x AND submittedDate:[202401010000 TO 202406302359]",
  )
})

test.each([
  ["2024", "2024", "202401010000 TO 202412312359"],
  ["2024-02", "2024-02", "202402010000 TO 202402292359"],
  ["2023-02", "2023-02-30", "202302010000 TO 202302282359"],
  ["2024-05-31", "2024-04", "202405310000 TO 202404302359"],
])("arxiv_search from %s to %s uses valid days", async (from, to, asked) => {
  handle = saying(ATOM)
  await run(arxivSearch(web, reader, `${base}/api`), { query: "x", from, to })
  expect(new URL(seen[0]!.url, base).searchParams.get("search_query")).toBe(`all:x AND submittedDate:[${asked}]`)
})

describe.each(databasesInTurn(import.meta.filename))("tools over collections on $name", ({ create }) => {
  test("find, read and summarize; their results taint the context, so that with private data nothing is sent without approval", async () => {
    handle = saying(RESULTS)
    const clock = new TurnedClock()
    const embedder = new WordEmbedder()
    const found = { id: "" }
    const { url } = await create()
    const model = scripted(
      calls("retrieve_chunks", { query: "lift angle", collection: "papers" }),
      calls("web_search", { query: "lift" }),
      calls("retrieve_chunks", { query: "lift angle", collection: "wings" }),
      () => calls("read_document", { document_id: found.id, start: 0 }),
      () => calls("summarize_document", { document_id: found.id, focus: "stall" }),
      says("It is about lift."), // asked by the tool
      calls("web_search", { query: "my secret" }),
      says("Done."),
    )
    let library: SqlLibrary | undefined
    const late = new Proxy({} as SqlLibrary, {
      get: (_, name) => (library as never as Record<symbol | string, () => void>)[name]!.bind(library),
    })
    const tools = createResearchTools({
      library: late,
      embedder,
      web,
      webSearch: { provider: "duckduckgo", url: base },
    })
    await using world = await openWorld({ url, model, tools, clock, agent: { maxIterations: 10 } })
    library = new SqlLibrary(world.store.engine, { clock, embedder: embedder.name })
    const collection = await library.ensureCollection(world.user, "Wings")
    const text = `Lift grows with the angle of attack. ${"More of it. ".repeat(2000)}`
    const file = { name: "wings.txt", bytes: Buffer.from(text) }
    const { items } = await new Librarian(library, embedder).ingest({ user: world.user, collection, signal }, file)
    found.id = items[0]!.id
    const papers = await library.ensureCollection(world.user, "Papers")
    const paper = {
      id: "2401.00001",
      title: "On lift",
      abstract: "Lift and the angle.",
      authors: "Ada",
      update_date: "2024-01-02",
    }
    const listed = { name: "papers.jsonl", bytes: Buffer.from(`${JSON.stringify(paper)}\n`) }
    await new Librarian(library, embedder).ingest({ user: world.user, collection: papers, signal }, listed)
    const indexer = new PassageIndexer({ library, embedder, clock, log: { info() {}, warn() {}, error() {} } })
    await indexer.settled()
    const id = await world.begin("What about lift?")
    await indexer.close()
    const ends = (await world.store.journal.read(id, { after: 0, limit: 200 })).filter(
      (event): event is EventOf<"tool_end"> => event.type === "tool_end",
    )
    const [abstracts, searched, chunks, window, summary, ...rest] = ends
    // Abstracts are public, so their text may be searched on the web; files are the user's own.
    expect(abstracts).toMatchObject({ status: "ok", brings: "outside", data: { sources: [{ title: "On lift" }] } })
    expect(chunks).toMatchObject({ status: "ok", brings: "both", data: { kind: "sources" } })
    const { sources } = chunks!.data as { sources: Source[] }
    expect(Source.array().safeParse(sources).success).toBe(true)
    expect(sources[0]).toMatchObject({
      documentId: found.id,
      collection,
      passage: expect.stringContaining("Lift grows"),
    })
    expect(text.slice(sources[0]!.span!.start, sources[0]!.span!.end)).toBe(sources[0]!.passage)
    expect(window?.text).toContain(`Continue with read_document {"document_id": "${found.id}", "start": 12000}`)
    expect(summary).toMatchObject({ status: "ok", text: expect.stringContaining("It is about lift.") })
    expect(searched).toMatchObject({ status: "ok", brings: "outside" })
    expect(rest).toEqual([]) // the second search waits for approval
    const proposals = await world.proposals(id)
    expect(proposals.map(({ proposed }) => proposed.tool)).toEqual(["web_search"])
    expect(seen.filter(({ url: asked }) => asked.includes("secret"))).toEqual([])
  })
})

describe.each(databasesInTurn(import.meta.filename))("the taint of documents, on $name", ({ create }) => {
  test("follows from a document's content, not its name; and an id always identifies the same text", async () => {
    const clock = new TurnedClock()
    const embedder = new WordEmbedder()
    await using store = await openStore({ url: (await create()).url, durability: "normal", clock })
    const library = new SqlLibrary(store.engine, { clock, embedder: embedder.name })
    const librarian = new Librarian(library, embedder)
    const user = (await store.people.ensure("ada", 0)).id
    const asAda = { signal, user } as unknown as CallContext
    const tools = createResearchTools({ library, embedder, web, webSearch: { provider: "off" } })
    const use = (name: string, input: object) =>
      tools.find((tool) => tool.name === name)!.run(input, asAda) as Promise<{
        text: string
        taint?: string
        data: { sources: Source[] }
      }>
    const put = async (collection: string, name: string, content: object | string) => {
      const place = { user, collection: await library.ensureCollection(user, collection), signal }
      const bytes = Buffer.from(typeof content === "string" ? content : JSON.stringify(content))
      return (await librarian.ingest(place, { name, bytes })).items[0]!.id
    }
    const paper = { id: "2401.00001", title: "Lift" }
    const given: [taint: string | undefined, name: string, content: object | string][] = [
      [undefined, "a.jsonl", { ...paper, abstract: "Lift." }],
      [undefined, "b.jsonl", { ...paper, id: "hep-th/9901001", summary: "Lift." }],
      ["private", "arXiv:2401.00001", "Lift."],
      ["private", "arXiv:2401.00001 notes.md", "Lift."],
      ["private", "c.jsonl", { ...paper, text: "Lift." }],
      ["private", "d.jsonl", { ...paper, id: "arXiv:2401.00001", text: "Lift." }],
      ["private", "e.jsonl", { ...paper, id: "1234.5678", abstract: "A customer's lift." }],
      ["private", "f.jsonl", { ...paper, id: "arXiv:1234.5678", abstract: "A customer's lift." }],
    ]
    for (const [index, [taint, name, content]] of given.entries()) {
      const id = await put(`C${index}`, name, content)
      expect((await use("retrieve_chunks", { query: "lift", collection: `C${index}` })).taint, name).toBe(taint)
      expect((await use("read_document", { document_id: id })).taint, name).toBe(taint)
    }
    expect((await use("retrieve_chunks", { query: "lift", collection: "none" })).taint).toBe("private")
    // The message for no match differs if the search could not use meaning.
    embedder.failure = () => new Error("away")
    expect((await use("retrieve_chunks", { query: "zebra" })).text).toMatch(/^No passage matches[^]*by words only/)
    embedder.failure = undefined

    const id = await put("Editions", "a.md", "First words.")
    const idOf = async () => (await use("read_document", { document_id: id })).data.sources[0]!.id
    const before = await idOf()
    expect(await idOf()).toBe(before)
    expect(await put("Editions", "a.md", "Other words.")).toBe(id)
    expect(await idOf()).not.toBe(before)
  })
})

test("a page that is found with other text has another id", async () => {
  const tool = webSearch(createSearchProvider({ provider: "searxng", url: base }, web, reader)!)
  const idOf = async (content: string) => {
    handle = saying(JSON.stringify({ results: [{ title: "T", url: "https://e.org/", content }] }))
    return (await run(tool, { query: "q" })).data!.sources[0]!.id
  }
  const first = await idOf("Lift grows.")
  expect(await idOf("Lift falls.")).not.toBe(first)
  expect(await idOf("Lift grows.")).toBe(first)
})
