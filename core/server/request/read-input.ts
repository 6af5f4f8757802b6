import type { Context } from "hono"
import type { z } from "zod"
import { AppError, failure } from "../../protocol/errors.ts"
import { MAX_BODY_BYTES } from "../../protocol/requests.ts"
import { JsonLimitError, type JsonLimits, jsonLimits, readJson, readJsonInTurns } from "../../shared/text/read-json.ts"
import { isStorable, mendValue } from "../../shared/text/text.ts"

interface BodyLimits {
  readonly bytes: number
  readonly json: JsonLimits
  /** The error for a larger body. Default: one that names the limit. */
  readonly tooLarge?: () => AppError
}
const usualBody: BodyLimits = { bytes: MAX_BODY_BYTES, json: jsonLimits.message }
/** For a whole workspace. */
export const largeBody: BodyLimits = { bytes: jsonLimits.workspace.characters, json: jsonLimits.workspace }
/** For a file in a JSON body, such as a paper with its images. */
export const fileBody: BodyLimits = {
  bytes: jsonLimits.file.characters,
  json: jsonLimits.file,
  tooLarge: () => failure("upload_too_large", { most: "32 MB, which is 24 MB of a file in base64" }),
}
/** Larger than nearly all bodies. Parsing a larger one takes noticeable time. */
const LARGE = 64 * 1024
/** Bounds error messages, which may quote the body. */
const MAX_PROBLEM = 500
const UTF8 = new TextDecoder("utf-8", { fatal: true })

/** Parses and validates the JSON body of a request. An empty body is `{}`. */
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

/** Parses a frame of a socket. `mayBeLarge`: a requested result may be as large as a whole workspace. */
export function parseFrame(text: string, { mayBeLarge }: { readonly mayBeLarge: boolean }): unknown {
  if (text.trim() === "") return {}
  try {
    return readJson(text, mayBeLarge ? jsonLimits.workspace : jsonLimits.message)
  } catch (error) {
    throw toRefusal(error)
  }
}

/** Validates a parsed frame. `isAnswer`: a tool's result, so text that cannot be stored is repaired instead of refused. */
export function readFrame<Schema extends z.ZodType>(
  { text, frame, isAnswer }: { readonly text: string; readonly frame: unknown; readonly isAnswer: boolean },
  schema: Schema,
): z.infer<Schema> {
  if (!MAY_BE_UNSTORABLE.test(text)) return check(schema, frame)
  if (isAnswer) return check(schema, mendValue(frame))
  refuseUnstorable(frame)
  return check(schema, frame)
}

/** Validates the query of a request. `?cursor=` is the same as no cursor. */
export function readQuery<Schema extends z.ZodType>(c: Context, schema: Schema): z.infer<Schema> {
  const params = Object.entries(c.req.query()).filter(([, value]) => value !== "")
  return check(schema, Object.fromEntries(params))
}

/** Validates a value. Throws `bad_request` with where and why it does not fit. */
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
  if (bytes.byteLength > LARGE) await nextTurn()
  try {
    return UTF8.decode(bytes)
  } catch {
    throw failure("bad_request", { problem: "The body is not UTF-8." })
  }
}

/** Reads a whole body of limited size. */
export async function readBytes(
  c: Context,
  { bytes: most, ...limits }: Pick<BodyLimits, "bytes" | "tooLarge">,
): Promise<Uint8Array> {
  const tooManyBytes = () => failure("bad_request", { problem: `The body is larger than ${most} bytes.` })
  const tooLarge = limits.tooLarge ?? tooManyBytes
  const lengthHeader = c.req.header("content-length")
  if (Number(lengthHeader ?? 0) > most) throw tooLarge()
  // Node enforces the declared length, and reading it at once is faster than a stream.
  const reading = lengthHeader === undefined ? readCounted(c, most, tooLarge) : c.req.raw.arrayBuffer()
  const bytes = await reading.catch((error: unknown) => {
    // A client that disconnects is no server error, and must not appear in the log as one.
    throw error instanceof AppError
      ? error
      : failure("bad_request", { problem: "The request body ended too early. Send it again." })
  })
  if (bytes.byteLength > most) throw tooLarge()
  return bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)
}

let lastTurn = Promise.resolve()

/** Large bodies are parsed one per turn of the event loop: thirty at once block others no longer than one. */
function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
  return lastTurn
}

/** Counted while it is read: without a declared length it must not fill the memory. */
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
    return await readJsonInTurns(text, limits, nextTurn)
  } catch (error) {
    throw toRefusal(error)
  }
}

function toRefusal(error: unknown): AppError {
  const { message } = error as Error
  if (error instanceof JsonLimitError) return failure("bad_request", { problem: `The body is too large: ${message}.` })
  // The parser quotes its input, which may contain part of a secret.
  const problem = message.replace(/, (\.\.\.)?"[^]*"(\.\.\.)? is not/, " is not")
  return failure("bad_request", { problem: `The body is not JSON: ${problem.slice(0, 200)}.` })
}

/** The JSON escapes of text that may not be storable. Unescaped it would be invalid UTF-8 or JSON. */
const MAY_BE_UNSTORABLE = /\\u(?:0000|d[89a-f])/i

/** A person's text is refused if it cannot be stored, never changed. */
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
