import type { z } from "zod"
import type { MessageId } from "../../core/protocol/ids.ts"
import type { Scope } from "../../core/protocol/account/sign-in.ts"
import type { Caller, ServerPorts } from "../../core/adapter.ts"
import { toProblem } from "../../core/protocol/errors.ts"

/** One call of a tool: who calls, and for how long the answer is of interest. */
export interface McpToolCall {
  readonly caller: Caller
  readonly ports: ServerPorts
  readonly signal: AbortSignal
  /** Where the person decides: the address of our page. */
  readonly page: string
  /** That the call was taken back in so many words, which is more than that nobody listens any more. */
  readonly cancelled: AbortSignal
  /** What words of this call are called, so that any node finds their run; undefined where nobody can take it back. */
  readonly words: MessageId | undefined
  /** To hang up is to take back: there are no words for it in the protocol of 2026. */
  readonly hangingUpCancels: boolean
  /** Tells how far it is, to whoever has asked to be told. */
  progress(words: string): Promise<void>
}

/** Something that a program may do here in a person's name. Nothing that decides, sets or deletes is one. */
export interface McpTool {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The scope of the route that does the same. */
  readonly needs: Scope
  /** Reads, and so may be called as often as one likes. */
  readonly reads: boolean
  readonly input: z.ZodObject
  run(input: never, call: McpToolCall): Promise<McpResult>
}

export const defineMcpTool = <Input extends z.ZodObject>(
  tool: Omit<McpTool, "input" | "run"> & {
    readonly input: Input
    run(input: z.infer<Input>, call: McpToolCall): Promise<McpResult>
  },
): McpTool => tool as unknown as McpTool

/** What a tool answers: text for a model to read, and the same facts for a program. */
export interface McpResult {
  readonly content: { readonly type: "text"; readonly text: string }[]
  readonly structuredContent?: { [name: string]: unknown }
  readonly isError?: boolean
}

export const toResult = (texts: string | readonly string[], facts?: { [name: string]: unknown }): McpResult => ({
  content: [texts].flat().map((text) => ({ type: "text" as const, text })),
  ...(facts ? { structuredContent: facts } : {}),
})

/** What went wrong, for a model to act on. The code is the one of every other door. */
export function toErrorResult(error: unknown): McpResult {
  const { detail, code } = toProblem(error)
  return { ...toResult(detail, { code }), isError: true }
}
