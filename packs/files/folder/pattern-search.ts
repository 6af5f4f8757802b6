import { JobThread, Semaphore, siblingScript } from "../../../core/pack.ts"
import { fileRefusal } from "./folder.ts"
import type { PatternAnswer, PatternJob } from "./search-thread.ts"

type Asked = Pick<PatternJob, "pattern" | "isRegex" | "ignoreCase">

export interface FoundLine {
  readonly path: string
  readonly line: number
  readonly words: string
}

/** The time limit for one batch of texts. */
const TIME_LIMIT_MS = 10_000
const MAX_TURN = 512 * 1024
/** Each search has a thread, so that a slow one does not delay the others. */
const threads = new Semaphore(4)

/**
 * Searches texts with a model's pattern, in a thread with a time limit, because a bad pattern takes minutes for one
 * file. Texts are sent in batches, because each round trip costs a message in both directions.
 */
export class PatternSearch implements AsyncDisposable {
  readonly #asked: Asked
  readonly #maxLines: number
  readonly #thread = new JobThread<PatternJob, PatternAnswer>({
    script: siblingScript(import.meta.url, "search-thread"),
    timeLimitMs: TIME_LIMIT_MS,
  })
  readonly #release: () => void
  #waiting: { readonly path: string; readonly text: string }[] = []
  #characters = 0

  private constructor(asked: Asked, maxLines: number, release: () => void) {
    this.#asked = asked
    this.#maxLines = maxLines
    this.#release = release
  }

  /** Throws a refusal if the pattern is invalid. */
  static async open(asked: Asked, maxLines: number): Promise<PatternSearch> {
    const search = new PatternSearch(asked, maxLines, await threads.take())
    try {
      await search.#send([])
      return search
    } catch (error) {
      await search[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Adds a text. Returns the found lines if a batch was full and was searched. */
  add(path: string, text: string): Promise<readonly FoundLine[]> | undefined {
    this.#waiting.push({ path, text })
    this.#characters += text.length
    return this.#characters < MAX_TURN ? undefined : this.rest()
  }

  /** Searches the remaining texts. */
  async rest(): Promise<readonly FoundLine[]> {
    const texts = this.#waiting
    this.#waiting = []
    this.#characters = 0
    const found = texts.length === 0 ? [] : await this.#send(texts.map(({ text }) => text))
    return found.map(([at, line, words]) => ({ path: texts[at]!.path, line, words }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread.close()
    this.#release()
  }

  async #send(texts: readonly string[]) {
    const onTimeout = (): never => {
      throw fileRefusal("The pattern takes too long. Use a simpler one, or leave `regex` out to search for plain text")
    }
    const answer = await this.#thread.run({ ...this.#asked, texts, maxLines: this.#maxLines }).catch(onTimeout)
    if ("found" in answer) return answer.found
    throw fileRefusal(
      `The pattern is not a valid RE2 regular expression: ${answer.problem}. Leave \`regex\` out to search for plain text`,
    )
  }
}
