import { isPaperDate } from "../../core/program.ts"
import { refuseMany, type Section } from "./passages/cut-passages.ts"
import { isPlausibleTitle } from "./passages/plausible-about.ts"
import type { ReadText } from "./passages/read-plain.ts"
import { splitNames } from "./passages/split-names.ts"

interface Open {
  readonly level: number
  readonly text: string
}

/** The text of a Markdown file, unchanged, with its headings. Lines in a code fence are not headings. */
export function readMarkdown(text: string): ReadText {
  const front = frontMatter(text)
  const sections: Section[] = []
  let open: readonly Open[] = []
  let start = front.end
  let fence: string | undefined
  const close = (end: number) => {
    refuseMany(sections)
    if (text.slice(start, end).trim() !== "") sections.push({ headings: open.map((each) => each.text), start, end })
    start = end
  }
  for (let at = front.end; at < text.length;) {
    const newline = text.indexOf("\n", at)
    const end = newline === -1 ? text.length : newline
    const line = text.slice(at, Math.min(end, at + 1000))
    const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined
    } else if (mark) fence = mark
    else {
      const heading = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/.exec(line)
      if (heading) {
        close(at)
        const level = heading[1]!.length
        const title = withoutMarks(heading[2]!).slice(0, 200).toWellFormed()
        open = [...open.filter((each) => each.level < level), { level, text: title }]
      }
    }
    at = end + 1
  }
  close(text.length)
  const first = sections.flatMap(({ headings }) => headings[0] ?? [])[0]
  const title = front.title !== undefined && isPlausibleTitle(front.title) ? front.title : first
  return { text, sections, ...front.fields, ...(title ? { title } : {}) }
}

/** Removes marks after a heading. Written by hand, because a regular expression would take quadratic time. */
function withoutMarks(line: string): string {
  const text = line.trimEnd()
  let end = text.length
  while (text[end - 1] === "#") end--
  return text.slice(0, end).trimEnd()
}

/** Reads the front matter between `---`: a title, authors and a date. */
function frontMatter(text: string): { end: number; title?: string; fields: Pick<ReadText, "authors" | "date"> } {
  const block = /^---\n([\s\S]{0,10000}?)\n---(?:\n|$)/.exec(text)
  if (!block) return { end: 0, fields: {} }
  const value = (name: string) => {
    const line = new RegExp(`^${name}:[ \\t]*(.+)$`, "m").exec(block[1]!)?.[1]
    return line?.trim().replace(/^(["'])(.*)\1$/, "$2")
  }
  const [title, author, date] = [value("title"), value("authors?"), value("date")?.slice(0, 10)]
  return {
    end: block[0].length,
    ...(title ? { title: title.slice(0, 500) } : {}),
    fields: {
      ...(author ? { authors: splitNames(author.replaceAll(/^\[|\]$/g, ""), /,/).slice(0, 200) } : {}),
      ...(date && isPaperDate(date) ? { date } : {}),
    },
  }
}
