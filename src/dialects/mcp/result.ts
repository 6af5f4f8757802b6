import { toProblem } from "../../protocol/errors.ts"

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
