import type { Frame, UnknownFrame } from "../../protocol/frames.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { PawlBeside } from "../../protocol/dialects/openai.ts"
import { RunReader } from "../openai/run-reader.ts"

/** Told on the way: enough for a person to see that something goes on, and never more than a listener could hold. */
const MAX_PROGRESS = 200

/** A run as the answer of one tool: the replies of all its steps, and what is told while it goes on. */
export class AskAnswer {
  readonly #reader: RunReader
  readonly #replies: string[] = []
  #failed: { readonly code: string; readonly message: string } | undefined
  #begun = false
  #over = false
  #told = 0

  constructor(conversation: ConversationId) {
    this.#reader = new RunReader(conversation)
  }

  /** What to tell of a frame as progress, in a few words; mostly nothing. */
  read(frame: Frame | UnknownFrame): string | undefined {
    for (const piece of this.#reader.read(frame)) {
      if (piece.type === "began") this.#begun = true
      if (piece.type === "reply" || piece.type === "waits") this.#replies.push(piece.text)
      if (piece.type === "failed") this.#failed = piece.error
      if (piece.type === "failed" || piece.type === "ended") this.#over = true
    }
    const progress = toProgress(frame as Frame)
    return progress === undefined || ++this.#told > MAX_PROGRESS ? undefined : progress
  }

  /** Its run is known. */
  get hasBegun(): boolean {
    return this.#begun
  }

  get isOver(): boolean {
    return this.#over
  }

  get failed(): { readonly code: string; readonly message: string } | undefined {
    return this.#failed
  }

  /** Replies of one run stand apart. */
  get text(): string {
    return this.#replies.join("\n\n")
  }

  get beside(): PawlBeside {
    return this.#reader.beside
  }
}

function toProgress(frame: Frame): string | undefined {
  switch (frame.type) {
    case "run_started":
      return "Working on it."
    case "step":
      return `Step: ${frame.data.step}.`
    case "tool_start":
      return `Uses ${frame.data.name}.`
    case "awaiting_confirmation":
      return "Waits for a decision."
    case "restarted":
      return "The reply begins again."
    default:
      return undefined
  }
}
