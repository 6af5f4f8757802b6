import type { z } from "zod"
import type { Caller, ServerPorts } from "../../core/adapter.ts"
import { type MessageId, type Scope, toProblem } from "../../core/protocol/index.ts"

/** A call of a tool. */
export interface McpToolCall {
  readonly caller: Caller
  readonly ports: ServerPorts
  readonly signal: AbortSignal
  /** The address of the page, where the person decides. */
  readonly page: string
  /** Aborts when the client cancels the call explicitly, not when it disconnects. */
  readonly cancelled: AbortSignal
  /** The id of this call's message, so that any node finds its run; undefined if it cannot be cancelled. */
  readonly words: MessageId | undefined
  /** The protocol of 2026 has no cancellation: disconnecting cancels. */
  readonly hangingUpCancels: boolean
  /** Sends progress to a client that asked for it. */
  progress(words: string): Promise<void>
}

/** A tool that programs may call in a person's name. None of them decides, configures or deletes. */
export interface McpTool {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The scope of the equivalent route. */
  readonly needs: Scope
  /** Changes nothing, so it may be called freely. */
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

/** A tool's result: text for a model, and the same facts as data. */
export interface McpResult {
  readonly content: { readonly type: "text"; readonly text: string }[]
  readonly structuredContent?: { [name: string]: unknown }
  readonly isError?: boolean
}

export const toResult = (texts: string | readonly string[], facts?: { [name: string]: unknown }): McpResult => ({
  content: [texts].flat().map((text) => ({ type: "text" as const, text })),
  ...(facts ? { structuredContent: facts } : {}),
})

/** An error for a model to act on, with our code. */
export function toErrorResult(error: unknown): McpResult {
  const { detail, code } = toProblem(error)
  return { ...toResult(detail, { code }), isError: true }
}
