import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { Lanes } from "../../agent/lanes.ts"
import { failure } from "../../protocol/errors.ts"
import { PaperDate } from "../../protocol/library.ts"
import { mendText } from "../../protocol/text.ts"
import type { Section } from "./cut-passages.ts"
import type { ReadText } from "./read-plain.ts"
import { splitNames } from "./split-names.ts"

/** What the child answers. */
export type PdfText =
  | {
      readonly pages: readonly string[]
      readonly title?: string
      readonly author?: string
      readonly creationdate?: string
    }
  | { readonly problem: string }

export interface PdfLimits {
  readonly seconds: number
  readonly heapMegabytes: number
  readonly answerBytes: number
}
const LIMITS: PdfLimits = { seconds: 60, heapMegabytes: 512, answerBytes: 32 * 1024 * 1024 }
/** Of memory a process may write to. Node sets 300 MB of it aside from the start. */
const DATA_KILOBYTES = 1_500_000
const CHILDREN = 2

/** Reads PDFs, each in a process of its own that is ended when it takes too long, too much memory or answers too much. */
export class PdfReader {
  readonly #lanes = new Lanes(CHILDREN)
  readonly #limits: PdfLimits

  constructor(limits: PdfLimits = LIMITS) {
    this.#limits = limits
  }

  /** Throws `document_unreadable`. */
  async read(bytes: Uint8Array, signal: AbortSignal): Promise<ReadText> {
    const answer = await this.#lanes.run(() => this.#ask(bytes, signal))
    if ("problem" in answer) throw unreadable(answer.problem)
    return toText(answer)
  }

  async #ask(bytes: Uint8Array, signal: AbortSignal): Promise<PdfText> {
    signal.throwIfAborted()
    const { seconds, heapMegabytes, answerBytes } = this.#limits
    // Beside this file, in the checkout and in a bundle alike, with the same ending.
    const ending = import.meta.url.slice(import.meta.url.lastIndexOf("."))
    const script = fileURLToPath(new URL(`./pdf-child${ending}`, import.meta.url))
    // It may read what it is made of; it may write nothing and start nothing.
    const walls = ["--permission", "--allow-fs-read=*", "--no-warnings"]
    const words = [process.execPath, `--max-old-space-size=${heapMegabytes}`, ...walls, script]
    // Nothing of what this process was told: no key, no address.
    const child = spawn(...limited(words), { env: {}, stdio: ["pipe", "pipe", "ignore"] })
    const exit = once(child, "exit")
    exit.catch(() => {})
    let problem: string | undefined
    const end = (why: string) => {
      problem ??= why
      child.kill("SIGKILL")
    }
    const stop = () => end("it was given up")
    signal.addEventListener("abort", stop, { once: true })
    const timer = setTimeout(() => end(`it took longer than ${seconds} s`), seconds * 1000)
    try {
      child.on("error", () => end("the process that reads PDFs did not start"))
      child.stdin.on("error", () => {}) // it ended before it had read all: it says why, or its exit does
      child.stdin.end(bytes)
      const chunks: Buffer[] = []
      let size = 0
      child.stdout.on("data", (chunk: Buffer) => {
        size += chunk.length
        if (size > answerBytes) end("it holds more text than can be taken")
        else chunks.push(chunk)
      })
      await Promise.race([once(child.stdout, "close"), exit])
      await exit
      signal.throwIfAborted()
      if (problem !== undefined) return { problem }
      return (
        parse(Buffer.concat(chunks).toString()) ?? { problem: "reading it took too much memory, or broke the reader" }
      )
    } finally {
      clearTimeout(timer)
      signal.removeEventListener("abort", stop)
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL")
    }
  }
}

function limited(words: readonly string[]): [command: string, words: string[]] {
  if (process.platform === "win32") return [words[0] ?? "", words.slice(1)]
  return ["/bin/sh", ["-c", `ulimit -d ${DATA_KILOBYTES}; exec "$0" "$@"`, ...words]]
}

function parse(text: string): PdfText | undefined {
  try {
    return JSON.parse(text) as PdfText
  } catch {
    return undefined
  }
}

/** A page is a section: whoever quotes a passage can say on which page it stands. */
function toText({ pages, title, author, creationdate }: Extract<PdfText, { pages: unknown }>): ReadText {
  const sections: Section[] = []
  let text = ""
  for (const [index, page] of pages.entries()) {
    const start = text.length
    text += `${mendText(page).trim()}\n\n`
    if (text.length > start + 2) sections.push({ headings: [`page ${index + 1}`], start, end: text.length })
  }
  const [, year, month, day] = /^D:(\d{4})(\d\d)?(\d\d)?/.exec(creationdate ?? "") ?? []
  const date = [year, month, day].filter((part) => part !== undefined).join("-")
  return {
    text,
    sections,
    ...(title?.trim() ? { title: mendText(title.trim()).slice(0, 500).toWellFormed() } : {}),
    ...(author?.trim() ? { authors: splitNames(mendText(author), /[;,]/).slice(0, 200) } : {}),
    ...(PaperDate.safeParse(date).success ? { date } : {}),
  }
}

const unreadable = (problem: string) => failure("document_unreadable", { problem })
