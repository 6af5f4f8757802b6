import type { Context, Hono } from "hono"
import { MAX_BODY_BYTES } from "../../protocol/requests.ts"
import { type Body, type Query, type Route, successStatus } from "../../protocol/routes/route.ts"
import { demand, userOf } from "../auth/caller.ts"
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

/** Answers a route with what its handler returns. What the caller sent has been checked by then; a `Response` goes out as it is. */
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
    if (needs !== "nobody") demand(c, needs)
    // Most requests of these are small, last as long as a model answers, and would take each other's places.
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

/** Who asks for the head alone reads no body: a stream that nobody ends would be open for ever. */
function withoutBody(c: Context<Env>, answer: Response): Response {
  if (c.req.method === "HEAD") answer.body?.cancel().catch(() => {})
  return answer
}

/** The path as the router writes it. Where a name is followed by an ending (`{id}.csv`), it stands for both together. */
export function toPattern({ path, slashes }: Pick<Route, "path" | "slashes">): string {
  const pattern = path.replaceAll(/\{(\w+)\}(\.\w+)?/g, (_, name: string, ending?: string) => {
    return ending ? `:${name}{[^/]+\\${ending}}` : `:${name}`
  })
  return slashes ? `${pattern}{.+}` : pattern
}

const MB = 1024 * 1024
/** What is read of a small one beside its bytes, so that a thousand that say one byte are not nothing. */
const LEAST_BYTES = 64 * 1024
const SECONDS = 5

/** How much is taken in at a time, of everybody and of one person, by what each counts as. */
interface Room {
  readonly most: number
  readonly mostOfOne: number
  readonly taken: Map<UserId, number>
}

/** Counted one by one: each is in memory three times while it is read, and once until its request ends. */
const large: Room = { most: 8, mostOfOne: 4, taken: new Map() }
/** Those of up to 8 MB, counted by the bytes that they say. */
const small: Room = { most: 64 * MB, mostOfOne: 32 * MB, taken: new Map() }

/**
 * Answers a request whose body may be as large as a file. It has its place until it is answered: what has been read is
 * still in memory while it waits its turn. Nobody can fill the memory by sending many at once, and whoever has places
 * already leaves as many free as they have: two people who send slowly are in nobody's way.
 */
export function boundLargeBodies<Answer>(c: Context<Env>, answer: () => Promise<Answer>): Promise<Answer> {
  const said = c.req.header("content-length")
  // One that does not say how long it is may be of any length.
  const isSmall = said !== undefined && Number(said) <= largeBody.bytes
  if (!isSmall) return asLargeBody(userOf(c), answer)
  return within(small, { user: userOf(c), weight: Math.max(Number(said), LEAST_BYTES) }, answer)
}

/** The same for what takes as much memory as a large body without being one, such as a file that is read from the store. */
export const asLargeBody = <Answer>(user: UserId, answer: () => Promise<Answer>): Promise<Answer> =>
  within(large, { user, weight: 1 }, answer)

async function within<Answer>(
  room: Room,
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

/** Takes a place, or says whose uploads it is that fill it: one's own end by themselves, those of others are not one's fault. */
function enter({ most, mostOfOne, taken }: Room, user: UserId, weight: number): () => void {
  const own = taken.get(user) ?? 0
  const free = most - [...taken.values()].reduce((sum, each) => sum + each, 0)
  if (own + weight > mostOfOne) throw failure("too_many_uploads", { seconds: SECONDS })
  if (own + weight > free) throw failure("uploads_full", { seconds: SECONDS })
  taken.set(user, own + weight)
  return () => {
    const left = (taken.get(user) ?? weight) - weight
    if (left > 0) taken.set(user, left)
    else taken.delete(user)
  }
}
