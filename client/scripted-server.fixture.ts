import { createClient } from "./client.ts"
import { HastyClock } from "./hasty-clock.fixture.ts"
import type { ClientOptions } from "./transport.ts"

/** The answer to one connection. */
export interface Play {
  readonly status?: number
  readonly headers?: Record<string, string>
  /** The body's chunks. */
  readonly says?: readonly string[]
  /** `ends` normally, `breaks`, or `stays` open and silent. */
  readonly then?: "ends" | "breaks" | "stays"
}

export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** A client, and a server that sends one answer after another; a string is a network error. */
export function playing(plays: readonly (Play | string)[], options: Partial<ClientOptions> = {}) {
  const left = [...plays]
  const asked: RecordedRequest[] = []
  const clock = new HastyClock()
  /** Open connections. */
  const open = new Set<Play>()
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    const { pathname, search } = new URL(String(url))
    const headers = init.headers as Record<string, string>
    asked.push({
      method: init.method ?? "GET",
      path: pathname + search,
      headers,
      body: init.body as string | undefined,
    })
    const play = left.shift()
    if (play === undefined) throw new Error("the script is over")
    if (typeof play === "string") throw new TypeError(play)
    return answer(play, { open, signal: init.signal ?? undefined })
  }
  const client = createClient({ baseUrl: "http://pawl.test", fetch, clock, random: () => 0, ...options })
  return { client, asked, clock, open }
}

function answer(play: Play, { open, signal }: { open: Set<Play>; signal: AbortSignal | undefined }): Response {
  const { status = 200, says = [], then = "ends" } = play
  const type = status === 200 ? "text/event-stream; charset=utf-8" : "application/problem+json"
  const left = says.map((piece) => new TextEncoder().encode(piece))
  open.add(play)
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      signal?.addEventListener("abort", () => {
        open.delete(play)
        controller.error(signal.reason)
      })
    },
    pull(controller) {
      const piece = left.shift()
      if (piece) return controller.enqueue(piece)
      if (then === "stays") return
      open.delete(play)
      if (then === "ends") controller.close()
      else controller.error(new TypeError("terminated"))
    },
  })
  return new Response(body, { status, headers: { "content-type": type, ...play.headers } })
}

/** A frame as the server writes it. */
export const written = (id: string, type: string, data: unknown = {}) =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`

export const problem = (status: number, code: string, headers: Record<string, string> = {}): Play => ({
  status,
  headers,
  says: [JSON.stringify({ code, status, detail: `It is ${code}.` })],
})
