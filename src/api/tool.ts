import {
  answer as makeAnswer,
  type Answer as InternalAnswer,
  type CallContext as InternalContext,
  defineTool as checkTool,
  failed as makeFailed,
  isAnswer,
  type Preview,
  type Tool as InternalTool,
} from "../agent/definition/tool.ts"
import type { Phrase } from "../agent/definition/phrases.ts"
import type { Schema } from "../agent/definition/schema.ts"
import type { CallId } from "../protocol/ids.ts"
import type { InverseCall } from "../protocol/proposals/audit.ts"
import { GivenTool } from "./given.ts"

/** A tool's answer with more than its value: words of its own for the model, or something for the conversation's state. */
export interface ToolAnswer<Data = unknown> extends InternalAnswer {
  readonly data?: Data
}

/** What may stand beside the text of an answer. */
export type AnswerExtra<Data = unknown> = Pick<ToolAnswer<Data>, "data" | "state" | "brings" | "change">

/** An answer in words of your own. A tool that has no need of that returns its value as it is. */
export function answer<Data = undefined>(text: string, extra: AnswerExtra<Data> = {}): ToolAnswer<Data> {
  return makeAnswer(text, extra) as ToolAnswer<Data>
}

/** An answer that says what went wrong, and what to do instead. What a tool throws becomes one too. */
export function failed<Data = undefined>(text: string, extra: AnswerExtra<Data> = {}): ToolAnswer<Data> {
  return makeFailed(text, extra) as ToolAnswer<Data>
}

/** What a tool is told about the call it serves. */
export interface CallContext extends Omit<InternalContext, "site" | "deviceId" | "connectionId" | "lasting"> {}

export type { Preview }

interface AnyTool<Input, Result> {
  /** snake_case, as models know it. */
  readonly name: string
  /** All the model knows of it. */
  readonly description: string
  /** zod, valibot, arktype: anything that speaks Standard Schema and tells its JSON schema. */
  readonly input: Schema<Input>
  /** Raise it when the meaning of the arguments changes: an approval covers one version. */
  readonly version?: number
  /** 30 without. */
  readonly timeoutSeconds?: number
  /** How many characters of its text the model may see; the rest is cut with a notice. */
  readonly maxOutput?: number
  /** What its answers may hold: words of others, the person's own data, or both. */
  readonly brings?: "outside" | "private" | "both"
  /** It sends its arguments to where others can read them, be it only an address that it fetches. */
  readonly reaches?: "outside"
  /** What the offline model understands of it. */
  readonly phrases?: readonly Phrase[]
  /** A text is told as it is, any other value as JSON with the value beside it; `answer` and `failed` say more. */
  run(input: Input, context: CallContext): Result | Promise<Result>
}

/** A tool that changes nothing. It runs at once. */
export interface ReadTool<Input, Result> extends AnyTool<Input, Result> {
  readonly effect: "read"
  /** After a crash in the middle: `run-again` without; `in-doubt` for one that costs money. */
  readonly afterCrash?: "run-again" | "in-doubt"
  /** For how long another run of the same user may reuse the answer. */
  readonly cacheSeconds?: number
  /** Of one that reaches outside: what it would send, in words, for a person who is asked first. It looks at nothing. */
  sending?(input: Input): string
}

/** A tool that changes something. A person is asked first, unless the conversation is in `auto`. */
export interface WriteTool<Input, Result> extends AnyTool<Input, Result> {
  readonly effect: "write"
  /** `in-doubt` without: a person says what became of it. `run-again`: the target applies a call id once, however often it comes. */
  readonly afterCrash?: "in-doubt" | "run-again"
  /** Shown before the decision. Without it the arguments themselves are shown and the action counts as destructive. */
  preview?(input: Input, context: CallContext): Preview | Promise<Preview>
  /** The call that takes an applied one back, asked for once, when the write was applied; without, nothing does. */
  readonly inverse?: false | ((input: Input, answer: ToolAnswer) => InverseCall)
}

/** A tool that changes something whose target can be asked, after a crash, whether a call was applied. */
export interface AskableWriteTool<Input, Result> extends Omit<WriteTool<Input, Result>, "afterCrash"> {
  readonly afterCrash: "ask-target"
  outcome(callId: CallId, input: Input, context: CallContext): ToolOutcome | Promise<ToolOutcome>
  /** Sees to it that a call which was not applied never is. Then "not-applied" is final. */
  bar?(callId: CallId, input: Input, context: CallContext): ToolOutcome | Promise<ToolOutcome>
}

/** What a target says about a call that was cut off: its answer, or that it never arrived. */
export type ToolOutcome = ToolAnswer | "not-applied" | "unknown"

/** A tool, with the types of what it takes and what its `run` gives back. */
export type Tool<Input = unknown, Result = unknown> =
  | ReadTool<Input, Result>
  | WriteTool<Input, Result>
  | AskableWriteTool<Input, Result>

/** Checks a tool once, when it is defined, so that a bad one never reaches a conversation. Its types are inferred. */
export function defineTool<Input, Result>(tool: Tool<Input, Result>): Tool<Input, Result> {
  toInternalTool(tool)
  return tool
}

/** The same with what the loop wants to be told about every tool, and with values made into answers. */
export function toInternalTool<Input, Result>(tool: Tool<Input, Result>): InternalTool {
  refuseUnfit(tool)
  const internal = withAnswers(tool)
  void internal.declaration.inputSchema // refused now, where its author is, and not in front of the first person
  return internal
}

/** Types are a promise: a write whose `effect` JavaScript has misspelt would be asked nobody about. */
function refuseUnfit(tool: unknown): void {
  const { error } = GivenTool.safeParse(tool)
  if (!error) return
  const { name } = Object(tool) as { name?: unknown }
  const problems = error.issues.map(({ path, message }) => [path.join("."), message].filter(Boolean).join(": "))
  throw new TypeError(`Tool "${String(name)}": ${problems.join("; ")}.`)
}

function withAnswers<Input, Result>(given: Tool<Input, Result>): InternalTool {
  const tool = { ...given, ...methodsOf(given) }
  const run = async (input: Input, context: CallContext) => toAnswer(await given.run(input, context), tool.effect)
  if (tool.effect === "read") return checkTool<Input>({ ...tool, afterCrash: tool.afterCrash ?? "run-again", run })
  const written = { inverse: tool.inverse ?? (false as const), run }
  if (tool.afterCrash === "ask-target") return checkTool<Input>({ ...tool, ...written })
  return checkTool<Input>({ ...tool, ...written, afterCrash: tool.afterCrash ?? "in-doubt" })
}

const METHODS = ["preview", "inverse", "outcome", "bar", "sending"]

/** What a tool does, on the tool itself: a copy of one that is made by a class lacks its methods, and what they keep in private. */
function methodsOf(tool: object): object {
  const methods = METHODS.map((name) => [name, Reflect.get(tool, name) as unknown] as const)
  return Object.fromEntries(
    methods.flatMap(([name, method]) => (typeof method === "function" ? [[name, method.bind(tool) as unknown]] : [])),
  )
}

/** Of anything that a tool gives back. It never throws: by then a write is done, and must not be reported as failed. */
function toAnswer(value: unknown, effect: "read" | "write"): InternalAnswer {
  try {
    if (typeof value === "string") return answer(value)
    if (isAnswer(value)) return value
    // A function has no JSON, and neither has nothing.
    const json = value === null ? undefined : JSON.stringify(value, bigAsText)
    return json === undefined ? answer("Done.") : answer(json, { data: value })
  } catch {
    return effect === "write" ? answer(`Done. ${UNTOLD}`) : failed(UNTOLD)
  }
}

const UNTOLD = "What it gave back has no JSON, so it cannot be told."

/** JSON has no big integers; drivers of databases give ids as such. */
const bigAsText = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value)
