import type { Context } from "hono"
import { failure } from "../protocol/errors.ts"
import type { UserId } from "../protocol/ids.ts"
import { type Env, userOf } from "./caller.ts"
import { largeBody } from "./input.ts"

/** So many large bodies are read at a time: each is in memory three times over while it is. */
const MOST = 8
const MOST_OF_ONE = 4
const SECONDS = 5

const reading: UserId[] = []

/** Reads a body that may be as large as a file. Nobody can fill the memory, or all places, by sending many at once. */
export async function readingFile<Body>(c: Context<Env>, read: () => Promise<Body>): Promise<Body> {
  const said = c.req.header("content-length")
  // One that does not say how long it is may be of any length.
  if (said !== undefined && Number(said) <= largeBody.bytes) return read()
  const user = userOf(c)
  const own = reading.filter((each) => each === user).length
  if (reading.length >= MOST || own >= MOST_OF_ONE) throw failure("too_many_requests", { seconds: SECONDS })
  reading.push(user)
  try {
    return await read()
  } finally {
    reading.splice(reading.indexOf(user), 1)
  }
}
