import { chatChunk, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"

/** A reply that the test writes piece by piece, until the reader cancels it. */
export interface HeldReply {
  write(text: string): void
  /** The reply is whole. */
  end(): void
  /** When its connection was closed. */
  readonly closedAt: Promise<number>
}

/**
 * A provider on this machine. Words that begin with "Look" are answered with a call of a tool, and its result with a word; all
 * others with a reply that is written by hand.
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
    /** The next reply that is asked for. */
    reply: (): Promise<HeldReply> => {
      const reply = replies.shift()
      return reply ? Promise.resolve(reply) : new Promise((resolve) => waiting.push(resolve))
    },
    /** How long the next call of a tool takes: from the reply that asks for it to the request that brings its result. */
    callTakes(): Promise<number> {
      looked = Promise.withResolvers()
      return looked.promise
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
