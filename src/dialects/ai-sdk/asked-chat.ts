import type { UiChatRequest, UiMessage, UiPart } from "../../protocol/ai-sdk.ts"
import { failure } from "../../protocol/errors.ts"
import { isId, type ProposalId } from "../../protocol/ids.ts"
import { type AskedFile, readFilePart } from "./asked-file.ts"
import type { GoesOnIn } from "./run-chunks.ts"

/** What a request asks for: to say something, or to decide what was proposed. */
export type AskedChat = AskedWords | AskedDecisions

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
}

export interface AskedDecisions {
  readonly type: "decisions"
  readonly decisions: readonly ApprovalAnswer[]
  readonly goesOnIn: GoesOnIn
}

export interface ApprovalAnswer {
  readonly proposalId: ProposalId
  readonly approved: boolean
  readonly reason?: string
}

export function readUiRequest({ messages, trigger }: UiChatRequest): AskedChat {
  const last = messages.at(-1)!
  const at = `messages.${messages.length - 1}`
  const again = trigger === "regenerate-message"
  if (last.role === "assistant" && !again) return readDecisions(last, at)
  if (last.role !== "user") throw problem(`${at}: the last message is what is answered, and has the role user`)
  const earlier = messages.slice(0, -1)
  const previous = earlier.at(-1)
  return {
    ...{ type: "words", id: last.id, again, ...readWords(last, at) },
    before: earlier.flatMap(toLine),
    unsent: previous ? decisionsIn(previous) : [],
  }
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

/** The answer to a question goes on with the message that asked it. */
function readDecisions(message: UiMessage, at: string): AskedDecisions {
  const decisions = decisionsIn(message)
  if (decisions.length === 0) throw problem(`${at}: ${NOTHING_TO_DO}`)
  const calls = message.parts.flatMap(({ toolCallId }) => (typeof toolCallId === "string" ? [toolCallId] : []))
  const approvals = message.parts.flatMap((part) => approvalOf(part)?.id ?? [])
  return { type: "decisions", decisions, goesOnIn: { messageId: message.id, calls, approvals } }
}

const NOTHING_TO_DO =
  "it answers nothing that waits. Tools of the client are not called here: an agent has its own; to add some, see docs/packs.md"

function decisionsIn({ parts }: UiMessage): ApprovalAnswer[] {
  return parts.flatMap((part) => {
    const { id, approved, reason } = approvalOf(part) ?? {}
    if (part.state !== "approval-responded" || typeof approved !== "boolean") return []
    if (id === undefined || !isId("prop", id)) throw failure("not_found")
    return [{ proposalId: id, approved, ...(typeof reason === "string" && reason !== "" ? { reason } : {}) }]
  })
}

interface Approval {
  readonly id: string
  readonly approved?: unknown
  readonly reason?: unknown
}

function approvalOf({ approval }: UiPart): Approval | undefined {
  const { id, ...rest } = (typeof approval === "object" && approval !== null ? approval : {}) as Partial<Approval>
  return typeof id === "string" ? { id, ...rest } : undefined
}

function toLine({ role, parts }: UiMessage): string[] {
  const text = parts.flatMap((part) => (part.type === "text" && typeof part.text === "string" ? [part.text] : []))
  return text.length > 0 ? [`${role}: ${text.join("\n")}`] : []
}

const problem = (text: string) => failure("bad_request", { problem: `${text}.` })
