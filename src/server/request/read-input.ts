import type { Context } from "hono"
import type { z } from "zod"
import { AppError, failure } from "../../protocol/errors.ts"
import { MAX_BODY_BYTES } from "../../protocol/requests.ts"
import { isStorable, mendValue } from "../../protocol/text/text.ts"

/** The bytes and the JSON values that a body may have. Checking a megabyte of `0,0,0…` would keep everybody waiting. */
export interface BodyLimits {
  readonly bytes: number
  readonly values: number
  /** What is told where there are more, instead of how many bytes would have been taken. */
  readonly tooLarge?: () => AppError
}
const usualBody: BodyLimits = { bytes: MAX_BODY_BYTES, values: 50_000 }
/** For whole workspaces, of which somebody sends one in a lifetime. */
export const largeBody: BodyLimits = { bytes: 8 * 1024 * 1024, values: 250_000 }
/** For a file, such as a paper with its pictures, written in a body. */
export const fileBody: BodyLimits = {
  bytes: 32 * 1024 * 1024,
  values: 1000,
  tooLarge: () => failure("upload_too_large", { most: "32 MB, which is 24 MB of a file in base64" }),
}
/** More than nearly all bodies have. To look through a larger one takes long enough to be felt. */
const LARGE = 64 * 1024
/** Deeper than any argument of a tool may be: what a recursive reader can break on is refused at the door. */
const MAX_DEPTH = 64
/** Of what is told about a body: its own words may be in it. */
const MAX_PROBLEM = 500
const UTF8 = new TextDecoder("utf-8", { fatal: true })

/** The JSON body of a request as its schema reads it. No body is the same as `{}`. */
export async function readBody<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
  limits = usualBody,
): Promise<z.infer<Schema>> {
  const text = await readText(c, limits)
  for (const _ of refusingMonsters(text, limits.values)) await ownTurn()
  const body = parseJson(text)
  refuseUnstorable(body)
  return check(schema, body)
}

/**
 * The same for a text that came by a socket. `isAnswer` says that a tool speaks, not a person: what cannot be stored of it
 * is mended, so that it can be told.
 */
export function readFrame<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  isAnswer: (frame: unknown) => boolean,
): z.infer<Schema> {
  for (const _ of refusingMonsters(text, usualBody.values));
  const frame = parseJson(text)
  if (!MAY_BE_UNSTORABLE.test(text)) return check(schema, frame)
  if (isAnswer(frame)) return check(schema, mendValue(frame))
  refuseUnstorable(frame)
  return check(schema, frame)
}

/** The query of a request as its schema reads it. `?cursor=` is the same as none. */
export function readQuery<Schema extends z.ZodType>(c: Context, schema: Schema): z.infer<Schema> {
  const given = Object.entries(c.req.query()).filter(([, value]) => value !== "")
  return check(schema, Object.fromEntries(given))
}

/** What a schema reads of a value; what does not fit is refused with where and why. */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.slice(0, 5).map(({ path, message }) => {
    const field = path.map(String).join(".")
    return shorten(field ? `${field}: ${message}` : message)
  })
  throw failure("bad_request", { problem: shorten(problems.join("; ")) })
}

const shorten = (text: string) =>
  text.length > MAX_PROBLEM ? `${text.slice(0, MAX_PROBLEM - 1).toWellFormed()}…` : text

async function readText(c: Context, limits: BodyLimits): Promise<string> {
  const bytes = await readBytes(c, limits)
  if (bytes.byteLength > LARGE) await ownTurn()
  try {
    return UTF8.decode(bytes)
  } catch {
    throw failure("bad_request", { problem: "The body is not UTF-8." })
  }
}

/** A whole body as it is, where it is not larger than it may be. */
export async function readBytes(
  c: Context,
  { bytes: most, ...limits }: Pick<BodyLimits, "bytes" | "tooLarge">,
): Promise<Uint8Array> {
  const told = () => failure("bad_request", { problem: `The body is larger than ${most} bytes.` })
  const tooLarge = limits.tooLarge ?? told
  const said = c.req.header("content-length")
  if (Number(said ?? 0) > most) throw tooLarge()
  // HTTP holds a sender to the length it has said, and reading in one go spares a stream.
  const reading = said === undefined ? readCounted(c, most, tooLarge) : c.req.raw.arrayBuffer()
  const bytes = await reading.catch((error: unknown) => {
    // Whoever hangs up in the middle is no fault of ours, and must not fill the log with what looks like one.
    throw error instanceof AppError ? error : failure("bad_request", { problem: "The body broke off before its end." })
  })
  if (bytes.byteLength > most) throw tooLarge()
  return bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)
}

let lastTurn = Promise.resolve()

/** Large bodies are looked through one in a turn of the event loop: thirty that come together hold nobody up for longer than one. */
function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
  return lastTurn
}

/** Counted while it comes: a sender that does not say how much there is must not fill the memory. */
async function readCounted(c: Context, most: number, tooLarge: () => Error): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of c.req.raw.body ?? []) {
    size += chunk.length
    if (size > most) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const [QUOTE, BACKSLASH, COMMA, ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [...'"\\,[]{}'].map((sign) =>
  sign.charCodeAt(0),
)

/** Characters looked through in one turn of the event loop, so that other requests are not held up. */
const SIGNS = 2 * 1024 * 1024

/**
 * Refuses what would take long to parse before it is parsed: one look at each sign, for JSON and for nonsense alike. Stops
 * now and then, so that others get their turn.
 */
function* refusingMonsters(text: string, most: number): Generator<void> {
  let depth = 0
  let values = 1
  let quoted = false
  let turn = SIGNS
  for (let at = 0; at < text.length; at++) {
    if (at >= turn) {
      turn += SIGNS
      yield
    }
    const sign = text.charCodeAt(at)
    if (quoted) {
      if (sign === BACKSLASH) at++
      else if (sign === QUOTE) quoted = false
    } else if (sign === QUOTE) quoted = true
    else if (sign === COMMA) values++
    else if (sign === ARRAY || sign === OBJECT) depth++
    else if (sign === ARRAY_END || sign === OBJECT_END) depth--
    if (depth > MAX_DEPTH) throw failure("bad_request", { problem: `The body is nested more than ${MAX_DEPTH} deep.` })
  }
  if (values > most) throw failure("bad_request", { problem: `The body holds more than ${most} values.` })
}

function parseJson(text: string): unknown {
  if (text.trim() === "") return {}
  try {
    return JSON.parse(text)
  } catch (error) {
    // The parser quotes what it could not read, which may be half a key.
    const problem = (error as Error).message.replace(/, (\.\.\.)?"[^]*"(\.\.\.)? is not/, " is not")
    throw failure("bad_request", { problem: `The body is not JSON: ${problem.slice(0, 200)}.` })
  }
}

/** How JSON writes what cannot be stored, among other things. As itself it is no UTF-8, or no JSON. */
const MAY_BE_UNSTORABLE = /\\u(?:0000|d[89a-f])/i

/** What people write is refused where it cannot be stored, never mended. */
function refuseUnstorable(body: unknown): void {
  const left: { value: unknown; field: string }[] = [{ value: body, field: "" }]
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, field } = next
    if (typeof value === "string" && !isStorable(value))
      throw failure("unstorable_text", { field: shorten(field) || "body" })
    if (typeof value !== "object" || value === null) continue
    for (const [key, inner] of Object.entries(value)) {
      if (!isStorable(key)) throw failure("unstorable_text", { field: shorten(field) || "body" })
      left.push({ value: inner, field: field ? `${field}.${key}` : key })
    }
  }
}
