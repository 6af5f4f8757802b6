/** What is used of it: a server that answers as many providers do, written by nobody of ours. */
declare module "@copilotkit/aimock" {
  interface Match {
    readonly userMessage: string
    readonly hasToolResult?: boolean
  }

  type Reply =
    | { readonly content: string }
    | { readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[] }

  export class LLMock {
    readonly url: string
    constructor(options: { readonly port: number; readonly chunkSize: number })
    on(match: Match, reply: Reply, how?: { readonly truncateAfterChunks: number }): this
    nextRequestError(status: number, error: { readonly message: string; readonly type: string }): this
    start(): Promise<string>
    stop(): Promise<void>
  }
}
