import type { Readable, Writable } from "node:stream"
import type { JSONRPCMessage } from "@modelcontextprotocol/client"
import { MAX_BODY_BYTES } from "../../../core/protocol/requests.ts"
import { mcpText } from "../../strings/mcp.ts"

/** Where messages are answered: an address, and who asks it. */
export interface McpEnd {
  readonly url: string
  readonly fetch: (input: string | URL, init?: RequestInit) => Promise<Response>
}

interface Pipe {
  readonly input: Readable
  readonly output: Writable
  readonly stopping: AbortSignal
}

/** A request that is being answered. `byHangingUp`: by its protocol, to hang up is to take it back. */
interface Asked {
  readonly hangUp: AbortController
  readonly byHangingUp: boolean
}

const VERSION = "io.modelcontextprotocol/protocolVersion"

/**
 * Carries messages between standard input and output and a server, until the input ends. It understands none of them but
 * what the two ways of travelling differ in: how a request is taken back, and that an answer may break off on its way.
 */
export async function bridgeMcp(end: McpEnd, { input, output, stopping }: Pipe): Promise<void> {
  const [{ StreamableHTTPClientTransport }, { StdioServerTransport }] = await Promise.all([
    import("@modelcontextprotocol/client"),
    import("@modelcontextprotocol/server/stdio"),
  ])
  const inside = new StdioServerTransport(input, output, { maxBufferSize: 2 * MAX_BODY_BYTES })
  const outside = new StreamableHTTPClientTransport(new URL(end.url), { fetch: end.fetch })
  const asked = new Map<unknown, Asked>()
  const closed = Promise.withResolvers<void>()

  const answer = (message: JSONRPCMessage) => {
    if ("id" in message && !("method" in message)) asked.delete(message.id)
    void inside.send(message).catch(() => closed.resolve()) // nobody reads any more
  }
  const fail = (id: string | number, problem: string) => {
    if (asked.has(id)) answer({ jsonrpc: "2.0", id, error: { code: -32603, message: problem } })
  }
  const forward = async (message: JSONRPCMessage) => {
    if (!("method" in message) || !("id" in message)) return outside.send(message)
    const { id, params } = message
    const hangUp = new AbortController()
    const meta = params?._meta as Record<string, unknown> | undefined
    asked.set(id, { hangUp, byHangingUp: meta?.[VERSION] !== undefined })
    try {
      const onRequestStreamEnd = () => fail(id, mcpText.answerCut)
      await outside.send(message, { requestSignal: hangUp.signal, onRequestStreamEnd })
    } catch (error) {
      fail(id, (error as Error).message)
    }
  }

  outside.onmessage = (message) => {
    const { protocolVersion } = ("result" in message ? message.result : {}) as { readonly protocolVersion?: unknown }
    if (typeof protocolVersion === "string") outside.setProtocolVersion(protocolVersion)
    answer(message)
  }
  inside.onmessage = (message) => {
    const taken = "method" in message && message.method === "notifications/cancelled" && message.params?.requestId
    const call = taken === false ? undefined : asked.get(taken)
    if (!call?.byHangingUp) return void forward(message).catch(() => {})
    asked.delete(taken)
    call.hangUp.abort()
  }
  inside.onclose = () => closed.resolve()
  stopping.addEventListener("abort", () => closed.resolve(), { once: true })
  await outside.start()
  await inside.start()
  await closed.promise
  await Promise.all([inside.close(), outside.close()])
}
