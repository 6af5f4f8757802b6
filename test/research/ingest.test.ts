import { readFileSync } from "node:fs"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { cutPassages } from "../../packs/research/passages/cut-passages.ts"
import { Librarian } from "../../packs/research/librarian.ts"
import { DocumentReader, type ReaderOptions } from "../../packs/research/document-reader.ts"
import { readArxivLine } from "../../packs/research/read-arxiv.ts"
import { readAtom } from "../../packs/research/read-atom.ts"
import { readHtml } from "../../packs/research/html/read-html.ts"
import { readMarkdown } from "../../packs/research/read-markdown.ts"
import type { CollectionId, UserId } from "../../core/protocol/ids.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { anyDatabase } from "../support/databases.ts"
import { hostileDocuments } from "./hostile-documents.ts"
import { RecordingLog, programAround, programOf } from "../support/processes/processes.ts"
import { isLong } from "../support/sizes.ts"
import { pdfBomb, smallPdf } from "./small-pdf.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { countWork } from "../support/worked.ts"

const { signal } = new AbortController()
const bytes = (text: string) => Buffer.from(text)

describe("passages", () => {
  test("contain every word once, in order, within their size, and never cross a heading", () => {
    const word = fc.constantFrom(
      "a",
      "wing. ",
      "\n\n",
      "lift? ",
      " ",
      "🐟",
      "é",
      "\n",
      "x".repeat(300),
      "the flow over a plate. ",
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 200 }), fc.nat(), (words, where) => {
        const text = words.join("")
        const middle = text.length === 0 ? 0 : where % text.length
        const sections = [
          { headings: ["one"], start: 0, end: middle },
          { headings: ["two"], start: middle, end: text.length },
        ]
        const passages = cutPassages(text, sections, { most: 120, least: 30 })
        const said = passages.map(({ start, end }) => text.slice(start, end)).join("")
        expect(said.replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""))
        let last = 0
        for (const { start, end, headings } of passages) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(end - start).toBeLessThanOrEqual(150)
          expect(end <= middle ? "one" : "two").toBe(headings[0])
          if (middle === 0 || !/[\uDC00-\uDFFF]/.test(text[middle]!))
            expect(text.slice(start, end).isWellFormed()).toBe(true)
          last = end
        }
      }),
    )
  })

  test("end at a paragraph if one ends in their second half, else at a sentence", () => {
    const [first, second] = ["One sentence. Another one here.", "A third that is long enough to fill it. And more."]
    const text = `${first}\n\n${second}`
    const whole = [{ headings: [], start: 0, end: text.length }]
    const cut = (most: number) =>
      cutPassages(text, whole, { most, least: 10 }).map(({ start, end }) => text.slice(start, end))
    expect(cut(50)).toEqual([first, second])
    expect(cut(45)[0]).toBe(first)
    expect(cut(25)[0]).toBe("One sentence.")
  })

  test("end at a sentence also without a space between two", () => {
    const text = "これは一つの文です。これはもう一つの文です。最後の文はここにあります。"
    const cut = cutPassages(text, [{ headings: [], start: 0, end: text.length }], { most: 26, least: 5 })
    expect(cut.map(({ start, end }) => text.slice(start, end))).toEqual([
      "これは一つの文です。これはもう一つの文です。",
      "最後の文はここにあります。",
    ])
  })
})

test("Markdown is stored unchanged, with its headings and front matter; headings in code fences are ignored", () => {
  const text = `---\ntitle: "Wings"\ndate: 2024-05-01\nauthors: [Ada B., Cy]\n---\nBefore.\n\n# One\nText.\n\n\`\`\`sh\n# no heading\n\`\`\`\n## Two\nMore.\n# Three\nEnd.\n`
  const { sections, title, authors, date } = readMarkdown(text)
  expect({ title, authors, date }).toEqual({ title: "Wings", authors: ["Ada B.", "Cy"], date: "2024-05-01" })
  expect(sections.map(({ headings }) => headings)).toEqual([[], ["One"], ["One", "Two"], ["Three"]])
  expect(sections.map(({ start, end }) => text.slice(start, end)).join("")).toBe(text.slice(text.indexOf("Before")))
})

test("a page is reduced to its text: no script, style, navigation or form, and decoded entities", () => {
  const html = `<html><head><title>Wings &amp; lift</title><meta name="citation_author" content="Ada"><style>x{}</style></head>
    <body><nav>Home <a href=x>About</a></nav><script>steal()</script><h1>Lift</h1><p>It   grows<br>with <b>angle</b>.
    <ul><li>one<li>two</ul><h2>Stall</h2><p>Then it &lt;falls&gt;.</p><form>Subscribe</form><footer>2024</footer></body></html>`
  const { text, sections, title, authors } = readHtml(html)
  expect([title, authors]).toEqual(["Wings & lift", ["Ada"]])
  for (const gone of ["steal", "Home", "Subscribe", "2024", "x{}"]) expect(text).not.toContain(gone)
  expect(text).toContain("It grows\nwith angle.")
  expect(text).toContain("- one")
  expect(text).toContain("Then it <falls>.")
  expect(sections.map(({ headings }) => headings)).toEqual([["Lift"], ["Lift", "Stall"]])
})

test("a page of a million open tags, brackets or marks delays no other request", () => {
  const worked = countWork()
  expect(() => readHtml("<div>".repeat(1_000_000))).toThrow("nested too deep")
  readHtml(`<p>${"<".repeat(1_000_000)}`)
  readMarkdown(`${"#".repeat(500_000)}\n${"`".repeat(500_000)}\n---\n`)
  readMarkdown(`# ${" ".repeat(900)}x\n`.repeat(2000) + `# ${"#".repeat(900)}x\n`.repeat(2000))
  expect(worked()).toBeLessThan(5000)
})

test("a line, a front matter or an entry that is a megabyte of spaces delays no other request", () => {
  const worked = countWork()
  const spaces = " ".repeat(1_000_000)
  const paper = { id: "2401.00001", title: `Wings${spaces}x`, abstract: "Lift." }
  expect(
    readArxivLine(JSON.stringify({ ...paper, authors: `Ada B.${spaces}and  Cy,${spaces}Di${spaces}x` })),
  ).toMatchObject({
    title: "Wings x",
    authors: ["Ada B.", "Cy", "Di x"],
  })
  for (let round = 0; round < 20; round++) readMarkdown(`---\nauthors: ${spaces.slice(0, 9900)}x${spaces}\n---\nText.`)
  readAtom(`<feed><entry><id>${"arxiv.org/abs/".repeat(70_000)}!</id><summary>x</summary></entry></feed>`)
  expect(worked()).toBeLessThan(2000)
})

describe("a PDF", () => {
  let bomb: Buffer | undefined
  const bombOf300 = () => (bomb ??= pdfBomb(300)) // packing it takes most of a second
  const read = async (pdf: Uint8Array, options: ReaderOptions = {}, until = signal) => {
    const reader = new DocumentReader(options)
    try {
      return await reader.file("pdf", pdf, { person: "ada", signal: until })
    } finally {
      await reader.close()
    }
  }

  test("is read page by page, with its metadata", async () => {
    const pdf = smallPdf(
      ["Lift grows with angle.", "Then it stalls."],
      "/Title(On Wings)/Author(Ada B.)/CreationDate(D:20240501)",
    )
    const { text, passages, about } = await read(pdf)
    expect(about).toEqual({ title: "On Wings", authors: ["Ada B."], date: "2024-05-01", pages: 2 })
    expect(passages.map(({ headings, start, end }) => [headings[0], text.slice(start, end)])).toEqual([
      ["page 1", "Lift grows with angle."],
      ["page 2", "Then it stalls."],
    ])
  })

  test("whose authors are a megabyte of spaces delays no other request", async () => {
    const pdf = smallPdf(["Lift."], `/Author(Ada B. ; Cy,${" ".repeat(300_000)}x${" ".repeat(300_000)}x)`)
    let longest = 0
    let worked = countWork()
    const look = () => {
      longest = Math.max(longest, worked())
      worked = countWork()
    }
    const ticks = setInterval(look, 20)
    const { about } = await read(pdf)
    look()
    clearInterval(ticks)
    expect(about.authors).toEqual(["Ada B.", "Cy", "x x"])
    expect(longest).toBeLessThan(2000)
  }, 120_000)

  test("that is broken, or never ends, is unreadable, and its process is gone", async () => {
    const bounds = { heapMegabytes: 256, answerCharacters: 1000 }
    const broken = read(bytes("%PDF-1.7 nothing"), bounds)
    await expect(broken).rejects.toMatchObject({
      code: "document_unreadable",
      message: expect.stringContaining("no PDF"),
    })
    const bomb = read(bombOf300(), { seconds: 1, ...bounds })
    await expect(bomb).rejects.toMatchObject({
      code: "document_unreadable",
      message: expect.stringMatching(/longer than 1 s|memory/),
    })
    const wordy = read(smallPdf(Array<string>(30).fill("x".repeat(60))), bounds)
    await expect(wordy).rejects.toMatchObject({ message: expect.stringContaining("more text") })
  }, 120_000)

  test("whose caller gives up is given up at once", async () => {
    const giveUp = new AbortController()
    const reading = read(bombOf300(), {}, giveUp.signal)
    setTimeout(() => giveUp.abort(new Error("gone")), 200)
    await expect(reading).rejects.toThrow("gone")
  })
})

describe.each(anyDatabase)("an ingested file on $name", ({ create }) => {
  let store: Store
  let library: SqlLibrary
  let librarian: Librarian
  let user: UserId
  let collection: CollectionId

  const ingest = (name: string, content: string | Buffer, more = {}) =>
    librarian.ingest({ user, collection, signal }, { name, bytes: Buffer.from(content), ...more })

  beforeAll(async () => {
    const clock = new TurnedClock()
    store = await openStore({ url: (await create()).url, durability: "normal", clock })
    library = new SqlLibrary(store.engine, { clock, embedder: "none" })
    librarian = new Librarian(library, new WordEmbedder())
    user = (await store.people.ensure("ada", 0)).id
    collection = await library.ensureCollection(user, "Papers")
    expect(await library.ensureCollection(user, "Papers")).toBe(collection)
  })
  afterAll(() => store[Symbol.asyncDispose]())

  test("becomes a document of its kind, is skipped if it is sent again, and replaced if it has changed", async () => {
    expect(await ingest("a/wings.md", "# Wings\n\nLift.")).toMatchObject({
      added: 1,
      items: [{ kind: "markdown", title: "Wings", source: "a/wings.md", passages: 1 }],
    })
    expect(await ingest("a/wings.md", "# Wings\n\nLift.")).toMatchObject({ added: 0, unchanged: 1 })
    expect(await ingest("a/wings.md", "# Wings\n\nDrag.")).toMatchObject({ replaced: 1 })
    expect(await ingest("a/wings.md", "# Wings\n\nDrag.", { title: "Other" })).toMatchObject({
      replaced: 1,
      items: [{ title: "Other" }],
    })
    expect(await ingest("x", smallPdf(["Page."]))).toMatchObject({ added: 1, items: [{ kind: "pdf" }] })
    expect(await ingest("letter.rtf", "{\\rtf1\\ansi A {\\b swift} wing.\\par}")).toMatchObject({
      failed: 1,
      items: [{ reason: "RTF is not supported: save it as PDF, HTML or text" }],
    })
    expect(await ingest("old.txt", Buffer.from("caf\xe9", "latin1"))).toMatchObject({
      added: 1,
      items: [{ reason: "it is not UTF-8 and was read as windows-1252; check that its text is correct" }],
    })
    const russian = Buffer.from("cff0e8e2e5f22c20ece8f021", "hex")
    expect(await ingest("old-russian.txt", russian)).toMatchObject({ failed: 1, items: [{ status: "failed" }] })
    expect((await library.search(user, { text: "café", limit: 1 }))[0]?.source).toBe("old.txt")
  })

  test("names its pages without text, until they have some", async () => {
    const pages = ["Lift grows.", "", "Then it stalls."]
    expect(await ingest("scan.pdf", smallPdf(pages))).toMatchObject({
      added: 1,
      items: [{ reason: "there is no text on page 2 of 3; it may be scanned", passages: 2 }],
    })
    expect(await ingest("scan.pdf", smallPdf(pages.map((page) => page || "Read by now.")))).toMatchObject({
      replaced: 1,
      items: [{ reason: null, passages: 3 }],
    })
  })

  test("contains papers if it is lines of arXiv's, each with its number", async () => {
    const lines = [
      {
        id: "2401.00001",
        title: "Vision\n transformers",
        abstract: "  Images as words. ",
        authors: "A. One, B. Two",
        update_date: "2024-02-01",
        versions: [{ created: "Tue, 2 Jan 2024 10:00:00 GMT" }],
      },
      { id: "2401.00002", title: "Object detection", abstract: "Boxes.", authors_parsed: [["Doe", "Jane", ""]] },
    ].map((line) => JSON.stringify(line))
    const answer = await ingest("arxiv.jsonl", [...lines, "", "no json", '{"id": 1}'].join("\n"))
    expect(answer).toMatchObject({ added: 2, failed: 2 })
    expect(answer.items[0]).toMatchObject({
      source: "arXiv:2401.00001",
      title: "Vision transformers",
      date: "2024-01-02",
      authors: ["A. One", "B. Two"],
    })
    expect(answer.items[1]).toMatchObject({ authors: ["Jane Doe"], date: null })
    expect(answer.items[2]).toMatchObject({ status: "failed", source: "arxiv.jsonl, line 4", reason: "it is not JSON" })
    expect(await ingest("arxiv.jsonl", lines.join("\n"))).toMatchObject({ added: 0, unchanged: 2 })
  })

  test("is given up if line after line is not a paper, but not for a few among many", async () => {
    const wrong = await ingest("wrong.jsonl", '{"event": "click"}\n'.repeat(1000))
    expect(wrong.failed).toBeLessThan(100)
    expect(wrong.items.at(-1)).toMatchObject({
      source: "wrong.jsonl",
      status: "failed",
      reason: expect.stringMatching(/^these lines are not papers \(id: .+\); the lines after line 80 were not read$/),
    })
    const paper = (at: number) => JSON.stringify({ id: `p${at}`, title: "T", abstract: "Words." })
    const mixed = Array.from({ length: 270 }, (_, at) => (at % 3 === 0 ? "no json" : paper(at))).join("\n")
    expect(await ingest("mixed.jsonl", mixed)).toMatchObject({ added: 180, failed: 90 })
  })

  test("stops at a failure of the library, reported once, also while it waits for the next line", async () => {
    const broken = new Proxy(library, {
      get: (_, key) => (key === "keep" ? () => Promise.reject(new Error("full")) : library[key as keyof SqlLibrary]),
    })
    async function* slowly() {
      yield JSON.stringify({ id: "a", title: "T", abstract: "Words." })
      await new Promise((resolve) => setTimeout(resolve, 20)) // an unhandled rejection would be reported in between
      yield JSON.stringify({ id: "b", title: "T", abstract: "Words." })
    }
    const lines = new Librarian(broken, new WordEmbedder()).ingestLines({ user, collection, signal }, slowly(), "x")
    await expect(lines.next()).rejects.toThrow("full")
  })

  /** The longest time for which this thread did not yield, in milliseconds, while the work was awaited. */
  async function longestTurn(work: Promise<unknown>): Promise<number> {
    let longest = 0
    let worked = countWork()
    const look = () => {
      longest = Math.max(longest, worked())
      worked = countWork()
    }
    const ticks = setInterval(look, 1)
    await work.finally(() => clearInterval(ticks))
    look()
    return longest
  }

  const words = () => "The flow over a plate. ".repeat(isLong ? 360_000 : 90_000)
  // hostile-documents.slow.test.ts sends all of these to a server; here the usual run reads one that becomes a document
  // and one that does not.
  const hostile = hostileDocuments.filter(([, name]) => isLong || name === "c.html" || name === "e.md")
  test.each([...hostile, ["megabytes of words", "long.txt", words, "added"] as const])(
    "is read in another process and stored in batches, also if it is %s",
    async (_what, name, content, became) => {
      const given = Buffer.from(content())
      const ingesting = librarian.ingest({ user, collection, signal }, { name, bytes: given })
      expect(await longestTurn(ingesting)).toBeLessThan(250)
      const answer = await ingesting
      expect(answer[became], JSON.stringify(answer).slice(0, 300)).toBeGreaterThan(0)
      if (name === "long.txt") expect(answer.items[0]?.characters).toBe(given.length)
    },
  )

  test("that crashes its reader, or takes too long, is a failure of that document alone", async () => {
    const dying = programOf(`
      process.on("message", () => process.kill(process.pid, "SIGKILL"))
      process.send("ready")`)
    const endless = programOf(`
      // As in a loop that never ends: it hears nothing any more.
      process.on("message", () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
      process.send("ready")`)
    const options = [
      { other: { script: dying }, reason: /^reading it took too much memory, or broke the reader$/ },
      { other: { script: endless }, seconds: 1, reason: /^it took too long to read, longer than 1 s$/ },
    ]
    for (const { reason, ...given } of options) {
      const other = new Librarian(library, new WordEmbedder(), new DocumentReader(given))
      const place = { user, collection, signal }
      const answer = await other.ingest(place, { name: "killer.md", bytes: bytes("# Wings") })
      expect(answer).toMatchObject({ failed: 1, items: [{ status: "failed", reason: expect.stringMatching(reason) }] })
      const lines = await other.ingest(place, { name: "killer.jsonl", bytes: bytes("{}\n{}") })
      expect(lines).toMatchObject({ failed: 2 })
      await other.close()
    }
  })

  test("small ones share a process, and a PDF has one of its own", async () => {
    const log = new RecordingLog()
    const counting = programAround(`
      import { appendFileSync } from "node:fs"
      appendFileSync(new URL("started", import.meta.url), "x")
      await import(${JSON.stringify(new URL("../../packs/research/document-child.ts", import.meta.url).href)})`)
    const reader = new DocumentReader({ other: counting, log })
    const started = () => readFileSync(new URL("started", counting.script), "utf8").length
    const person = { person: "ada", signal }
    for (let round = 0; round < 20; round++) await reader.file("markdown", bytes(`# Note ${round}\n\nText.`), person)
    // One to be measured, one to work.
    expect(started()).toBe(2)
    for (let round = 0; round < 2; round++) await reader.file("pdf", smallPdf(["Page."]), person)
    expect(started()).toBe(3)
    await expect(reader.file("html", bytes("<p>"), person)).rejects.toMatchObject({ code: "document_unreadable" })
    await reader.file("html", bytes("<p>Text."), person)
    expect(started()).toBe(4)
    await reader.close()
    expect(log.lines).toEqual([])
  })

  test("is listed as failed if it cannot be read, and the next one is ingested", async () => {
    expect(await ingest("broken.pdf", "%PDF-1.4 no")).toMatchObject({
      failed: 1,
      items: [{ status: "failed", reason: expect.stringContaining("PDF") }],
    })
    expect(await ingest("photo.txt", Buffer.alloc(500, 1))).toMatchObject({
      failed: 1,
      items: [{ reason: "it is not a text" }],
    })
    expect(await ingest("empty.html", "<script>only()</script>")).toMatchObject({
      failed: 1,
      items: [{ reason: "there is no text in it" }],
    })
    expect(await ingest("nul.txt", "Half a \0 word and more text that follows.")).toMatchObject({ added: 1 })
    await expect(ingest("huge.txt", Buffer.alloc(65 * 1024 * 1024, "x"))).rejects.toMatchObject({
      code: "document_too_large",
    })
  })
})
