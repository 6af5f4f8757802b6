import type { Context } from "hono"
import type { z } from "zod"
import { failure } from "../protocol/errors.ts"
import { isStorable, mendValue } from "../protocol/text.ts"

const MAX_BYTES = 1024 * 1024
/** Deeper than any argument of a tool may be: what a recursive reader can break on is refused at the door. */
const MAX_DEPTH = 64
/** A complaint about a thousand names need not repeat them all. */
const MAX_PROBLEM = 500
const UTF8 = new TextDecoder("utf-8", { fatal: true })

/** The JSON body of a request as its schema reads it. No body is the same as `{}`. */
export async function readBody<Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.infer<Schema>> {
  return check(schema, readJson(await readText(c)))
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
  return check(schema, readJson(text, isAnswer))
}

/** The query of a request as its schema reads it. `?cursor=` is the same as none. */
export function readQuery<Schema extends z.ZodType>(c: Context, schema: Schema): z.infer<Schema> {
  const given = Object.entries(c.req.query()).filter(([, value]) => value !== "")
  return check(schema, Object.fromEntries(given))
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.slice(0, 5).map(({ path, message }) => {
    const field = path.map(String).join(".")
    return (field ? `${field}: ${message}` : message).slice(0, MAX_PROBLEM)
  })
  throw failure("bad_request", { problem: problems.join("; ") })
}

async function readText(c: Context): Promise<string> {
  const tooLarge = () => failure("bad_request", { problem: `The body is larger than ${MAX_BYTES} bytes.` })
  const said = c.req.header("content-length")
  if (Number(said ?? 0) > MAX_BYTES) throw tooLarge()
  // HTTP holds a sender to the length it has said, and reading in one go spares a stream.
  const bytes = said === undefined ? await readCounted(c, tooLarge) : await c.req.raw.arrayBuffer()
  if (bytes.byteLength > MAX_BYTES) throw tooLarge()
  try {
    return UTF8.decode(bytes)
  } catch {
    throw failure("bad_request", { problem: "The body is not UTF-8." })
  }
}

/** Counted while it comes: a sender that does not say how much there is must not fill the memory. */
async function readCounted(c: Context, tooLarge: () => Error): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of c.req.raw.body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
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

/** By its letters first: most texts hold nothing to look for, and what is made of very many small things takes long to walk. */
function readJson(text: string, isAnswer: (value: unknown) => boolean = () => false): unknown {
  refuseDepth(text)
  const value = parseJson(text)
  if (!MAY_BE_UNSTORABLE.test(text)) return value
  if (isAnswer(value)) return mendValue(value)
  refuseUnstorable(value)
  return value
}

/** How JSON writes what cannot be stored, among other things. As itself it is no UTF-8, or no JSON. */
const MAY_BE_UNSTORABLE = /\\u(?:0000|d[89a-f])/i

const [QUOTE, BACKSLASH, BRACKET, BRACE] = [0x22, 0x5c, 0x5b, 0x7b]

/** Deeper than this a recursive reader can break. */
function refuseDepth(text: string): void {
  let [depth, quoted] = [0, false]
  for (let i = 0; i < text.length; i++) {
    const letter = text.charCodeAt(i)
    if (letter === QUOTE) quoted = !quoted
    else if (letter === BACKSLASH) i++
    else if (quoted) continue
    else if (letter === BRACE || letter === BRACKET) depth++
    else if (letter === BRACE + 2 || letter === BRACKET + 2) depth--
    if (depth > MAX_DEPTH) throw failure("bad_request", { problem: `The body is nested more than ${MAX_DEPTH} deep.` })
  }
}

/** What people write is refused where it cannot be stored, never mended. */
function refuseUnstorable(body: unknown): void {
  const left: { value: unknown; field: string }[] = [{ value: body, field: "" }]
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, field } = next
    if (typeof value === "string" && !isStorable(value)) throw failure("unstorable_text", { field: field || "body" })
    if (typeof value !== "object" || value === null) continue
    for (const key in value) {
      if (!isStorable(key)) throw failure("unstorable_text", { field: field || "body" })
      const inner = (value as Record<string, unknown>)[key]
      if (typeof inner === "string" || typeof inner === "object")
        left.push({ value: inner, field: field ? `${field}.${key}` : key })
    }
  }
}
