import type { InverseCall } from "../../protocol/proposals/audit.ts"
import type { CallId, ConnectionId, ConversationId, UserId } from "../../protocol/ids.ts"
import type { ActionClass, Diff } from "../../protocol/proposals/proposal.ts"
import type { ToldProgress } from "../../protocol/conversation/call-progress.ts"
import type { Site } from "../devices.ts"
import type { Model, ToolDeclaration } from "../model.ts"
import type { Phrase } from "./phrases.ts"
import type { LastingCall } from "./lasting.ts"
import { type Schema, toJsonSchema } from "./schema.ts"

/** In the registry of symbols, so that two copies of this program in one process know each other's answers. */
const MADE_HERE: unique symbol = Symbol.for("pawl.answer")

/** What a tool answers, as `answer` or `failed` makes it. An `error` is an answer too: it tells the model what to do next. */
export interface Answer {
  /** No JSON has it, so nothing that a tool merely passes on is taken for an answer: that could write the state. */
  readonly [MADE_HERE]: true
  readonly status: "ok" | "error"
  /** What the model is told. */
  readonly text: string
  /** For programs and views; never shown to the model. */
  readonly data?: unknown
  /** Merged into the conversation's state, journaled with the result. */
  readonly state?: Readonly<Record<string, unknown>>
  /** What this answer holds beyond what its tool always brings; it adds to that and takes nothing away. */
  readonly brings?: "private" | "outside"
  /** Of a write: what really was there before and after, for the audit. Without it the proposal's diff stands there. */
  readonly change?: Diff
}

type Extra = Pick<Answer, "data" | "state" | "change" | "brings">

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

/** Tools are other people's code: their types are a promise, not a proof. */
export function isAnswer(value: unknown): value is Answer {
  if (typeof value !== "object" || value === null) return false
  const { status, text, [MADE_HERE]: made } = value as Partial<Record<keyof Answer, unknown>>
  return made === true && typeof text === "string" && (status === "ok" || status === "error")
}

/** What a tool is told about the call it serves. */
export interface CallContext {
  readonly user: UserId
  readonly conversation: ConversationId
  /** Unique for ever: a target that remembers it can refuse to apply a call twice. */
  readonly callId: CallId
  readonly signal: AbortSignal
  /** Where the conversation's tools run, for those that can run in both places. */
  readonly site: Site
  readonly deviceId: string | null
  /** The database that the conversation works on, where one was chosen. */
  readonly connectionId: ConnectionId | null
  readonly now: number
  /** Where the person is: what "today" means to them. The same when a write is shown and when it runs. */
  readonly timeZone: string
  /** When the call was made. `tomorrow` counts from here: a decision may come after midnight. */
  readonly askedAt: number
  /** Of a write that a person, or policy, has seen: what its preview said of its target. What runs must be about the same. */
  readonly agreed?: Pick<Preview, "target" | "revision">
  /** What tools have added to the conversation so far. */
  readonly state: Readonly<Record<string, unknown>>
  /** Tells whoever watches how far it is. Shown now and then, kept nowhere, and no reason to wait any longer. */
  progress?(told: ToldProgress): void
  /** The conversation's own model, at call time. What it is asked counts like a question of the loop's own. */
  model(): Promise<Model>
  /** For a call that waits for others. Undefined where nobody could take it up again: on a device, and in a preview. */
  readonly lasting?: LastingCall | undefined
}

/** What a write would do, read from its target before anyone is asked. */
export interface Preview {
  readonly summary: string
  /** A heading for where the diff stands below it: the summary without what the diff tells. */
  readonly title?: string
  readonly action: ActionClass
  readonly diff?: Diff
  /** Names what would change, and the state it is in now; when `revision` differs at commit the proposal is stale. */
  readonly target?: string
  readonly revision?: string
  /** A person is asked, whatever the mode and whatever was granted: it would change what the rules themselves rest on. */
  readonly insists?: boolean
}

/** What the target says about a call that was cut off: its answer, or that it never arrived. */
export type WriteOutcome = Answer | "not-applied" | "unknown"

interface Common<Input> {
  readonly name: string
  readonly description: string
  readonly input: Schema<Input>
  /** Raise it when the meaning of the arguments changes: an approval covers one version. */
  readonly version?: number
  readonly timeoutSeconds?: number
  /** How many characters of its text the model may see; the rest is cut with a notice. */
  readonly maxOutput?: number
  /** What its answers may hold: words of others (web pages, other people's documents), the person's own data, or both. */
  readonly brings?: "outside" | "private" | "both"
  /** It sends its arguments to where others can read them, be it only an address that it fetches. */
  readonly reaches?: "outside"
  /** It runs where the conversation's site is: on a device that offers this, which takes longer and may be away. */
  readonly onSite?: "workspace" | "files"
  /** What the offline model understands of this tool. */
  readonly phrases?: readonly Phrase[]
  /** How it tells the answer to what was asked, where repeating the text would not do. */
  retell?(text: string, asked: string): string
  run(input: Input, context: CallContext): Promise<Answer> | Answer
}

export interface ReadTool<Input> extends Common<Input> {
  readonly effect: "read"
  /** May a read cut off by a crash run again? Nearly always; `in-doubt` for one that costs money. */
  readonly afterCrash: "run-again" | "in-doubt"
  /** For how long another run of the same user may reuse the answer. */
  readonly cacheSeconds?: number
  /** Of one that reaches outside: what it would send, in words, for a person who is asked first. It looks at nothing. */
  sending?(input: Input): string
}

interface WriteCommon<Input> extends Common<Input> {
  readonly effect: "write"
  /** Shown before the decision. Without it the arguments themselves are shown and the action counts as destructive. */
  preview?(input: Input, context: CallContext): Promise<Preview> | Preview
  /** The call that takes an applied one back, or false where nothing does. Asked once, when the write was applied. */
  readonly inverse: false | ((input: Input, answer: Answer) => InverseCall)
  /** Made for taking back and for nothing else: hidden from the model, and denied to it. */
  readonly onlyUndoes?: true
}

export interface RetriableWriteTool<Input> extends WriteCommon<Input> {
  /** `run-again`: the target applies a call id once, however often it comes. `in-doubt`: a person decides. */
  readonly afterCrash: "run-again" | "in-doubt"
}

export interface AskableWriteTool<Input> extends WriteCommon<Input> {
  /** The target can be asked whether a call has been applied. */
  readonly afterCrash: "ask-target"
  outcome(callId: CallId, input: Input, context: CallContext): Promise<WriteOutcome> | WriteOutcome
  /** Sees to it that a call which was not applied never is, not even by a try that comes late. Then "not-applied" is final. */
  bar?(callId: CallId, input: Input, context: CallContext): Promise<WriteOutcome> | WriteOutcome
}

export type ToolDefinition<Input> = ReadTool<Input> | RetriableWriteTool<Input> | AskableWriteTool<Input>

/** A tool in the registry. Its input type is known only to itself: `run` gets what its own schema let through. */
// oxlint-disable-next-line typescript/no-explicit-any -- the one place where tools of every input type stand side by side
export type Tool = ToolDefinition<any> & { readonly declaration: ToolDeclaration }

const NAME = /^[a-z][a-z0-9_]{0,63}$/

/**
 * Checks a tool once, when it is defined, so that a bad one never reaches a conversation. A schema that is made when it is
 * first asked something (`protocol/lazily.ts`) is left alone until then: to convert one takes a millisecond, a server has
 * hundreds, and its own are known to be good.
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
  if (isMade(definition.input)) toJsonSchema(name, definition.input)
  return { ...definition, declaration }
}

/** Of one that is not there is nothing yet but what it inherits. Whatever is no schema is looked at too, and refused. */
const isMade = (schema: unknown): boolean => Object(schema) !== schema || Reflect.ownKeys(schema as object).length > 0
