import type { Question, SettledQuestion } from "../../protocol/conversation/questions.ts"
import type { ReportedProgress } from "../../protocol/conversation/tool-calls.ts"
import type { CallId, ConnectionId, ConversationId, UserId } from "../../protocol/ids.ts"
import type { ActionClass, Diff, InverseCall } from "../../protocol/proposals/proposal.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import type { Site } from "../devices.ts"
import type { Model, ToolDeclaration } from "../model.ts"
import { type Schema, toJsonSchema } from "./schema.ts"

/** A registered symbol, so that two copies of this program in one process recognize each other's answers. */
const MADE_HERE: unique symbol = Symbol.for("pawl.answer")

/** A tool's answer, created by `answer` or `failed`. An answer with status `error` tells the model what to do next. */
export interface Answer {
  /**
   * JSON cannot contain this symbol. A value that a tool only passes on is therefore never treated as an answer, which
   * could change the state.
   */
  readonly [MADE_HERE]: true
  readonly status: "ok" | "error"
  /** The text that the model sees. */
  readonly text: string
  /** For programs and views. The model does not see it. */
  readonly data?: unknown
  /** Merged into the conversation's state and recorded with the result. */
  readonly state?: Readonly<Record<string, unknown>>
  /** Content of this answer in addition to the `taint` of its tool. `folder`: text of an untrusted work folder. */
  readonly taint?: "private" | "untrusted" | "folder"
  /** For a write: the actual values before and after, for the audit log. Default: the diff of the proposal. */
  readonly change?: Diff
}

type Extra = Pick<Answer, "data" | "state" | "change" | "taint">

export const answer = (text: string, extra: Extra = {}): Answer => ({
  [MADE_HERE]: true,
  status: "ok",
  text,
  ...extra,
})
export const failed = (text: string, extra: Extra = {}): Answer => ({
  [MADE_HERE]: true,
  status: "error",
  text,
  ...extra,
})

/** Tools are third-party code, so their types are not guaranteed at run time. */
export function isAnswer(value: unknown): value is Answer {
  if (typeof value !== "object" || value === null) return false
  const { status, text, [MADE_HERE]: made } = value as Partial<Record<keyof Answer, unknown>>
  return made === true && typeof text === "string" && (status === "ok" || status === "error")
}

/** The context that a tool receives with each call. */
export interface CallContext {
  readonly user: UserId
  readonly conversation: ConversationId
  /** Unique. A target that stores it can refuse to apply the same call twice. */
  readonly callId: CallId
  readonly signal: AbortSignal
  /** The location of the conversation's tools, for tools that can run on the server or on a device. */
  readonly site: Site
  readonly deviceId: string | null
  /** The database of the conversation, if one is selected. */
  readonly connectionId: ConnectionId | null
  readonly now: number
  /** The user's time zone, for words such as "today". The same for a preview and its write. */
  readonly timeZone: string
  /**
   * When the model made the call, in milliseconds. Relative dates such as "tomorrow" count from here, because the
   * approval can come after midnight.
   */
  readonly calledAt: number
  /** The target and revision from the approved preview. The write must apply to the same target. */
  readonly approved?: Pick<Preview, "target" | "revision">
  /** The other writes of the same reply. A preview takes those before it into account. */
  readonly siblings?: readonly SiblingCall[] | undefined
  /** The conversation's state, to which tools add with `state` in their answers. */
  readonly state: Readonly<Record<string, unknown>>
  /**
   * Set if the conversation has read untrusted content, or files of an untrusted folder. A tool that stores text must
   * store the mark with it.
   */
  readonly taint?: "untrusted" | "folder" | undefined
  /**
   * Marks the result as untrusted. Call it after reading stored text with that mark. `folder`: text from a folder that
   * the user has not trusted.
   */
  noteTaint?(taint: "untrusted" | "folder"): void
  /** Reports progress for live display. Progress is not stored and does not extend the timeout. */
  progress?(progress: ReportedProgress): void
  /** Returns the conversation's model for use in this call. Its cost counts like that of any model call. */
  model(): Promise<Model>
  /** For calls that wait for others. Undefined if nothing could resume the call: on a device and in a preview. */
  readonly lasting?: LastingCall | undefined
}

/** Another write that the model requested in the same reply. */
export interface SiblingCall {
  readonly tool: string
  /** As the model or a person wrote it; not validated. */
  readonly input: Readonly<Record<string, unknown>>
  /** True if it comes before this write in the reply. */
  readonly isBefore: boolean
  /**
   * `applied`: applied since this write was proposed. `over`: it will not be applied, was applied earlier, or is in
   * doubt.
   */
  readonly state: "planned" | "applied" | "over"
}

/** The effect that a write would have, read from its target before a person is asked. */
export interface Preview {
  readonly summary: string
  /** A heading for the diff: the summary without the details that the diff shows. Default: the summary. */
  readonly title?: string
  readonly action: ActionClass
  readonly diff?: Diff
  /**
   * The object that would change, and its current revision. If the revision differs when the write runs, the proposal
   * is stale.
   */
  readonly target?: string
  readonly revision?: string
  /** Always asks a person, in any mode and despite any grant. Use it for changes to the rules themselves. */
  readonly insists?: boolean
  /**
   * The command line, if the write runs a command. An approval for later calls then covers only this command line, or a
   * stated prefix.
   */
  readonly commandLine?: string
  /** For an approved write: why it cannot run. It depends on another write of the reply that was not applied. */
  readonly unmet?: string
}

/** A target's report about an interrupted call: its answer, that it never arrived, or that this is unknown. */
export type WriteOutcome = Answer | "not-applied" | "unknown"

interface Common<Input> {
  readonly name: string
  readonly description: string
  readonly input: Schema<Input>
  /** Increase it when the meaning of the arguments changes. An approval is valid for one version. */
  readonly version?: number
  readonly timeoutSeconds?: number
  /** The most characters of the answer that the model sees. Longer text is truncated, with a notice. */
  readonly maxOutput?: number
  /** Possible content of answers: third-party text such as web pages (`untrusted`), the user's own data (`private`), or `both`. */
  readonly taint?: "untrusted" | "private" | "both"
  /** The tool sends its arguments to a third party, for example as the address of a request. */
  readonly egress?: true
  /**
   * The tool changes only the work folder and sends nothing out. Text from that folder alone then does not require
   * approval.
   */
  readonly staysIn?: "folder"
  /**
   * Set if the tool works on the conversation's device when there is one. Its `run` sends the call there itself; the engine
   * only allows more time.
   */
  readonly onSite?: "workspace" | "files"
  /** Requests that this tool serves. Clients offer them as suggestions. */
  readonly examples?: readonly string[]
  run(input: Input, context: CallContext): Promise<Answer> | Answer
}

export interface ReadTool<Input> extends Common<Input> {
  readonly effect: "read"
  /**
   * The treatment of a read that a crash interrupted. Almost always `run-again`; use `in-doubt` if the call costs money.
   */
  readonly afterCrash: "run-again" | "in-doubt"
  /** How many seconds the answer may be reused in other runs of the same user. */
  readonly cacheSeconds?: number
  /** Describes what a call would send, for the person who approves it. It must not read or change anything. */
  sending?(input: Input): string
}

interface WriteCommon<Input> extends Common<Input> {
  readonly effect: "write"
  /**
   * Returns what the person sees before the decision. Without it, they see the arguments, and the action counts as
   * destructive.
   */
  preview?(input: Input, context: CallContext): Promise<Preview> | Preview
  /**
   * Returns the call that undoes an applied write; false if nothing can undo it. It is computed once, when the write is
   * applied.
   */
  readonly inverse: false | ((input: Input, answer: Answer) => InverseCall)
  /** The tool exists for undo only: it is hidden from the model, and calls by the model are refused. */
  readonly onlyUndoes?: true
}

interface RetriableWriteTool<Input> extends WriteCommon<Input> {
  /** `run-again`: the target applies a call id at most once. `in-doubt`: a person decides. */
  readonly afterCrash: "run-again" | "in-doubt"
}

export interface AskableWriteTool<Input> extends WriteCommon<Input> {
  /** The target can report whether a call was applied. */
  readonly afterCrash: "ask-target"
  outcome(callId: CallId, input: Input, context: CallContext): Promise<WriteOutcome> | WriteOutcome
  /**
   * Prevents a call that was not applied from being applied later, even by a delayed request. "not-applied" is then
   * final.
   */
  bar?(callId: CallId, input: Input, context: CallContext): Promise<WriteOutcome> | WriteOutcome
}

type ToolDefinition<Input> = ReadTool<Input> | RetriableWriteTool<Input> | AskableWriteTool<Input>

/** A tool in the registry. Its input type is erased; its own schema validates the input before `run`. */
// oxlint-disable-next-line typescript/no-explicit-any -- tools of all input types are in one registry
export type Tool = ToolDefinition<any> & { readonly declaration: ToolDeclaration }

const NAME = /^[a-z][a-z0-9_]{0,63}$/

/**
 * Checks a tool where it is defined. Throws a `TypeError` if it is invalid. Its input schema is converted, and so
 * checked, by the published `defineTool`, and here at the first use: converting one takes a millisecond.
 */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { name, description } = definition
  if (!NAME.test(name)) {
    throw new TypeError(
      `Tool name "${name}" must be snake_case: a letter, then up to 63 letters, digits and underscores.`,
    )
  }
  if (!description.trim()) throw new TypeError(`Tool "${name}" needs a description: it is all the model knows of it.`)
  const declaration = {
    ...{ name, description },
    get inputSchema() {
      return toJsonSchema(name, definition.input)
    },
  }
  return { ...definition, declaration }
}

/** For a call that waits for another party, possibly longer than its process runs. */
export interface LastingCall {
  /** The state that was stored for the call last, possibly by a previous process. */
  readonly kept: JsonObject | undefined
  /**
   * Stores state of the call in the journal. A crash after that leaves the call neither in doubt nor interrupted: the tool
   * runs again with this state, and must continue the work that it started.
   */
  keep(what: JsonObject): Promise<void>
  /** Waits for others. Meanwhile neither the time limit of the call nor that of its run counts. */
  wait<T>(work: () => Promise<T>): Promise<T>
  /**
   * Asks the user a question and waits some minutes for the first answer. Undefined if no client can answer, if the call
   * has asked too often, and while a question is open.
   */
  readonly ask: ((question: ToolQuestion) => Promise<SettledQuestion>) | undefined
  /**
   * Asks the user a question that waits as long as a proposal, also for another process: the call runs again there, and
   * must ask the same questions with the same numbers, from 0.
   */
  askFor(number: number, question: ToolQuestion): Promise<SettledQuestion>
}

export type ToolQuestion = Omit<Question, "id" | "callId" | "expiresAt" | "number">

/** The step that records the state which a call stored for its next attempt. */
export const STORED_STATE = "kept"
