import type { Context } from "hono"
import type { z } from "zod"
import { AppError, failure } from "../../protocol/errors.ts"
import { MAX_BODY_BYTES } from "../../protocol/requests.ts"
import { JsonLimitError, type JsonLimits, jsonLimits, readJson, readJsonInTurns } from "../../shared/text/read-json.ts"
import { isStorable, mendValue } from "../../shared/text/text.ts"

/** What a body may hold. */
export interface BodyLimits {
  readonly bytes: number
  readonly json: JsonLimits
  /** The error for a body with more bytes, instead of one that says how many it may have. */
  readonly tooLarge?: () => AppError
}
const usualBody: BodyLimits = { bytes: MAX_BODY_BYTES, json: jsonLimits.message }
/** For whole workspaces, of which somebody sends one in a lifetime. */
export const largeBody: BodyLimits = { bytes: jsonLimits.workspace.characters, json: jsonLimits.workspace }
/** For a file, such as a paper with its pictures, written in a body. */
export const fileBody: BodyLimits = {
  bytes: jsonLimits.file.characters,
  json: jsonLimits.file,
  tooLarge: () => failure("upload_too_large", { most: "32 MB, which is 24 MB of a file in base64" }),
}
/** More than nearly all bodies have. To look through a larger one takes long enough to be felt. */
const LARGE = 64 * 1024
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
  const body = await parseBody(text, limits.json)
  refuseUnstorable(body)
  return check(schema, body)
}

/** A text that came by a socket, as the JSON it is. `mayBeLarge`: an answer that was asked for may hold as much as a whole workspace. */
export function parseFrame(text: string, { mayBeLarge }: { readonly mayBeLarge: boolean }): unknown {
  if (text.trim() === "") return {}
  try {
    return readJson(text, mayBeLarge ? jsonLimits.workspace : jsonLimits.message)
  } catch (error) {
    throw toRefusal(error)
  }
}

/**
 * What a schema reads of a parsed frame. `isAnswer`: a tool speaks, not a person, so what cannot be stored is mended and
 * can still be reported.
 */
export function readFrame<Schema extends z.ZodType>(
  { text, frame, isAnswer }: { readonly text: string; readonly frame: unknown; readonly isAnswer: boolean },
  schema: Schema,
): z.infer<Schema> {
  if (!MAY_BE_UNSTORABLE.test(text)) return check(schema, frame)
  if (isAnswer) return check(schema, mendValue(frame))
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
    throw error instanceof AppError
      ? error
      : failure("bad_request", { problem: "The request body ended too early. Send it again." })
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

async function parseBody(text: string, limits: JsonLimits): Promise<unknown> {
  if (text.trim() === "") return {}
  try {
    return await readJsonInTurns(text, limits, ownTurn)
  } catch (error) {
    throw toRefusal(error)
  }
}

function toRefusal(error: unknown): AppError {
  const { message } = error as Error
  if (error instanceof JsonLimitError) return failure("bad_request", { problem: `The body is too large: ${message}.` })
  // The parser quotes what it could not read, which may be half a key.
  const problem = message.replace(/, (\.\.\.)?"[^]*"(\.\.\.)? is not/, " is not")
  return failure("bad_request", { problem: `The body is not JSON: ${problem.slice(0, 200)}.` })
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
