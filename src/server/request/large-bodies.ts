import type { Context } from "hono"
import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import { userOf } from "../door/caller.ts"
import type { Env } from "../door/request-env.ts"
import { largeBody } from "./read-input.ts"

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
