import { describe, expect, test } from "vitest"
import { eastAsianFont, type Placed, placedPdf, smallPdf, unicodeFont } from "../../../test/research/small-pdf.ts"
import { countWork } from "../../../test/support/worked.ts"
import { DocumentReader } from "../document-reader.ts"
import { joinLines, Vocabulary } from "./join-lines.ts"
import { readDocumentFile } from "../read-file.ts"

const { signal } = new AbortController()
const read = (pdf: Buffer) => readDocumentFile("pdf", new Uint8Array(pdf))
const textOf = async (placed: readonly Placed[]) => (await read(placedPdf([placed]))).text.trim()

/** Lines one below the other. */
const lines = (texts: readonly string[], { x = 50, y = 700, step = 12 } = {}): Placed[] =>
  texts.map((text, i) => ({ x, y: y - i * step, text }))

describe("a word at the end of a line", () => {
  const told = async (...texts: string[]) => (await textOf(lines(texts))).replaceAll("\n", " ")

  test("is joined if it was hyphenated", async () => {
    expect(await told("This is an exam-", "ple of hyphen-", "ation.")).toBe("This is an example of hyphenation.")
    const soft = ["A soft hy\u00ad", "phen, and an\u00adother."].map((text) => ({
      text,
      size: 10,
      base: 0,
      begins: false,
    }))
    expect(joinLines(soft, new Vocabulary())).toBe("A soft hyphen, and another.")
  })

  test("keeps a hyphen that belongs to it", async () => {
    expect(await told("The Navier-", "Stokes equations.")).toBe("The Navier-Stokes equations.")
    expect(await told("During COVID-", "19 it fell.")).toBe("During COVID-19 it fell.")
    expect(await told("The state-of-the-", "art method.")).toBe("The state-of-the-art method.")
    expect(await told("It is well known and two-", "fold, well-", "known to two people, a fold.")).toBe(
      "It is well known and two-fold, well-known to two people, a fold.",
    )
    expect(await told("A low-rank form is low-", "rank.")).toBe("A low-rank form is low-rank.")
    expect(await told("Vor-", "und Nachteile")).toBe("Vor- und Nachteile")
    expect(await told("a dash -", "and more")).toBe("a dash - and more")
  })
})

describe("columns", () => {
  const left = Array.from({ length: 12 }, (_, i) => `left column line number ${i} with some words`)
  const right = Array.from({ length: 12 }, (_, i) => `right column line number ${i} and other words`)
  const rows = left.flatMap((text, i) => [
    { x: 50, y: 600 - i * 12, text },
    { x: 310, y: 600 - i * 12, text: right[i]! },
  ])
  const title = { x: 50, y: 700, size: 20, text: "A title that goes over the whole width of it" }
  const order = (text: string) =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.replace(" column line number", "").split(" ").slice(0, 2).join(" "))

  test("that are stored row by row are read one after the other, between text that spans both", async () => {
    const note = {
      x: 50,
      y: 400,
      text: "A line below them that goes over the whole width of the page, from one side to the other.",
    }
    const more = [0, 1, 2, 3, 4, 5].flatMap((i) => [
      { x: 50, y: 370 - i * 12, text: `below column line number ${i} with some words` },
      { x: 310, y: 370 - i * 12, text: `beside column line number ${i} and other words` },
    ])
    const text = await textOf([title, ...rows, note, ...more])
    const numbered = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name} ${i}`)
    expect(order(text)).toEqual([
      ...["A title", ...numbered("left", 12), ...numbered("right", 12)],
      ...["A line", ...numbered("below", 6), ...numbered("beside", 6)],
    ])
  })

  test("whose words are hyphenated at the end of a line continue in their own column", async () => {
    const cut = rows.map((row) => (row.text === left[3] ? { ...row, text: "left column line is an exam-" } : row))
    const going = cut.map((row) => (row.text === left[4] ? { ...row, text: "ple of a word that was cut here" } : row))
    expect(await textOf([title, ...going])).toContain("is an example of a word")
  })

  test("three of them are read one after the other too", async () => {
    const three = Array.from({ length: 10 }, (_, i) =>
      [0, 1, 2].map((column) => ({
        x: 30 + column * 190,
        y: 600 - i * 12,
        text: `column${column} line ${i} with some more words`,
      })),
    ).flat()
    const columns = (await textOf(three)).split("\n").map((line) => line.slice(0, 7))
    expect(columns.filter((column) => column !== "")).toEqual(
      ["column0", "column1", "column2"].flatMap((column) => Array<string>(10).fill(column)),
    )
  })

  test("are found next to a vertical stamp at the side", async () => {
    const stamp = { x: 20, y: 300, text: "arXiv:1706.03762v5 [cs.CL] 6 Dec 2017", turned: true }
    const text = await textOf([stamp, title, ...rows])
    expect(order(text).slice(1, 3)).toEqual(["left 0", "left 1"])
    expect(text.endsWith("[cs.CL] 6 Dec 2017")).toBe(true)
  })

  test("of a table are read row by row", async () => {
    const table = Array.from({ length: 12 }, (_, i) => [
      { x: 50, y: 600 - i * 12, text: `size ${i}` },
      { x: 310, y: 600 - i * 12, text: `${i * 7} cm` },
    ]).flat()
    expect((await textOf(table)).split("\n")[3]).toMatch(/^size 3\s+21 cm$/)
  })
})

test("a rotated page keeps its lines and their order", async () => {
  const turned = ["The first line of it,", "the second one,", "and a third."].map((text, i) => ({
    x: 100 + i * 12,
    y: 100,
    text,
    turned: true,
  }))
  expect(await textOf(turned)).toBe("The first line of it,\nthe second one,\nand a third.")
})

test("superscript is a power, as in HTML", async () => {
  const text = await textOf([
    { x: 50, y: 700, text: "about 10" },
    { x: 90, y: 704, size: 7, text: "4" },
    { x: 95, y: 700, text: " cells of H" },
    { x: 139.2, y: 697.5, size: 7, text: "2" },
    { x: 143.2, y: 700, text: "O" },
  ])
  expect(text).toBe("about 10^4 cells of H2O")
})

describe("of pages without text", () => {
  test("the result names these pages", async () => {
    const { text, remark, sections } = await read(smallPdf(["One.", "", "Three.", "", "", "", "Seven.", ""]))
    expect(remark).toBe("there is no text on pages 2, 4–6 and 8 of 8; they may be scanned")
    expect(sections.map(({ headings }) => headings[0])).toEqual(["page 1", "page 3", "page 7"])
    expect(text).not.toContain("scanned")
    expect((await read(smallPdf(["One.", ""]))).remark).toBe("there is no text on page 2 of 2; it may be scanned")
    expect(await read(smallPdf(["One.", "Two."]))).not.toHaveProperty("remark")
  })

  test("a document of only such pages is refused with the reason", async () => {
    await expect(read(smallPdf(["", ""]))).rejects.toThrow("there is no text on its 2 pages; they may be scanned")
  })
})

describe("the metadata of a PDF", () => {
  const about = async (info: string, pages: readonly (readonly Placed[])[] = [lines(["Some text."])]) => {
    const { text, sections, ...rest } = await read(placedPdf(pages, { info }))
    return rest
  }

  test.each([
    "untitled",
    "Untitled-1",
    "Microsoft Word - paper v2.doc",
    "paper.dvi",
    "C:\\\\papers\\\\x.tex",
    "/tmp/x",
    "Title",
    "Document1",
    "PowerPoint Presentation",
    "PII: S0022-1",
    "-",
    "12345",
  ])("%s is not a title", async (title) => expect(await about(`/Title(${title})`)).not.toHaveProperty("title"))

  test.each([
    "anonymous",
    "Anonymous Author(s)",
    "user",
    "admin",
    "Administrator",
    "root",
    "Unknown",
    "author",
    "",
    "Owner",
    "HP",
  ])("%s is not an author", async (author) => expect(await about(`/Author(${author})`)).not.toHaveProperty("authors"))

  test("authors that are placeholders are removed", async () => {
    expect(await about("/Author(Ada B.; user)/Title(Node.js in use)")).toMatchObject({
      authors: ["Ada B."],
      title: "Node.js in use",
    })
  })

  const paper = (...more: string[]): Placed[] => [
    { x: 100, y: 740, size: 18, text: "On the lift of wings" },
    { x: 100, y: 718, size: 18, text: "at small angles" },
    ...lines(["Ada B. and Cy D.", ...more, "This is the text of the paper, in the size of most of it.", "And more."], {
      y: 690,
    }),
  ]

  test("without a title, the largest text at the top of the first page is the title", async () => {
    expect(await about("/Title(untitled)", [paper()])).toMatchObject({ title: "On the lift of wings at small angles" })
    expect(await about("/Title(Wings)", [paper()])).toMatchObject({ title: "Wings" })
    expect(await about("", [lines(["All of it", "is of one size."])])).not.toHaveProperty("title")
  })

  test.each([
    ["Published online: 12 March 2019", "2019-03-12"],
    ["Received 3 May 2017; accepted 4 June 2018", "2018-06-04"],
    ["Published: March 12, 2019", "2019-03-12"],
    ["arXiv:1706.03762v5 [cs.CL] 6 Dec 2017", "2017-12-06"],
    ["Journal of Wings, Vol. 3, May 1985", "1985-05"],
    ["2020-04-30", "2020-04-30"],
    ["(c) 1999 The Authors", "1999"],
    ["as was shown by others (Smith, 1971)", undefined],
  ])("its date is the paper's and not the file's: %s", async (line, date) => {
    expect((await about("/CreationDate(D:20240501)", [paper(line)])).date).toBe(date)
  })

  test("the file's date is used unless the text contradicts it", async () => {
    expect((await about("/CreationDate(D:20240501)", [paper()])).date).toBe("2024-05-01")
    expect((await about("/CreationDate(D:20240501)", [paper("as was shown (Smith, 2023)")])).date).toBe("2024-05-01")
  })
})

describe("a PDF of East Asia", () => {
  const shown = async (hex: string, font: string) => {
    const [encoding = "", ordering = ""] = font.split(" of ")
    const fonts = { F2: eastAsianFont(encoding, ordering) }
    const pdf = placedPdf([[{ x: 50, y: 700, hex, font: "F2" }]], { fonts })
    // As it is in use: in a process that may read nothing but its own code.
    const reader = new DocumentReader()
    try {
      return (await reader.file("pdf", pdf, { person: "ada", signal })).text.trim()
    } finally {
      await reader.close()
    }
  }

  test.each([
    ["Japanese", "93fa967b8cea", "90ms-RKSJ-H of Japan1", "日本語"],
    ["Japanese by the numbers of its font", "034b034c", "Identity-H of Japan1", "あぃ"],
    ["Chinese", "4e2d65878bba6587", "UniGB-UCS2-H of GB1", "中文论文"],
    ["Chinese of Taiwan", "a4a4a4e5", "ETen-B5-H of CNS1", "中文"],
    ["Korean", "c7d1b1b9", "KSCms-UHC-H of Korea1", "한국"],
  ])("is read without its own table of characters: %s", async (_, hex, font, text) => {
    expect(await shown(hex, font)).toBe(text)
  })
})

describe("text in presentation forms", () => {
  const codes = (text: string) => Buffer.from(text, "utf16le").swap16().toString("hex")
  const readShown = (...placed: { x: number; y: number; text: string }[]) =>
    read(
      placedPdf([placed.map(({ x, y, text }) => ({ x, y, hex: codes(text), font: "F2" }))], {
        fonts: { F2: unicodeFont },
      }),
    )
  /** As it is seen, from the left, in forms by position: كتاب ("book"). */
  const BOOK = "\ufe8f\ufe8e\ufe98\ufedb"

  test("that is right-to-left is stored in reading order, with normal letters", async () => {
    expect((await readShown({ x: 50, y: 700, text: BOOK })).text.trim()).toBe("كتاب")
    // The same written down from its first letter on.
    expect((await readShown({ x: 50, y: 700, text: [...BOOK].reverse().join("") })).text.trim()).toBe("كتاب")
    // One form for two letters, which stay in their order: سلام.
    expect((await readShown({ x: 50, y: 700, text: "\ufee1\ufefc\ufeb3" })).text.trim()).toBe("سلام")
  })

  test("that is right-to-left keeps the order of its words, numbers and left-to-right words", async () => {
    const { text } = await readShown(
      { x: 50, y: 700, text: `)2024 ${BOOK}(` },
      { x: 120, y: 700, text: "PDF file" },
      { x: 170, y: 700, text: BOOK },
      { x: 50, y: 680, text: BOOK },
    )
    expect(text.trim()).toBe("كتاب PDF file (كتاب 2024)\nكتاب")
  })

  test("that is right-to-left and ends with a number has its full stop after it", async () => {
    const { text } = await readShown({ x: 50, y: 700, text: ".2020" }, { x: 90, y: 700, text: BOOK })
    expect(text.trim()).toBe("كتاب 2020.")
  })

  test("in East Asian scripts is stored in characters, not in radicals or half-width forms", async () => {
    const { text } = await readShown({ x: 50, y: 700, text: "⽇本⻑⾏ ｶﾞｲﾄﾞ 神" })
    expect(text.trim()).toBe("日本長行 ガイド 神")
  })

  test("with a ligature is stored in letters", async () => {
    expect((await readShown({ x: 50, y: 700, text: "eﬃcient ﬂow" })).text.trim()).toBe("efficient flow")
  })

  test("with characters that only its font defines is reported with its page", async () => {
    const { remark } = await readShown({ x: 50, y: 700, text: "Area \ue010\ue011" })
    expect(remark).toBe("2 of the letters on page 1 cannot be read: their font does not say which they are")
  })
})

test("a page of a hundred thousand separately placed characters is read in linear time", async () => {
  const signs = Array.from({ length: 100_000 }, (_, i) => ({ x: (i * 37) % 600, y: (i * 91) % 800, text: "x" }))
  const pdf = placedPdf([signs])
  const worked = countWork()
  await read(pdf)
  expect(worked()).toBeLessThan(20_000)
}, 180_000)
