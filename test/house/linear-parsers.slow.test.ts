import { expect, test } from "vitest"
import { codeFor } from "../../core/models/providers/errors/error-phrases.ts"
import { retryAfter } from "../../core/models/network/retry-after.ts"
import { scrubSecrets } from "../../core/models/providers/errors/scrub-secrets.ts"
import { textWindows } from "../../core/shared/vectors/text-windows.ts"
import { cite } from "../../packs/research/citations/cite.ts"
import { findQuote, fold } from "../../packs/research/citations/find-quote.ts"
import { formatSql } from "../../client/format-sql.ts"
import { protectMath } from "../../client/protect-math.ts"
import { readingCost } from "../../client/reading-cost.ts"
import { EventParser } from "../../client/stream/sse-parser.ts"
import { titleOf } from "../../core/protocol/conversation/message.ts"
import { escapeHidden } from "../../core/shared/text/hidden-characters.ts"
import { showHidden } from "../../core/shared/text/show-hidden.ts"
import { parseCursor } from "../../core/protocol/cursor.ts"
import { MAX_SQL } from "../../core/protocol/databases/connections.ts"
import { columnNames, tableName } from "../../packs/analyst/csv/columns.ts"
import { readChartText } from "../../packs/analyst/charts/text.ts"
import { retellResult } from "../../labs/offline-model/retell-result.ts"
import { sqlInReply } from "../../packs/analyst/tools/sql-in-reply.ts"
import { isGenerated, isMoving, valueSources } from "../../packs/analyst/sqlite/sources.ts"
import { problemOfStatement, statementsOf } from "../../packs/analyst/sqlite/statement.ts"
import { readIgnoreRules } from "../../packs/files/folder/ignore-rules.ts"
import { quotePassages } from "../../labs/offline-model/quote-passages.ts"
import { addsUnnamed, headOf, lowercaseWords } from "../../packs/workspace/routing/words.ts"
import { boundedBlocks, toProse } from "../../apps/web/markdown/split-blocks.ts"
import { growthOf, takesLess } from "../support/worked.ts"
import { isLong, oneIn } from "../support/sizes.ts"
import { repeated } from "../support/slow-texts.ts"

const MILLION = 1_000_000
const NOTHING_SAID = { status: 400, message: "", headers: {}, retriable: false, network: false, permanent: false }

/** The functions that parse external text on the main thread, and the maximal length of that text. */
const PARSERS: Readonly<Record<string, { readonly most: number; readonly read: (text: string) => unknown }>> = {
  "citations of a reply": { most: MILLION, read: (text) => cite(text, sources) },
  "a quote in a passage": { most: 100_000, read: (text) => findQuote(fold(`words ${text}`), text.slice(0, 1000)) },
  "formulas of a reply": { most: MILLION, read: (text) => protectMath(text, true) },
  "blocks of a reply": { most: MILLION, read: (text) => boundedBlocks(text, true) },
  "the cost of a reply": { most: MILLION, read: readingCost },
  "a chart in a reply": { most: MILLION, read: readChartText },
  "a statement in a reply": { most: MILLION, read: sqlInReply },
  "a result in words": { most: 100_000, read: retellResult },
  "a preview of a passage": { most: MILLION, read: toProse },
  "a title of a conversation": { most: MILLION, read: titleOf },
  "hidden characters": { most: MILLION, read: (text) => [escapeHidden(text), showHidden(text)] },
  "a stream of events": { most: MILLION, read: (text) => inPieces(text) },
  "an error of a provider": { most: 100_000, read: (text) => codeFor({ ...NOTHING_SAID, code: text, text }) },
  "when to try again": {
    most: 100_000,
    read: (text) => retryAfter({ "retry-after": text, "x-ratelimit-reset": text }, 0),
  },
  "secrets in an error": { most: MILLION, read: (text) => scrubSecrets(text, ["sk-abcdefghijklmnopqrstuvwxyz"]) },
  "windows of a text": { most: MILLION, read: (text) => textWindows(text, { tokens: 256, most: 100 }) },
  "a cursor": { most: 100_000, read: parseCursor },
  // Longer SQL is shown unformatted.
  "SQL to look at": { most: 20_000, read: formatSql },
  "SQL of SQLite": { most: MAX_SQL, read: (text) => [problemOfStatement(text), statementsOf(text)] },
  "what SQL of SQLite writes": { most: MAX_SQL, read: (text) => valueSources(`INSERT INTO a VALUES (${text}`) },
  "an expression of SQLite": { most: MAX_SQL, read: (text) => [isGenerated(text), isMoving(text)] },
  "names of columns": { most: 100_000, read: (text) => [columnNames([text, text], 2), tableName(text)] },
  "rules of what to ignore": { most: 100_000, read: readIgnoreRules },
  "passages that are quoted": { most: 100_000, read: (text) => quotePassages(text, "what is it") },
  "words that choose tools": { most: 100_000, read: (text) => [lowercaseWords(text), headOf(text), addsUnnamed(text)] },
}

const sources = new Map([["psg_1", { id: "psg_1", title: "A title", passage: "words ".repeat(1000) }]])

function inPieces(text: string): void {
  const parser = new EventParser()
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += 1000) parser.push(bytes.subarray(at, at + 1000))
}

/** Every sign that opens, closes or divides a construct, and near misses. */
const PIECES = [
  ...[..."[](){}<>*_`~'\"|\\/,;:.!?@#$%^&=+- \t\r\n0aé\u0000\u200b\u{1f44b}“”"],
  ...[
    "[\r",
    "[^[",
    "[a",
    "a]",
    "[psg_1",
    "[psg_1] ",
    "[psg_1] \r",
    '"a ',
    "“a ",
    "> a\n",
    ">> ",
    "\n\n",
    "\r\n",
    "```",
    "```\n",
    "~~~\n",
  ],
  ...[
    "`a``",
    "a b ",
    "a, ",
    "a. A",
    "— a",
    "-- ",
    "/*",
    "*/",
    "/* ",
    "--\n",
    "''",
    "' ",
    '""',
    "$a$",
    "$$",
    "((",
    "()",
    "(a,",
  ],
  ...[
    "date(",
    "'now ",
    "excluded.[",
    "select ",
    "with a as (",
    "; ",
    ";\n\n",
    "case when ",
    "data: a\n",
    "data:",
    "id: 1\n\n",
  ],
  ...[
    "eyJ0123456789",
    "eyJ-",
    "sk-abcdefgh",
    "Bearer ",
    "password=",
    "//a:b",
    "token = ",
    "quota ",
    "exceeded your current quota ",
  ],
  ...[
    "| a ",
    "| a |\n",
    '{"a":',
    "[[",
    "{{",
    "!a\n",
    "**/",
    "a/",
    "\\ ",
    "1.",
    "-1",
    "1,",
    "The first 1 of 1 row(s);",
    "\u200d",
    "and ",
  ],
]

/** Milliseconds of processor time that are fine for the longest text. */
const CEILING = 4000
/** For four times the length linear work takes four times as long, quadratic work sixteen times. */
const MOST_GROWTH = 8

/**
 * From short to long, each compared with a quarter of it, so that an endless one is reported and not waited for. Only
 * the long run reads all pieces up to the longest; the usual one reads a sixth of them at a sixteenth of the length,
 * chosen by the seed, and half of those four times as long.
 */
const lengthsOf = (piece: string): readonly number[] =>
  isLong ? [1 / 16, 1 / 4, 1] : LONGER.has(piece) ? [1 / 16, 1 / 4] : [1 / 16]
const LONGER = new Set(oneIn(12, PIECES)) // each of them is in the sixth

test.each(Object.entries(PARSERS))(
  "%s: a text four times as long takes about four times as long to read, up to the maximal length",
  async (_, { most, read }) => {
    const slow: string[] = []
    for (const piece of oneIn(6, PIECES)) {
      for (const part of lengthsOf(piece)) {
        const [quarter, whole] = [part / 4, part].map((part) => repeated(piece, Math.floor(most * part)))
        // Even quadratic growth would stay below the ceiling. The long run measures all of them.
        if (await takesLess(CEILING * part ** 2, () => read(whole!))) {
          if (isLong) continue
          break
        }
        // It has run three times by now, so nothing is compiled any more.
        const least = isLong ? 3 : 1
        const growth = await growthOf({
          small: () => read(quarter!),
          large: () => read(whole!),
          ...{ most: MOST_GROWTH, least },
        })
        if (growth <= MOST_GROWTH) continue
        slow.push(`${JSON.stringify(piece)} × ${whole!.length}: ${growth.toFixed(1)} times its quarter`)
        break
      }
    }
    expect(slow).toEqual([])
  },
  600_000,
)
