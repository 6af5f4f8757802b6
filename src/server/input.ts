import type { Context } from "hono"
import type { z } from "zod"
import { failure } from "../protocol/errors.ts"
import { isStorable, mendValue } from "../protocol/text.ts"

const MAX_BYTES = 1024 * 1024
/** Deeper than any argument of a tool may be: what a recursive reader can break on is refused at the door. */
const MAX_DEPTH = 64
const UTF8 = new TextDecoder("utf-8", { fatal: true })

/** The JSON body of a request as its schema reads it. No body is the same as `{}`. */
export async function readBody<Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.infer<Schema>> {
  const body = parseJson(await readText(c))
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
  const frame = parseJson(text)
  const mended = isAnswer(frame)
  refuseUnstorable(frame, mended)
  return check(schema, mended ? mendValue(frame) : frame)
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
    return field ? `${field}: ${message}` : message
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

/** What people write is refused where it cannot be stored, never mended. Without recursion, as the depth is theirs. */
function refuseUnstorable(body: unknown, mended = false): void {
  const left: { value: unknown; field: string; depth: number }[] = [{ value: body, field: "", depth: 0 }]
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, field, depth } = next
    if (!mended && typeof value === "string" && !isStorable(value))
      throw failure("unstorable_text", { field: field || "body" })
    if (typeof value !== "object" || value === null) continue
    if (depth >= MAX_DEPTH) throw failure("bad_request", { problem: `The body is nested more than ${MAX_DEPTH} deep.` })
    for (const [key, inner] of Object.entries(value)) {
      if (!mended && !isStorable(key)) throw failure("unstorable_text", { field: field || "body" })
      left.push({ value: inner, field: field ? `${field}.${key}` : key, depth: depth + 1 })
    }
  }
}
