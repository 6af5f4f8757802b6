import type { Schema } from "../engine/definition/schema.ts"
import {
  type Answer as InternalAnswer,
  answer as makeAnswer,
  type CallContext as InternalContext,
  defineTool as checkTool,
  failed as makeFailed,
  isAnswer,
  type Preview,
  type SiblingCall,
  type Tool as InternalTool,
} from "../engine/definition/tool.ts"
import { type AppError, type ErrorCode, failure as typedFailure } from "../protocol/errors.ts"
import type { CallId } from "../protocol/ids.ts"
import type { InverseCall } from "../protocol/proposals/proposal.ts"
import { ToolSchema } from "./option-schemas.ts"
import { createAsk, type QuestionForUser, type UserReply } from "./ask-user.ts"
import type { Person } from "./person.ts"

/** A tool's answer: text for the model, data for programs, and changes to the conversation's state. */
export interface ToolAnswer<Data = unknown> extends InternalAnswer {
  readonly data?: Data
}

/**
 * Optional parts of a tool's answer besides its text: data for programs, changes to the conversation's state, and
 * marks.
 */
export type AnswerExtra<Data = unknown> = Pick<ToolAnswer<Data>, "data" | "state" | "taint" | "change">

/**
 * Creates an answer with your own text. A tool that does not need this can return any value.
 *
 * @example
 * const find = defineTool({
 *   name: "find",
 *   description: "Finds a part.",
 *   effect: "read",
 *   input: z.object({}),
 *   run: () => answer("One bolt.", { state: { part: "bolt" } }), // later calls see context.state.part
 * })
 * console.log(find.name) // find
 */
export function answer<Data = undefined>(text: string, extra: AnswerExtra<Data> = {}): ToolAnswer<Data> {
  return makeAnswer(text, extra) as ToolAnswer<Data>
}

/**
 * Creates an answer that reports an error to the model. Say what went wrong and what to do instead. If a tool throws,
 * its error is reported the same way.
 *
 * @example
 * const find = defineTool({
 *   name: "find",
 *   description: "Finds a part.",
 *   effect: "read",
 *   input: z.object({ part: z.string() }),
 *   run: ({ part }) => failed(`There is no ${part}.`), // the model can correct its call
 * })
 * console.log(find.effect) // read
 */
export function failed<Data = undefined>(text: string, extra: AnswerExtra<Data> = {}): ToolAnswer<Data> {
  return makeFailed(text, extra) as ToolAnswer<Data>
}

/** The context that a tool receives with each call. */
export interface CallContext extends Omit<InternalContext, "site" | "deviceId" | "connectionId" | "lasting"> {
  /** The user whose conversation it is, with the methods of `pawl.as`. Only in an instance of `openPawl`. */
  readonly person: Person
  /**
   * Asks the user, and waits for the answer as long as for an approval; the run reports that it waits. A tool that may
   * run again after a crash continues there with the answers so far, so it must ask the same questions in the same order.
   */
  ask<Value = string>(question: QuestionForUser<Value>): Promise<UserReply<Value>>
}

/** Adds to the context of a call what only an open instance has. A call that a restart continues waits until it is open. */
export type ExtendContext = (context: InternalContext, tool: string) => CallContext | Promise<CallContext>

const withoutInstance: ExtendContext = (context, tool) =>
  Object.create(context, { ask: { value: createAsk(context, tool) } }) as CallContext

export type { Preview, SiblingCall }

interface AnyTool<Input, Result> {
  /** In snake_case. The model sees this name. */
  readonly name: string
  /** The description that the model sees. */
  readonly description: string
  /** A schema that implements Standard Schema and provides a JSON schema, for example from zod, valibot or arktype. */
  readonly input: Schema<Input>
  /** Increase it when the meaning of the arguments changes. An approval is valid for one version. */
  readonly version?: number
  /** Default: 30. */
  readonly timeoutSeconds?: number
  /** The most characters of the answer that the model sees. Longer text is truncated, with a notice. */
  readonly maxOutput?: number
  /** The kind of content in answers: third-party text (`untrusted`), the user's own data (`private`), or `both`. */
  readonly taint?: "untrusted" | "private" | "both"
  /** The tool sends its arguments to a third party, for example as the address of a request. */
  readonly egress?: true
  /** Requests that this tool serves. Clients offer them as suggestions. */
  readonly examples?: readonly string[]
  /**
   * Runs the tool. A string is sent to the model as it is; any other value is sent as JSON and is also stored as
   * `data`. Return `answer(…)` or `failed(…)` for more control.
   */
  run(input: Input, context: CallContext): Result | Promise<Result>
}

/** A tool that changes nothing. It runs without approval. */
export interface ReadTool<Input, Result> extends AnyTool<Input, Result> {
  readonly effect: "read"
  /**
   * How to proceed after a crash during the call. `run-again` (default) repeats it; use `in-doubt` if the call costs
   * money.
   */
  readonly afterCrash?: "run-again" | "in-doubt"
  /** How many seconds the answer may be reused in other runs of the same user. */
  readonly cacheSeconds?: number
  /** Describes what a call would send, for the person who approves it. It must not read or change anything. */
  sending?(input: Input): string
}

/** A tool that changes something. Each call needs approval, unless the conversation's mode is `auto`. */
export interface WriteTool<Input, Result> extends AnyTool<Input, Result> {
  readonly effect: "write"
  /**
   * How to proceed after a crash during the call. `in-doubt` (default): a person decides. `run-again`: repeat it,
   * because the target ignores a call id that it has already applied.
   */
  readonly afterCrash?: "in-doubt" | "run-again"
  /**
   * Returns what the person sees before the decision. Without it, they see the arguments, and the action counts as
   * destructive.
   */
  preview?(input: Input, context: CallContext): Preview | Promise<Preview>
  /**
   * Returns the call that undoes an applied write. It is computed once, when the write is applied. Without it, the
   * write cannot be undone.
   */
  readonly inverse?: false | ((input: Input, answer: ToolAnswer) => InverseCall)
}

/** A write whose target can report, after a crash, whether a call was applied. */
export interface AskableWriteTool<Input, Result> extends Omit<WriteTool<Input, Result>, "afterCrash"> {
  readonly afterCrash: "ask-target"
  outcome(callId: CallId, input: Input, context: CallContext): ToolOutcome | Promise<ToolOutcome>
  /** Prevents a call that was not applied from being applied later. "not-applied" is then final. */
  bar?(callId: CallId, input: Input, context: CallContext): ToolOutcome | Promise<ToolOutcome>
}

/** The target's report on an interrupted write: its answer, that it never arrived, or that this is unknown. */
export type ToolOutcome = ToolAnswer | "not-applied" | "unknown"

/** A tool, with the types of its input and of the value that `run` returns. */
export type Tool<Input = unknown, Result = unknown> =
  | ReadTool<Input, Result>
  | WriteTool<Input, Result>
  | AskableWriteTool<Input, Result>

/**
 * Checks a tool where it is defined and returns it. Throws a `TypeError` if the tool is invalid. Its types are
 * inferred.
 *
 * @example
 * const pay = defineTool({
 *   name: "pay",
 *   description: "Pays an invoice.",
 *   effect: "write", // so a person is asked first
 *   input: z.object({ invoice: z.string() }),
 *   run: ({ invoice }) => `Paid ${invoice}.`,
 * })
 * const models = scripted(calls("pay", { invoice: "2041" }), says("It is paid."))
 * await using pawl = await openPawl({ store: ":memory:", agents: [{ name: "clerk", tools: [pay] }], models })
 * const asked = await pawl.ask("Pay invoice 2041.")
 * if (asked.status === "waiting") await pawl.proposals.approve(asked.proposals[0]!.id)
 * console.log((await pawl.answer(asked.conversationId)).text) // It is paid.
 */
export function defineTool<Input, Result>(tool: Tool<Input, Result>): Tool<Input, Result> {
  toInternalTool(tool)
  return tool
}

/** Converts a tool to the loop's own form, which has no optional fields, and converts returned values to answers. */
export function toInternalTool<Input, Result>(
  tool: Tool<Input, Result>,
  extend: ExtendContext = withoutInstance,
): InternalTool {
  refuseUnfit(tool)
  const internal = withAnswers(tool, extend)
  void internal.declaration.inputSchema // refuses an invalid schema now, instead of in the first conversation
  return internal
}

/** Types do not stop JavaScript: a write with a misspelt `effect` would run without approval. */
function refuseUnfit(tool: unknown): void {
  const { error } = ToolSchema.safeParse(tool)
  if (!error) return
  const { name } = Object(tool) as { name?: unknown }
  const problems = error.issues.map(({ path, message }) => [path.join("."), message].filter(Boolean).join(": "))
  throw new TypeError(`Tool "${String(name)}": ${problems.join("; ")}.`)
}

/** A tool whose methods take the context of the loop. */
type InternalForm<Input, Result> = Tool<Input, Result> & {
  preview?(input: Input, context: InternalContext): Promise<Preview>
  outcome(callId: CallId, input: Input, context: InternalContext): Promise<ToolOutcome>
  bar?(callId: CallId, input: Input, context: InternalContext): Promise<ToolOutcome>
}

function withAnswers<Input, Result>(given: Tool<Input, Result>, extend: ExtendContext): InternalTool {
  const tool = { ...given, ...methodsOf(given, extend) } as InternalForm<Input, Result>
  const run = async (input: Input, context: InternalContext) =>
    toAnswer(await given.run(input, await extend(context, tool.name)), tool.effect)
  if (tool.effect === "read") return checkTool<Input>({ ...tool, afterCrash: tool.afterCrash ?? "run-again", run })
  const written = { inverse: tool.inverse ?? (false as const), run }
  if (tool.afterCrash === "ask-target") return checkTool<Input>({ ...tool, ...written })
  return checkTool<Input>({ ...tool, ...written, afterCrash: tool.afterCrash ?? "in-doubt" })
}

/** The optional methods of a tool, and which of their arguments is the context. */
const METHODS = { preview: 1, inverse: undefined, outcome: 2, bar: 2, sending: undefined }

/** Calls methods on the tool itself, because a copy of a class instance loses its methods and private fields. */
function methodsOf(tool: { readonly name: string }, extend: ExtendContext): object {
  const methods = Object.entries(METHODS).flatMap(([name, contextAt]) => {
    const method = Reflect.get(tool, name) as unknown
    if (typeof method !== "function") return []
    if (contextAt === undefined) return [[name, method.bind(tool) as unknown] as const]
    const call = async (...given: unknown[]): Promise<unknown> => {
      const context = await extend(given[contextAt] as InternalContext, tool.name)
      return Reflect.apply(method, tool, given.with(contextAt, context)) as unknown
    }
    return [[name, call] as const]
  })
  return Object.fromEntries(methods)
}

/**
 * Converts any returned value to an answer. It never throws, because the write has been applied and must not be
 * reported as failed.
 */
function toAnswer(value: unknown, effect: "read" | "write"): InternalAnswer {
  try {
    if (typeof value === "string") return answer(value)
    if (isAnswer(value)) return value
    // Functions and undefined have no JSON.
    const json = value === null ? undefined : JSON.stringify(value, bigAsText)
    return json === undefined ? answer("Done.") : answer(json, { data: value })
  } catch {
    return effect === "write" ? answer(`Done. ${UNTOLD}`) : failed(UNTOLD)
  }
}

const UNTOLD = "The returned value cannot be converted to JSON, so it cannot be sent."

/** JSON has no big integers, but database drivers return ids as such. */
const bigAsText = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value)

/**
 * Creates an error with one of the server's codes, for routes of packs: `throw failure("not_found")` responds as the
 * server's own routes do.
 *
 * @example
 * const error = failure("not_found")
 * console.log(error.status, error.code) // 404 not_found
 */
export function failure(code: ErrorCode, details: Readonly<Record<string, unknown>> = {}): AppError {
  return (typedFailure as (code: ErrorCode, details: Readonly<Record<string, unknown>>) => AppError)(code, details)
}
