import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import fc from "fast-check"
import { describe, expect, inject, test } from "vitest"
import { csvLimits } from "../../../packs/analyst/csv/job.ts"
import { runCsvJob } from "../../../packs/analyst/csv/run-job.ts"
import type { CsvReading } from "../../../core/protocol/databases/csv.ts"

const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "csv-locales-"))
const file = join(folder, "sent.csv")
const made = join(folder, "made.db")

async function look(text: string, options: CsvReading = {}, to: string | null = null) {
  writeFileSync(file, text)
  const outcome = await runCsvJob({ file, to, table: "t", isTabSeparated: false, options, limits: csvLimits })
  if (outcome.type === "refused") throw new Error(outcome.problem)
  return outcome.preview
}

/** A file with one column of these cells, each between quotation marks, and one column of text. */
const column = (cells: readonly string[]) => ["x;y", ...cells.map((cell) => `"${cell}";a`)].join("\n")
const only = async (cells: readonly string[], options: CsvReading = {}) => {
  const { columns, rows, warnings, questions } = await look(column(cells), options)
  return { type: columns[0]?.type, values: rows.map(([value]) => value), warnings, questions }
}

describe("numbers are read as they are written", () => {
  test.each<[what: string, cells: string[], type: string, values: unknown[]]>([
    ["European", ["1.234,56", "7", "-0,5"], "REAL", [1234.56, 7, -0.5]],
    ["with several groups", ["1.234.567", "12"], "INTEGER", [1234567, 12]],
    ["American", ["1,234.56", "-1,200.00"], "REAL", [1234.56, -1200]],
    ["Indian", ["1,23,456.50", "99"], "REAL", [123456.5, 99]],
    ["Swiss", ["1'234.50", "12’000"], "REAL", [1234.5, 12000]],
    ["French, with narrow spaces", ["1\u202f234,5", "1\u00a0234\u00a0567,25", "12"], "REAL", [1234.5, 1234567.25, 12]],
    ["beside smaller ones", ["12 500", "17"], "INTEGER", [12500, 17]],
    ["with a euro before", ["€ 12,50", "€ 1.200,00", "-€ 3,00"], "REAL", [12.5, 1200, -3]],
    ["with a euro behind", ["12,50 €", "1.200,00 €"], "REAL", [12.5, 1200]],
    ["with dollars", ["$1,200.00", "$ 3.5", "-$2.25"], "REAL", [1200, 3.5, -2.25]],
    ["with the name of a currency", ["12 EUR", "1.300,5 EUR"], "REAL", [12, 1300.5]],
    ["in percent", ["12,5 %", "7%"], "REAL", [12.5, 7]],
    ["with a real minus", ["\u22125,5", "2"], "REAL", [-5.5, 2]],
    [
      "with more digits than a double",
      ["12.345.678.901.234.567,89", "1,5"],
      "DECIMAL TEXT",
      ["12345678901234567.89", "1.5"],
    ],
    [
      "with words for nothing",
      ["1,5", "NULL", "n/a", "-", "NaN", "#N/A", "2,5"],
      "REAL",
      [1.5, null, null, null, null, null, 2.5],
    ],
  ])("%s", async (_what, cells, type, values) => {
    expect(await only(cells)).toMatchObject({ type, values, questions: [] })
  })

  test("and a unit is noted without a warning", async () => {
    const { columns, warnings } = await look(column(["12,50 €", "3,00 €"]))
    expect(warnings).toEqual([])
    expect(columns[0]).toEqual({ name: "x", type: "REAL", note: expect.stringContaining("€") })
    expect((await look(column(["5 %", "7 %"]))).columns[0]?.note).toContain("percent")
  })

  test.each<[what: string, cells: string[]]>([
    ["leading zeros", ["01234", "99999"]],
    ["phone numbers", ["+49 30 123456", "030 123 456"]],
    ["phone numbers in groups", ["555 123 456", "555 987 654"]],
    ["versions", ["1.2.3", "1.10.0"]],
    ["addresses of machines", ["192.168.100.200", "10.0.0.1"]],
    ["nothing but words for nothing", ["N/A", "-"]],
  ])("%s stay text", async (_what, cells) => {
    expect(await only(cells)).toMatchObject({ type: "TEXT", values: cells })
  })
})

describe("an ambiguous column", () => {
  const POINTS = ["1.234", "2.500"]

  test("is decided by its other cells", async () => {
    expect(await only([...POINTS, "3,5"])).toMatchObject({ type: "REAL", values: [1234, 2500, 3.5] })
    expect(await only([...POINTS, "3.5"])).toMatchObject({ type: "REAL", values: [1.234, 2.5, 3.5] })
    expect(await only([...POINTS, "1.234.567"])).toMatchObject({ type: "INTEGER", values: [1234, 2500, 1234567] })
    expect(await only(["1,234", "0.5"])).toMatchObject({ values: [1234, 0.5] })
  })

  test("is decided by the other columns, if they agree", async () => {
    expect((await look("a;b\n1.234;0,5\n2.000;1,5\n")).rows).toEqual([
      [1234, 0.5],
      [2000, 1.5],
    ])
    expect((await look("a;b\n1.234;0.5\n")).rows).toEqual([[1.234, 0.5]])
    const both = await look("a;b;c\n1.234;0.5;0,5\n")
    expect(both.columns[0]?.type).toBe("TEXT")
  })

  test("leads to a question, and is text with a warning until then", async () => {
    const asked = await only(POINTS)
    expect(asked).toMatchObject({ type: "TEXT", values: POINTS })
    expect(asked.questions).toEqual([
      { column: "x", option: "decimal", choices: ["point", "comma"], says: expect.stringContaining("1.234") },
    ])
    expect(asked.warnings).toEqual([expect.stringMatching(/^x: .*stays text.*decimal=/)])
    expect(await only(POINTS, { decimal: "comma" })).toMatchObject({
      type: "INTEGER",
      values: [1234, 2500],
      questions: [],
    })
    expect(await only(POINTS, { decimal: "point" })).toMatchObject({ type: "REAL", values: [1.234, 2.5], warnings: [] })
  })

  test("of dates is decided, asked about or set in the same ways", async () => {
    expect(await only(["03/04/2025", "31/12/2025"])).toMatchObject({
      type: "DATE",
      values: ["2025-04-03", "2025-12-31"],
    })
    expect(await only(["03/04/2025", "12/31/2025"])).toMatchObject({
      type: "DATE",
      values: ["2025-03-04", "2025-12-31"],
    })
    expect((await look("a;b\n03/04/2025;31-12-2025\n")).rows).toEqual([["2025-04-03", "2025-12-31"]])
    const asked = await only(["03/04/2025", "05/06/2025"])
    expect(asked).toMatchObject({ type: "TEXT", values: ["03/04/2025", "05/06/2025"] })
    expect(asked.questions).toMatchObject([{ column: "x", option: "dates", choices: ["day-first", "month-first"] }])
    expect(asked.warnings).toEqual([expect.stringContaining("dates=")])
    expect(await only(["03/04/2025"], { dates: "day-first" })).toMatchObject({ values: ["2025-04-03"], warnings: [] })
    expect(await only(["03/04/2025"], { dates: "month-first" })).toMatchObject({ values: ["2025-03-04"] })
    expect(await only(["05/05/2025"])).toMatchObject({ type: "DATE", values: ["2025-05-05"], questions: [] })
  })
})

describe("dates", () => {
  test.each<[cells: string[], type: string, values: unknown[]]>([
    [["31.12.2025", "1.2.2025"], "DATE", ["2025-12-31", "2025-02-01"]],
    [["31.12.2025 14:30", "01.02.2025"], "DATETIME", ["2025-12-31 14:30", "2025-02-01"]],
    [["12/31/2025 2:05 PM", "12/31/2025 12:00 am"], "DATETIME", ["2025-12-31 14:05", "2025-12-31 00:00"]],
    [["13-1-2025", "1-12-2025"], "DATE", ["2025-01-13", "2025-12-01"]],
    [["2025/12/31", "2025-01-02"], "DATE", ["2025-12-31", "2025-01-02"]],
    [["31.02.2025", "01.02.2025"], "TEXT", ["31.02.2025", "01.02.2025"]],
    [["31.12.25", "01.02.25"], "TEXT", ["31.12.25", "01.02.25"]],
  ])("%j are %s", async (cells, type, values) => {
    const read = await only(cells)
    expect(read).toMatchObject({ type, values })
    // A column that resembles dates and stays text gets a warning.
    expect(read.warnings).toHaveLength(type === "TEXT" ? 1 : 0)
  })
})

describe("a mixed column", () => {
  test.each<[what: string, cells: string[], line: number, cell: string]>([
    ["of numbers and a word", ["1,5", "2,5", "viel", "3"], 4, "viel"],
    ["that begins with a word", ["EUR", "2,5", "3,5", "3"], 2, "EUR"],
    ["of two ways to write numbers", ["1.234,56", "1,234.56"], 3, "1,234.56"],
    ["of currencies", ["5 €", "7 €", "7 $"], 4, "7 $"],
    ["of numbers with and without a currency", ["5 €", "7"], 3, "7"],
    ["of numbers and dates", ["5", "31.12.2025"], 3, "31.12.2025"],
    ["with brackets for less than nothing", ["5,00", "(3,00)"], 3, "(3,00)"],
  ])("%s stays text, with a warning that names its first malformed line", async (_what, cells, line, cell) => {
    const read = await only(cells)
    expect(read).toMatchObject({ type: "TEXT", values: cells })
    expect(read.warnings).toEqual([expect.stringContaining(`line ${line}`)])
    expect(read.warnings[0]).toContain(cell)
  })

  test("but text with a few numbers among it gets no warning", async () => {
    expect((await only(["Ada", "7", "Bo", "x"])).warnings).toEqual([])
  })
})

describe("the first row", () => {
  test("is data if it is like all the others", async () => {
    const read = await look("1;31.12.2025;a\n2;30.12.2025;b\n")
    expect(read).toMatchObject({
      rowCount: 2,
      rows: [
        [1, "2025-12-31", "a"],
        [2, "2025-12-30", "b"],
      ],
    })
    expect(read.columns.map(({ name }) => name)).toEqual(["column_1", "column_2", "column_3"])
    expect(read.warnings).toEqual([expect.stringContaining("header=true")])
    expect(await look("1;2\n3;4\n", { header: true })).toMatchObject({ rowCount: 1, columns: [{ name: "_1" }, {}] })
  })

  test("with years names columns, and leads to a question", async () => {
    const read = await look("land;2023;2024\nPeru;5;6\n")
    expect(read).toMatchObject({ rowCount: 1, columns: [{ name: "land" }, { name: "_2023" }, { name: "_2024" }] })
    expect(read.questions).toMatchObject([{ column: null, option: "header", choices: ["true", "false"] }])
    expect((await look("land;2023\nPeru;5\n", { header: true })).questions).toEqual([])
  })

  test("is data if the request says so", async () => {
    expect(await look("Ada;Rome\nBo;Paris\n", { header: false })).toMatchObject({
      rowCount: 2,
      columns: [{ name: "column_1" }, { name: "column_2" }],
      rows: [
        ["Ada", "Rome"],
        ["Bo", "Paris"],
      ],
      warnings: [],
    })
  })

  test.each(["sep=;\n", "\uFEFFsep=;\r\n", '"sep=;"\n'])("%j only sets the delimiter", async (first) => {
    const read = await look(`${first}a;b\n1,5;2\n`)
    expect(read).toMatchObject({ delimiter: ";", rowCount: 1, rows: [[1.5, 2]] })
    expect(read.columns.map(({ name }) => name)).toEqual(["a", "b"])
  })

  test("commas in numbers do not separate cells if semicolons do", async () => {
    expect(await look("1,5;2,5\n3,5;4,5\n")).toMatchObject({
      delimiter: ";",
      rows: [
        [1.5, 2.5],
        [3.5, 4.5],
      ],
    })
  })
})

test("the delimiter and the encoding of the request take precedence", async () => {
  expect(await look("a,b;c\n1,2;3\n", { delimiter: "comma" })).toMatchObject({ delimiter: ",", rows: [[1, "2;3"]] })
  writeFileSync(file, Buffer.from("\xc3\xee\xf0\xee\xe4,n\n\xcc\xee\xf1\xea\xe2\xe0,1\n", "latin1"))
  const job = {
    file,
    to: null,
    table: "t",
    isTabSeparated: false,
    options: { encoding: "windows-1251" } as const,
    limits: csvLimits,
  }
  expect(await runCsvJob(job)).toMatchObject({ preview: { rows: [["Москва", 1]], warnings: [] } })
  expect(await runCsvJob({ ...job, options: { encoding: "utf-8" } })).toMatchObject({ type: "refused" })
})

describe("what is written in a locale", () => {
  const locales = ["en-US", "de-DE", "fr-FR", "de-CH", "en-IN", "sv-SE", "pt-BR", "ru-RU"]

  test.each(locales)("%s adds up to the same when it is read back, or gets a warning", async (locale) => {
    const style = fc.constantFrom<Intl.NumberFormatOptions>(
      { minimumFractionDigits: 2, maximumFractionDigits: 2 },
      { maximumFractionDigits: 3 },
      { style: "currency", currency: "EUR" },
      { style: "percent", maximumFractionDigits: 1 },
      { maximumFractionDigits: 0 },
    )
    const cents = fc.array(fc.integer({ min: -99_999_999, max: 99_999_999 }), { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(cents, style, async (numbers, options) => {
        const format = new Intl.NumberFormat(locale, options)
        const isPercent = options.style === "percent"
        const parts = isPercent ? 1000 : options.maximumFractionDigits === 0 ? 1 : 100
        const written = numbers.map((number) => format.format(number / parts))
        const expected = numbers.reduce((sum, number) => sum + number, 0) / (isPercent ? 10 : parts)
        rmSync(made, { force: true })
        const { columns, warnings } = await look(column(written), {}, made)
        const db = new DatabaseSync(made, { readOnly: true })
        const { sum } = db.prepare("SELECT sum(x) AS sum FROM t").get() as { sum: number }
        db.close()
        if (columns[0]?.type === "TEXT") expect(warnings, written.join(" | ")).not.toEqual([])
        else expect(Math.abs(sum - expected), written.join(" | ")).toBeLessThan(0.0001)
      }),
      { numRuns: 25 },
    )
  })
})
