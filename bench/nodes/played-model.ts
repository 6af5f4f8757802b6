import { chatChunk, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"

/** A reply that the test writes piece by piece, until the reader cancels it. */
export interface HeldReply {
  write(text: string): void
  /** Completes the reply. */
  end(): void
  /** The time at which its connection was closed. */
  readonly closedAt: Promise<number>
}

/**
 * A local provider. Messages that start with "Look" are answered with a tool call, and its result with a word; all
 * others with a reply that the test writes.
 */
export async function openPlayedModel() {
  const replies: HeldReply[] = []
  const waiting: ((reply: HeldReply) => void)[] = []
  let looked = Promise.withResolvers<number>()
  let calledAt = 0
  const server = await ProviderServer.open((response, { body }) => {
    const messages = (body as { messages: { role: string; content: unknown }[] }).messages
    const last = messages.findLast(({ role }) => role === "user" || role === "tool")
    const stream = streamHead(response)
    if (last?.role === "tool") {
      looked.resolve(performance.now() - calledAt)
      return void stream.end(sse(chatChunk({ content: "Seen." }), chatChunk({}, "stop"), "[DONE]"))
    }
    if (JSON.stringify(last?.content).includes("Look")) {
      const call = {
        index: 0,
        id: `c${Math.random()}`,
        type: "function",
        function: { name: "list_tasks", arguments: "{}" },
      }
      stream.end(sse(chatChunk({ role: "assistant", tool_calls: [call] }), chatChunk({}, "tool_calls"), "[DONE]"))
      calledAt = performance.now()
      return
    }
    const closed = Promise.withResolvers<number>()
    response.on("close", () => closed.resolve(performance.now()))
    const reply: HeldReply = {
      write: (content) => void stream.write(sse(chatChunk({ content }))),
      end: () => void stream.end(sse(chatChunk({}, "stop"), "[DONE]")),
      closedAt: closed.promise,
    }
    const wanted = waiting.shift()
    if (wanted) wanted(reply)
    else replies.push(reply)
  })
  return {
    url: server.url,
    /** The next requested reply. */
    reply: (): Promise<HeldReply> => {
      const reply = replies.shift()
      return reply ? Promise.resolve(reply) : new Promise((resolve) => waiting.push(resolve))
    },
    /** The duration of the next tool call: from the reply that requests it to the request with its result. */
    callTakes(): Promise<number> {
      looked = Promise.withResolvers()
      return looked.promise
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
