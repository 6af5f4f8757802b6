import { expect, test } from "vitest"
import { kindOf } from "../document-kind.ts"
import { readDocumentFile } from "../read-file.ts"

const read = (rtf: string) => readDocumentFile("rtf", Buffer.from(rtf, "latin1"))
const textOf = async (rtf: string) => (await read(rtf)).text

test("a file is RTF by its first bytes with any name, and by its name", () => {
  expect(kindOf("letter.txt", Buffer.from("{\\rtf1 Hi}"))).toBe("rtf")
  expect(kindOf("LETTER.RTF", Buffer.from("Hi"))).toBe("rtf")
  expect(kindOf("curly.txt", Buffer.from("{\\it Hi}"))).toBe("text")
})

test("paragraphs, lines, tabs and symbols are text, and so are groups", async () => {
  expect(
    await textOf("{\\rtf1\\ansi One {\\b bold} word.\\par\r\nTwo\\line lines\\tab and \\{braces\\} \\\\.\\par}"),
  ).toBe("One bold word.\n\nTwo\nlines\tand {braces} \\.")
  expect(await textOf("{\\rtf1 a\\emdash b\\~c\\_d\\-e\\ldblquote f\\rdblquote\\\ng}")).toBe("a—b\u00A0c-de“f”\n\ng")
  expect(await textOf("{\\rtf1\\trowd a\\cell b\\cell\\row\\trowd c\\cell d\\cell\\row\\pard end}")).toBe(
    "a\tb\nc\td\nend",
  )
})

test("bytes are decoded with the code page of the file or the font", async () => {
  expect(await textOf("{\\rtf1\\ansi\\ansicpg1251 \\'cc\\'e8\\'f0}")).toBe("Мир")
  expect(await textOf("{\\rtf1\\ansi\\ansicpg932 \\'93\\'fa\\'96\\'7b}")).toBe("日本")
  expect(await textOf("{\\rtf1\\ansi\\ansicpg932 \x93\xfa\\'83e}")).toBe("日テ")
  expect(await textOf("{\\rtf1\\mac caf\\'8e}")).toBe("café")
  const fonts = "{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fnil\\fcharset204 Arial Cyr;}{\\f2\\cpg1253 Greek;}}"
  expect(
    await textOf(
      `{\\rtf1\\ansi\\ansicpg1252\\deff0${fonts}\\f0 caf\\'e9 {\\f1 \\'cc\\'e8\\'f0} \\f2\\'e1\\plain\\'e9}`,
    ),
  ).toBe("café Мир αé")
})

test("superscript is a power, in each notation, and subscript follows directly, as in H2O", async () => {
  const said = async (raised: string) => await textOf(`{\\rtf1\\ansi 10${raised} Pa}`)
  expect(await said("{\\super 4}")).toBe("10^4 Pa")
  expect(await said("\\super 4\\nosupersub ")).toBe("10^4 Pa")
  expect(await said("{\\up6 4}")).toBe("10^4 Pa")
  expect(await said("\\up6 4\\up0 ")).toBe("10^4 Pa")
  expect(await said("{\\super\\u8722?{\\b 1}2}")).toBe("10^−12 Pa")
  expect(await said("\\super 4\\plain ")).toBe("10^4 Pa")
  expect(await textOf("{\\rtf1 H{\\sub 2}O and x{\\dn6 i}, the 5{\\super th}.}")).toBe("H2O and x_i, the 5th.")
  expect(await textOf("{\\rtf1 Seen{\\super\\chftn{\\footnote see 4.}}.}")).toBe("Seen [see 4.].")
})

test("Unicode escapes are read, and their replacements for older programs are skipped", async () => {
  expect(await textOf("{\\rtf1\\ansi \\u1052?\\u1080\\'e8\\u1088 p!}")).toBe("Мир!")
  expect(await textOf("{\\rtf1\\uc0 \\u1052\\u1080{\\uc2 \\u1088ab}c}")).toBe("Мирc")
  expect(await textOf("{\\rtf1 \\u-10179?\\u-9215?{\\u65?}x}")).toBe("🐁Ax")
  expect(await textOf("{\\rtf1 \\uc9 \\u65 ab}c")).toBe("A")
})

test("tables of fonts, colours and styles, pictures, headers and hidden text are skipped", async () => {
  const around =
    "{\\fonttbl{\\f0 Times;}}{\\colortbl;\\red0\\green0\\blue0;}{\\stylesheet{\\s1 heading 1;}}{\\*\\generator Writer;}{\\header Page}{\\footerf Foot}"
  const body =
    'Seen{\\pict\\pngblip 89504e47}{\\*\\shppict{\\pict aa}}{\\v hidden}{\\deleted gone}{\\field{\\*\\fldinst HYPERLINK "x"}{\\fldrslt  here}}{\\xe index}'
  expect(await textOf(`{\\rtf1${around}${body}{\\footnote see there}.}`)).toBe("Seen here [see there].")
})

test("its title and authors are those of its properties, and headings are those of its outline", async () => {
  const info = "{\\info{\\title On \\'e9lan}{\\author Ada B.; Cy D.}{\\doccomm none}}"
  const paragraphs =
    "\\pard\\outlinelevel0 Lift\\par\\pard Grows.\\par\\pard\\outlinelevel1 Stall\\par\\pard Falls.\\par"
  const { title, authors, text, sections } = await read(`{\\rtf1\\ansi${info}${paragraphs}}`)
  expect({ title, authors }).toEqual({ title: "On élan", authors: ["Ada B.", "Cy D."] })
  expect(sections.map(({ headings, start, end }) => [headings, text.slice(start, end).trim()])).toEqual([
    [["Lift"], "Lift\n\nGrows."],
    [["Lift", "Stall"], "Stall\n\nFalls."],
  ])
  expect((await read("{\\rtf1 A letter\\par Words.}")).title).toBe("A letter")
})

test("binary data is skipped, also if it looks like the end of a group", async () => {
  expect(await textOf("{\\rtf1 a{\\pict\\bin5 }}}{{}b\\bin2 \\pc}")).toBe("abc")
  expect((await read("{\\rtf1 a\\bin999999999 b}")).remark).toMatch(/the file is incomplete/)
})

test("a truncated file is read as far as possible, with a remark", async () => {
  const { text, remark } = await read("{\\rtf1 {\\b What there is")
  expect({ text, remark }).toEqual({
    text: "What there is",
    remark: "the file is incomplete; the text up to its end was read",
  })
  expect((await read("{\\rtf1 Whole.}\r\n\0")).remark).toBeUndefined()
})

test("characters of an unsupported code page are reported, and not decoded wrongly", async () => {
  const { text, remark } = await read("{\\rtf1\\pca caf\\'82 au lait}")
  expect(text).toBe("caf\uFFFD au lait")
  expect(remark).toBe("1 of its letters is in code page 850, which is not supported")
})

test.each([
  ["is no RTF", "Plain words.", "it is not an RTF file: it does not start with {\\rtf"],
  ["has too many braces", `{\\rtf1 ${"{".repeat(100_000)}a`, "its groups are nested more than 1000 levels deep"],
])("a file that %s is refused with a sentence", async (_what, rtf, problem) => {
  await expect(read(rtf)).rejects.toMatchObject({ code: "document_unreadable", details: { problem } })
})

test("an endless title, an endless control word and unknown names are harmless", async () => {
  const { title } = await read(`{\\rtf1{\\info{\\title ${"x".repeat(100_000)}}}Words.}`)
  expect(title?.length).toBeLessThanOrEqual(500)
  expect(
    await textOf(`{\\rtf1\\${"a".repeat(100_000)} Words\\u99999999999 ?\\constructor\\__proto__\\'zz.\\}`),
  ).toMatch(/^Words/)
})
