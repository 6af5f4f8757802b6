import type { Context } from "hono"
import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import { userOf } from "../door/caller.ts"
import type { Env } from "../door/request-env.ts"
import { largeBody } from "./read-input.ts"

/**
 * Large bodies under way at a time, of everybody and of one person: each is in memory three times while it is read, and
 * once until its request ends.
 */
const MAX = 8
const MAX_OF_ONE = 4
const SECONDS = 5

const underWay: UserId[] = []

/**
 * Answers a request whose body may be as large as a file. It has its place until it is answered: what has been read is
 * still in memory while it waits its turn. Nobody can fill the memory by sending many at once, and whoever has places
 * already leaves as many free as they have: two people who send slowly are in nobody's way.
 */
export async function boundLargeBodies<Answer>(c: Context<Env>, answer: () => Promise<Answer>): Promise<Answer> {
  const said = c.req.header("content-length")
  // One that does not say how long it is may be of any length.
  if (said !== undefined && Number(said) <= largeBody.bytes) return answer()
  const user = userOf(c)
  const own = underWay.filter((each) => each === user).length
  const free = MAX - underWay.length
  if (own >= Math.min(free, MAX_OF_ONE)) throw failure("too_many_requests", { seconds: SECONDS })
  underWay.push(user)
  try {
    return await answer()
  } finally {
    underWay.splice(underWay.indexOf(user), 1)
  }
}
