import { Lanes } from "../../agent/lanes.ts"
import type { Log } from "../../agent/ports.ts"
import { besideModule } from "../../children/beside-module.ts"
import { type Child, ChildDied } from "../../children/child.ts"
import { ChildProgram } from "../../children/child-program.ts"
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
/** Of memory beyond what the process has when it is ready; of that, so much is JavaScript's as the limits say. */
const MEGABYTES = 1150
const BROKEN = "reading it took too much memory, or broke the reader"
const CHILDREN = 2

/** Reads PDFs, each in a process of its own that is ended when it takes too long, too much memory or answers too much. */
export class PdfReader {
  readonly #lanes = new Lanes(CHILDREN)
  readonly #limits: PdfLimits
  readonly #program: ChildProgram

  constructor({ log, ...given }: Partial<PdfLimits> & { readonly log?: Log } = {}) {
    const limits = { ...LIMITS, ...given }
    this.#limits = limits
    const flags = [`--max-old-space-size=${limits.heapMegabytes}`]
    const script = besideModule(import.meta.url, "pdf-child")
    this.#program = new ChildProgram({ script, flags, megabytes: MEGABYTES, pipes: true, log })
  }

  /** Throws `document_unreadable`. */
  async read(bytes: Uint8Array, signal: AbortSignal): Promise<ReadText> {
    const answer = await this.#lanes.run(() => this.#ask(bytes, signal))
    if ("problem" in answer) throw unreadable(answer.problem)
    return toText(answer)
  }

  async #ask(bytes: Uint8Array, signal: AbortSignal): Promise<PdfText> {
    const { seconds, answerBytes } = this.#limits
    const timeUp = AbortSignal.timeout(seconds * 1000)
    let child: Child | undefined
    try {
      const over = AbortSignal.any([signal, timeUp])
      child = await this.#program.start({ signal: over })
      return await answerOf(child, bytes, { over, answerBytes })
    } catch (error) {
      signal.throwIfAborted()
      if (timeUp.aborted) return { problem: `it took longer than ${seconds} s` }
      if (error instanceof ChildDied) return { problem: "the process that reads PDFs did not start" }
      throw error
    } finally {
      await child?.end()
    }
  }
}

/** What a process says about the document that it is given. */
async function answerOf(
  { process: { stdin, stdout }, ended }: Child,
  bytes: Uint8Array,
  { over, answerBytes }: { readonly over: AbortSignal; readonly answerBytes: number },
): Promise<PdfText> {
  stdin?.on("error", () => {}) // it ended before it had read all: it says why, or its exit does
  stdin?.end(bytes)
  const chunks: Buffer[] = []
  let size = 0
  const told = async () => {
    for await (const chunk of stdout ?? []) {
      size += (chunk as Buffer).length
      if (size > answerBytes) return { problem: "it holds more text than can be taken" }
      chunks.push(chunk as Buffer)
    }
    await ended
    return parse(Buffer.concat(chunks).toString()) ?? { problem: BROKEN }
  }
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(over.reason)
  over.addEventListener("abort", stop, { once: true })
  if (over.aborted) stop()
  return Promise.race([told(), promise]).finally(() => over.removeEventListener("abort", stop))
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
