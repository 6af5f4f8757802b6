import type { Context, Hono } from "hono"
import { MAX_BODY_BYTES } from "../../protocol/requests.ts"
import { type Body, type Query, type Route, successStatus } from "../../protocol/routes/route.ts"
import { requireScope, userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import { fileBody, largeBody, readBody, readQuery } from "./read-input.ts"
import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"

interface Sent<R extends Route> {
  readonly query: Query<R>
  readonly body: Body<R>
}

type Usual<R extends Route> = R["answers"][keyof R["answers"]] extends infer Schema
  ? Schema extends { _output: infer Answer }
    ? Answer
    : null
  : never

/** Serves a route with its handler. Scope, query and body are checked first; a `Response` is sent as it is. */
export function serveRoute<R extends Route>(
  app: Hono<Env>,
  route: R,
  handle: (c: Context<Env>, sent: Sent<R>) => Promise<Usual<R> | Response> | Usual<R> | Response,
): void {
  const { method, path, needs, query, body, large } = route
  const status = successStatus(route)
  const limits = large && { workspace: largeBody, file: fileBody, images: largeBody }[large]
  app.on(method, toPattern(route), async (c) => {
    c.set("route", path)
    if (needs !== "nobody") requireScope(c, needs)
    // Most of these requests are small and last as long as a model answers: they must not occupy the places of large
    // uploads.
    const isLarge = large === "images" ? Number(c.req.header("content-length")) > MAX_BODY_BYTES : large !== undefined
    const readAndHandle = async () => {
      const read = body && (await readBody(c, body, isLarge ? limits : undefined))
      return handle(c, { query: query && readQuery(c, query), body: read } as Sent<R>)
    }
    const answer = await (isLarge ? boundLargeBodies(c, readAndHandle) : readAndHandle())
    if (answer instanceof Response) return withoutBody(c, answer)
    return answer === null ? c.body(null, status as 204) : c.json(answer, status as 200)
  })
}

/** A HEAD request reads no body: a stream would stay open forever. */
function withoutBody(c: Context<Env>, answer: Response): Response {
  if (c.req.method === "HEAD") answer.body?.cancel().catch(() => {})
  return answer
}

/** The path in the router's syntax. A name with an extension (`{id}.csv`) is one parameter. */
export function toPattern({ path, slashes }: Pick<Route, "path" | "slashes">): string {
  const pattern = path.replaceAll(/\{(\w+)\}(\.\w+)?/g, (_, name: string, ending?: string) => {
    return ending ? `:${name}{[^/]+\\${ending}}` : `:${name}`
  })
  return slashes ? `${pattern}{.+}` : pattern
}

const MB = 1024 * 1024
/** Counted at least, because each request also costs memory besides its bytes. */
const MIN_WEIGHT = 64 * 1024
const SECONDS = 5

/** A limit on concurrent bodies, in total and per person, in units of `weight`. */
interface BodyQuota {
  readonly most: number
  readonly mostOfOne: number
  readonly used: Map<UserId, number>
}

/** Counted one by one: each is in memory three times while it is read, and once until its request ends. */
const large: BodyQuota = { most: 8, mostOfOne: 4, used: new Map() }
/** Bodies of up to 8 MB, counted by their declared bytes. */
const small: BodyQuota = { most: 64 * MB, mostOfOne: 32 * MB, used: new Map() }

/**
 * Answers a request with a possibly large body. The body counts against the limits until it is answered, because it stays in
 * memory. Many uploads of one person leave room for others.
 */
export function boundLargeBodies<Answer>(c: Context<Env>, answer: () => Promise<Answer>): Promise<Answer> {
  const length = c.req.header("content-length")
  // A body without a declared length may be of any length.
  const isSmall = length !== undefined && Number(length) <= largeBody.bytes
  if (!isSmall) return asLargeBody(userOf(c), answer)
  return withReservation(small, { user: userOf(c), weight: Math.max(Number(length), MIN_WEIGHT) }, answer)
}

/** The same for other work that takes as much memory, such as reading a file from the store. */
export const asLargeBody = <Answer>(user: UserId, answer: () => Promise<Answer>): Promise<Answer> =>
  withReservation(large, { user, weight: 1 }, answer)

async function withReservation<Answer>(
  room: BodyQuota,
  { user, weight }: { readonly user: UserId; readonly weight: number },
  answer: () => Promise<Answer>,
): Promise<Answer> {
  const leave = enter(room, user, weight)
  try {
    return await answer()
  } finally {
    leave()
  }
}

/** Reserves room, or throws whose uploads use it up: one's own end by themselves, those of others are not one's fault. */
function enter({ most, mostOfOne, used }: BodyQuota, user: UserId, weight: number): () => void {
  const own = used.get(user) ?? 0
  const free = most - [...used.values()].reduce((sum, each) => sum + each, 0)
  if (own + weight > mostOfOne) throw failure("too_many_uploads", { seconds: SECONDS })
  if (own + weight > free) throw failure("uploads_full", { seconds: SECONDS })
  used.set(user, own + weight)
  return () => {
    const left = (used.get(user) ?? weight) - weight
    if (left > 0) used.set(user, left)
    else used.delete(user)
  }
}
