import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, inject, test } from "vitest"
import { encodeAs } from "../../../test/analyst/encode-as.ts"
import { tableName } from "./columns.ts"
import { csvLimits } from "./job.ts"
import { runCsvJob } from "./run-job.ts"

const file = join(mkdtempSync(join(tmpdir(), inject("testRun"), "csv-job-")), "sent.csv")

/** Long enough that its beginning alone is what is looked at. */
const japanese = encodeAs("shift_jis", `都市,n\n${"東京とその近く,1\n".repeat(20_000)}`)

const run = (text: string | Uint8Array, limits = csvLimits) => {
  writeFileSync(file, text)
  return runCsvJob({ file, to: null, table: "t", isTabSeparated: false, limits })
}

async function look(text: string | Uint8Array) {
  const outcome = await run(text)
  if (outcome.type === "refused") throw new Error(outcome.problem)
  return outcome.preview
}

test.each([
  [
    "commas in quotes do not count",
    'a;b\n"1,2,3";4\n"5,6,7";8\n',
    ";",
    [
      ["1,2,3", 4],
      ["5,6,7", 8],
    ],
  ],
  ["tabs", "a\tb\n1\t2\n", "\t", [[1, 2]]],
  ["pipes", "a|b|c\n1|2|3\n", "|", [[1, 2, 3]]],
  [
    "old line ends",
    "a,b\r1,2\r3,4",
    ",",
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ["one column", "a\nx\ny\n", ",", [["x"], ["y"]]],
  ["a mark", "\uFEFFa,b\n1,2\n", ",", [[1, 2]]],
  ["a quote in the middle", 'a,b\n5" pipe,2\n', ",", [['5" pipe', 2]]],
])("%s", async (_what, text, delimiter, rows) => {
  const shown = await look(text)
  expect(shown).toMatchObject({ delimiter, rows, warnings: [] })
  expect(shown.columns[0]?.name).toBe("a")
})

test.each([
  ["007", "text"],
  ["+49 30 1234", "text"],
  ["1e400", "DECIMAL TEXT"],
  ["12345678901234567.5", "DECIMAL TEXT"],
  ["9223372036854775807", "INTEGER"],
  ["9223372036854775808", "DECIMAL TEXT"],
  ["-", "text"],
  [".", "text"],
  [".5", "REAL"],
  ["1.5e3", "REAL"],
  ["0", "INTEGER"],
  ["00", "text"],
  ["2023-02-29", "text"],
  ["2024-13-01", "text"],
  ["0001-01-01", "DATE"],
  ["2024-01-01T24:00", "text"],
  ["2024-01-01T00:00:00.123+02:00", "DATETIME"],
  ["True", "BOOLEAN"],
  ["yes", "text"],
  ["NaN", "text"],
  ["0x10", "text"],
  ["1_000", "text"],
  [" 12 ", "INTEGER"],
  ["١٢", "text"],
  ["9007199254740993\n0.5", "DECIMAL TEXT"],
  ["1\n2.5", "REAL"],
  ["1\ntrue", "text"],
  ["2024-01-01\n2024-01-01T10:00", "DATETIME"],
])("%j is %s", async (cells, type) => {
  expect(
    (
      await look(
        `x,y\n${cells
          .split("\n")
          .map((cell) => `${cell},`)
          .join("\n")}\n`,
      )
    ).columns[0]?.type,
  ).toBe(type.toUpperCase())
})

test("times are stored so that SQLite reads them: with a point before the fraction and a colon in the offset", async () => {
  const written = [
    "2024-01-31 10:00:00,123",
    "2024-01-31T10:00:00+0200",
    "31.01.2024 10:00:00,5",
    "2024-01-31T10:00:00-05:30",
  ]
  const { columns, rows } = await look(`at;n\n${written.map((cell) => `${cell};1\n`).join("")}`)
  expect(columns[0]?.type).toBe("DATETIME")
  const db = new DatabaseSync(":memory:")
  const read = db.prepare("SELECT strftime('%Y-%m-%d', ?) AS day")
  expect(rows.map(([at]) => read.get(String(at))?.day)).toEqual(written.map(() => "2024-01-31"))
  db.close()
})

test("names of columns are cleaned and made unique", async () => {
  const header = ' Total (EUR) ,total eur,,2024,"a""b;drop",select,😀,Ünï,total_EUR,x\u0007y'
  const names = (await look(`${header}\n${"1,".repeat(9)}1\n`)).columns.map(({ name }) => name)
  expect(names).toEqual([
    ...["Total_EUR", "total_eur_2", "column_3", "_2024", "a_b_drop", "select", "column_7", "Ünï", "total_EUR_3", "x_y"],
  ])
  expect(["Sales 2024.csv", "sqlite_x", "😀", "1", "A;B"].map(tableName)).toEqual([
    ...["sales_2024", "table_sqlite_x", "table", "_1", "a_b"],
  ])
})

test("are decoded with their encoding, with a warning if it is a guess", async () => {
  const text = "stadt,n\nKöln,1\n"
  const utf16 = (swap: boolean) => {
    const bytes = Buffer.from(`\uFEFF${text}`, "utf16le")
    return swap ? bytes.swap16() : bytes
  }
  for (const bytes of [Buffer.from(text), utf16(false), utf16(true)]) {
    expect(await look(bytes)).toMatchObject({ rows: [["Köln", 1]], warnings: [] })
  }
  for (const encoding of ["utf-16le", "utf-16be"])
    expect(await look(encodeAs(encoding, text))).toMatchObject({
      rows: [["Köln", 1]],
      warnings: [expect.stringContaining(encoding.toUpperCase())],
    })
  expect(await look(japanese)).toMatchObject({
    rows: expect.arrayContaining([["東京とその近く", 1]]),
    warnings: [expect.stringContaining("shift_jis")],
  })
  const latin = await look(Buffer.from("stadt,n\nK\xf6ln \x80,1\n", "latin1"))
  expect(latin.rows).toEqual([["Köln €", 1]])
  expect(latin.warnings).toEqual([expect.stringContaining("windows-1252")])
  const broken = await look(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from("a,b\n\xff,1\n", "latin1")]))
  expect(broken.rows).toEqual([["\uFFFD", 1]])
  expect(broken.warnings).toEqual([expect.stringContaining("not UTF-8")])
})

test("with rows of different lengths are stored completely", async () => {
  const shown = await look("a,b\n1\n1,2,3,4\n1,2\n")
  expect(shown.columns.map(({ name }) => name)).toEqual(["a", "b", "column_3", "column_4"])
  expect(shown.rows).toEqual([
    [1, null, null, null],
    [1, 2, 3, 4],
    [1, 2, null, null],
  ])
  expect(shown.warnings).toHaveLength(2)
  expect(await look("a,b\n")).toMatchObject({ rowCount: 0, columns: [{ type: "TEXT" }, { type: "TEXT" }] })
})

test.each<[string, string | Uint8Array, string]>([
  ["empty", "", "nothing in it"],
  ["only line ends", "\n\r\n\n", "nothing in it"],
  ["a NUL", "a,b\n1\0,2\n", "NUL"],
  ["Russian of Windows", encodeAs("windows-1251", "город,n\nМосква,1\nТверь,2\n"), "save it as UTF-8"],
  [
    "half a file of another encoding",
    Buffer.concat([japanese, Buffer.from("\xff\xff,1\n", "latin1")]),
    "not shift_jis",
  ],
  ["a program", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1]), "NUL"],
  ["a quote that is never closed", 'a,b\n"1,2\n3,4\n', "quote is not closed"],
  ["a quote that runs on", `a,b\n"${"1,2\n".repeat(400_000)}`, "quote is not closed"],
  ["too many columns", `${"a,".repeat(600)}a\n`, "601 cells"],
])("%s is refused with a sentence", async (_what, body, problem) => {
  expect(await run(body)).toEqual({ type: "refused", problem: expect.stringContaining(problem) })
})

test("a file of too many rows is refused", async () => {
  const limits = { ...csvLimits, rows: 2 }
  expect(await run("a\n1\n2\n", limits)).toMatchObject({ type: "read" })
  expect(await run("a\n1\n2\n3\n", limits)).toMatchObject({ type: "refused" })
})

test.each([
  ["3 Mar 2024", "2024-03-03"],
  ["03-Mar-2024", "2024-03-03"],
  ["December 31, 2024", "2024-12-31"],
  ["Sept. 9, 2024", "2024-09-09"],
  ["1 may 2024, 14:30", "2024-05-01 14:30"],
])("the date %s has the name of a month, and is read", async (cell, iso) => {
  const shown = await look(`day;n\n"${cell}";1\n`)
  expect(shown).toMatchObject({ rows: [[iso, 1]], warnings: [] })
  expect(shown.columns[0]?.type).toMatch(/^DATE/)
})

test.each(["3. März 2024", "3 de marzo de 2024", "3 mars 2024", "March 2024", "Mar-2024"])(
  "the date %s stays text, with a warning",
  async (cell) => {
    const { columns, warnings } = await look(`day;n\n${cell};1\n`)
    expect(columns[0]?.type).toBe("TEXT")
    expect(warnings).toEqual([
      expect.stringMatching(/^day: .*looks like a date that is not read; the column stays text/),
    ])
  },
)

test.each(["31 Feb 2024", "Windows 2000", "12 Monkeys", "Mayfair 12, 2024"])(
  "%s is text, and no date",
  async (cell) => {
    const { columns } = await look(`name;n\n"${cell}";1\n`)
    expect(columns[0]?.type).toBe("TEXT")
  },
)

test("times with several offsets are stored, with a warning about comparisons", async () => {
  const { columns, warnings } = await look(
    "at;n\n2024-01-01T00:30:00+01:00;1\n2024-07-01T00:30:00+0200;2\n2024-07-01T00:30:00Z;3\n",
  )
  expect(columns[0]?.type).toBe("DATETIME")
  expect(warnings).toEqual([
    expect.stringMatching(
      /^at: Times are written with the offset \+01:00 \(line 2\) and with the offset \+02:00 \(line 3\)/,
    ),
  ])
  const none = await look("at;n\n2024-01-01T00:30:00Z;1\n2024-07-01T00:30:00;2\n")
  expect(none.warnings).toEqual([expect.stringContaining("the offset Z (line 2) and with no offset (line 3)")])
  expect((await look("at;n\n2024-01-01T00:30:00Z;1\n2024-07-01T00:30:00Z;2\n")).warnings).toEqual([])
})

test.each([
  ["lines", '{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n'],
  ["one list", '[{"a": 1, "b": "x"}, {"a": 2}]\n'],
  ["one object on several lines", '{\n  "a": 1,\n  "b": {\n  "c": 2}\n}\n'.replaceAll("\n  ", "\n{ ")],
])("JSON in %s is refused as JSON", async (_, text) => {
  const outcome = await run(text)
  expect(outcome).toMatchObject({ type: "refused", problem: expect.stringContaining("it is JSON") })
})

test("a title above the header causes a warning", async () => {
  for (const text of [
    "Sales of 2024\n\nregion,amount\nNorth,3\nSouth,4\n",
    "Sales of 2024,,\nregion,amount,n\nNorth,3,1\n",
  ]) {
    const { warnings } = await look(text)
    expect(warnings[0]).toMatch(
      /^The first row has only 1 of \d cells, beginning with “Sales of 2024”: .*remove the lines above/,
    )
  }
  expect((await look("region,amount\nNorth,3\n")).warnings).toEqual([])
})

const zip = (entry: string) =>
  Buffer.concat([Buffer.from("PK\x03\x04\x14\0\x06\0\x08\0\0\0", "latin1"), Buffer.from(entry), Buffer.alloc(300)])
test.each([
  [zip("xl/workbook.xml"), "it is an Excel workbook (XLSX): save its sheet as CSV"],
  [zip("word/document.xml"), "it is a Word document (DOCX): save it as PDF"],
  [zip("[Content_Types].xml"), "it is an Office document"],
  [zip("photos/1.jpg"), "it is an archive (ZIP)"],
  [Buffer.from("SQLite format 3\0\x10\0\x01"), "connect it as a database"],
  [Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0, 0]), "it is an old Office document"],
])("a file that is not text is refused with its format: %#", async (bytes, problem) => {
  expect(await run(bytes)).toMatchObject({ type: "refused", problem: expect.stringContaining(problem) })
})
