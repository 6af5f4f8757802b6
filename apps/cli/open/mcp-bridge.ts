import type { Readable, Writable } from "node:stream"
import type { JSONRPCMessage } from "@modelcontextprotocol/client"
import { MAX_BODY_BYTES } from "../../../core/protocol/requests.ts"
import { mcpText } from "../../strings/mcp.ts"

/** The address that responds to messages, and the client's identity. */
export interface McpEnd {
  readonly url: string
  readonly fetch: (input: string | URL, init?: RequestInit) => Promise<Response>
}

interface Pipe {
  readonly input: Readable
  readonly output: Writable
  readonly stopping: AbortSignal
}

/** A request without a response. `byHangingUp`: its protocol version cancels it by closing the connection. */
interface PendingRequest {
  readonly hangUp: AbortController
  readonly byHangingUp: boolean
}

const VERSION = "io.modelcontextprotocol/protocolVersion"

/**
 * Forwards messages between standard input and output and a server until the input ends. It interprets only what
 * differs between the two transports: how a request is cancelled, and that a response may be interrupted.
 */
export async function bridgeMcp(end: McpEnd, { input, output, stopping }: Pipe): Promise<void> {
  const [{ StreamableHTTPClientTransport }, { StdioServerTransport }] = await Promise.all([
    import("@modelcontextprotocol/client"),
    import("@modelcontextprotocol/server/stdio"),
  ])
  const inside = new StdioServerTransport(input, output, { maxBufferSize: 2 * MAX_BODY_BYTES })
  const outside = new StreamableHTTPClientTransport(new URL(end.url), { fetch: end.fetch })
  const pending = new Map<unknown, PendingRequest>()
  const closed = Promise.withResolvers<void>()

  const answer = (message: JSONRPCMessage) => {
    if ("id" in message && !("method" in message)) pending.delete(message.id)
    void inside.send(message).catch(() => closed.resolve()) // the reader is gone
  }
  const fail = (id: string | number, problem: string) => {
    if (pending.has(id)) answer({ jsonrpc: "2.0", id, error: { code: -32603, message: problem } })
  }
  const forward = async (message: JSONRPCMessage) => {
    if (!("method" in message) || !("id" in message)) return outside.send(message)
    const { id, params } = message
    const hangUp = new AbortController()
    const meta = params?._meta as Record<string, unknown> | undefined
    pending.set(id, { hangUp, byHangingUp: meta?.[VERSION] !== undefined })
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
    const call = taken === false ? undefined : pending.get(taken)
    if (!call?.byHangingUp) return void forward(message).catch(() => {})
    pending.delete(taken)
    call.hangUp.abort()
  }
  inside.onclose = () => closed.resolve()
  stopping.addEventListener("abort", () => closed.resolve(), { once: true })
  await outside.start()
  await inside.start()
  await closed.promise
  await Promise.all([inside.close(), outside.close()])
}
