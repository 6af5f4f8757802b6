import type { UiChatRequest, UiMessage } from "../../protocol/dialects/ai-sdk.ts"
import type { ClientTool } from "../../protocol/conversation/client-tools.ts"
import { failure } from "../../protocol/errors.ts"
import { type ApprovalAnswer, decisionsIn, goesOnIn, type PageResult, pageResultsIn } from "./answered-parts.ts"
import { type AskedFile, readFilePart } from "./asked-file.ts"
import { readUiTools } from "./asked-tools.ts"
import type { GoesOnIn } from "./run-chunks.ts"

/** What a request asks for: to say something, or to go on with the answers to what waits. */
export type AskedChat = AskedWords | AskedAnswers

export interface AskedWords {
  readonly type: "words"
  /** The client's own name for them: the same name again is the same words. */
  readonly id: string
  readonly text: string
  readonly files: readonly AskedFile[]
  /** They are there already, and are to be answered once more. */
  readonly again: boolean
  /** What the client remembers of before, a line for each: never taken for something that was said here. */
  readonly before: readonly string[]
  /** Decisions that stand in the message before and may not have been sent. */
  readonly unsent: readonly ApprovalAnswer[]
  /** Results there that may not have been sent either: these come with the words. */
  readonly results: readonly PageResult[]
  /** The page's own. */
  readonly tools: readonly ClientTool[]
}

export interface AskedAnswers {
  readonly type: "answers"
  readonly decisions: readonly ApprovalAnswer[]
  readonly results: readonly PageResult[]
  /** The answer to a question goes on with the message that asked it. */
  readonly goesOnIn: GoesOnIn
}

export function readUiRequest({ messages, trigger, tools }: UiChatRequest): AskedChat {
  const last = messages.at(-1)!
  const at = `messages.${messages.length - 1}`
  const again = trigger === "regenerate-message"
  if (last.role === "assistant" && !again) return readAnswers(last, at)
  if (last.role !== "user") throw problem(`${at}: the last message is what is answered, and has the role user`)
  const earlier = messages.slice(0, -1)
  const previous = earlier.at(-1)
  return {
    ...{ type: "words", id: last.id, again, ...readWords(last, at) },
    before: earlier.flatMap(toLine),
    unsent: previous ? decisionsIn(previous) : [],
    results: previous?.role === "assistant" ? pageResultsIn(previous) : [],
    tools: readUiTools(tools ?? {}),
  }
}

function readAnswers(message: UiMessage, at: string): AskedAnswers {
  const [decisions, results] = [decisionsIn(message), pageResultsIn(message)]
  if (decisions.length + results.length === 0) throw problem(`${at}: it is the assistant's, and answers nothing`)
  return { type: "answers", decisions, results, goesOnIn: goesOnIn(message) }
}

function readWords({ parts }: UiMessage, at: string): Pick<AskedWords, "text" | "files"> {
  const files: AskedFile[] = []
  const texts: string[] = []
  for (const [index, part] of parts.entries()) {
    const field = `${at}.parts.${index}`
    if (part.type === "file") files.push(readFilePart(part, field))
    else if (part.type === "text" && typeof part.text === "string") texts.push(part.text)
    else throw problem(`${field}: "${part.type}" is not taken; say it in words or send a file`)
  }
  return { text: texts.join("\n"), files }
}

function toLine({ role, parts }: UiMessage): string[] {
  const text = parts.flatMap((part) => (part.type === "text" && typeof part.text === "string" ? [part.text] : []))
  return text.length > 0 ? [`${role}: ${text.join("\n")}`] : []
}

const problem = (text: string) => failure("bad_request", { problem: `${text}.` })
