import type { Context, Hono } from "hono"
import { type Body, type Query, type Route, usualStatus } from "../../protocol/routes/route.ts"
import { demand } from "../door/caller.ts"
import type { Env } from "../door/request-env.ts"
import { fileBody, largeBody, readBody, readQuery } from "./read-input.ts"
import { boundLargeBodies } from "./large-bodies.ts"

interface Sent<R extends Route> {
  readonly query: Query<R>
  readonly body: Body<R>
}

type Usual<R extends Route> = R["answers"][keyof R["answers"]] extends infer Schema
  ? Schema extends { _output: infer Answer }
    ? Answer
    : null
  : never

/** Answers a route with what its handler returns. What the caller sent has been checked by then; a `Response` goes out as it is. */
export function serveRoute<R extends Route>(
  app: Hono<Env>,
  route: R,
  handle: (c: Context<Env>, sent: Sent<R>) => Promise<Usual<R> | Response> | Usual<R> | Response,
): void {
  const { method, path, needs, query, body, large } = route
  const status = usualStatus(route)
  const limits = large && { workspace: largeBody, file: fileBody }[large]
  app.on(method, toPattern(path), async (c) => {
    c.set("route", path)
    if (needs !== "nobody") demand(c, needs)
    const readAndHandle = async () => {
      const sent = { query: query && readQuery(c, query), body: body && (await readBody(c, body, limits)) } as Sent<R>
      return handle(c, sent)
    }
    const answer = await (large ? boundLargeBodies(c, readAndHandle) : readAndHandle())
    if (answer instanceof Response) return withoutBody(c, answer)
    return answer === null ? c.body(null, status as 204) : c.json(answer, status as 200)
  })
}

/** Who asks for the head alone reads no body: a stream that nobody ends would be open for ever. */
function withoutBody(c: Context<Env>, answer: Response): Response {
  if (c.req.method === "HEAD") answer.body?.cancel().catch(() => {})
  return answer
}

/** The path as the router writes it. Where a name is followed by an ending (`{id}.csv`), it stands for both together. */
export function toPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}(\.\w+)?/g, (_, name: string, ending?: string) => {
    return ending ? `:${name}{[^/]+\\${ending}}` : `:${name}`
  })
}
