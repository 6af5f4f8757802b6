import type { Hono } from "hono"
import type { Env } from "../../door/request-env.ts"

export interface ThreadPaths {
  /** Whether the thread dialect also answers under `/chat`. */
  readonly threadPaths?: boolean
}

/**
 * The thread dialect where its first clients look for it: under `/chat`, without `/api` before it. The request is the one
 * under `/api/chat` in everything else, so that whoever asks, how often and for what is judged once, and in one place.
 */
export function serveThreadPaths(app: Hono<Env>): void {
  app.all("/chat/*", (c) => {
    const url = new URL(c.req.url)
    url.pathname = `/api${url.pathname}`
    const { method, headers, body, signal } = c.req.raw
    const sent = body ? { body, duplex: "half" } : {}
    return app.fetch(new Request(url, { method, headers, signal, ...sent } as RequestInit), c.env)
  })
}
