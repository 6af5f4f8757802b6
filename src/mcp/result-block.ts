import { withoutSecrets } from "../agent/calls/without-secrets.ts"

/** One block of a result: words, or bytes that are kept as a file. */
export type ResultBlock =
  | { readonly type: "words"; readonly text: string }
  | { readonly type: "bytes"; readonly what: string; readonly name: string; readonly bytes: Uint8Array }

/** A text that came as a file and is longer is kept as one: the model is shown of it what there is room for. */
const MAX_WORDS_OF_FILE = 8000
/** Characters of what a server calls something. */
const MAX_SAID = 200

interface Naming {
  /** What it is called where its server does not say. */
  readonly name: string
  /** Hidden before anything is cut: of one that stands over the cut the beginning would be shown. */
  readonly secrets: readonly string[]
}

/** What a server has put into its result. What it says of the kind of something counts for nothing. */
export function toBlock(block: unknown, { name, secrets }: Naming): ResultBlock {
  const plain = (value: unknown) => (typeof value === "string" ? withoutSecrets(value, secrets) : undefined)
  const said = (value: unknown) => plain(value)?.slice(0, MAX_SAID) ?? "unnamed"
  const { type, text, data, resource, uri, name: title } = (block ?? {}) as Record<string, unknown>
  switch (type) {
    case "text":
      return words(typeof text === "string" ? text : "")
    case "image":
    case "audio":
      return fromBase64(data, { what: type === "image" ? "An image" : "A sound", name })
    case "resource":
      return toResource(resource, { name, plain, said })
    case "resource_link":
      return words(`[A link to ${said(title)}: ${said(uri)}. It was not followed.]`)
    default:
      return words(`[Something that is not shown: ${said(type)}.]`)
  }
}

function toResource(
  resource: unknown,
  { name, plain, said }: { name: string; plain(value: unknown): string | undefined; said(value: unknown): string },
): ResultBlock {
  const { text, blob, uri } = (resource ?? {}) as Record<string, unknown>
  const file = { what: `A file, ${said(uri)},`, name: nameIn(plain(uri)) || name }
  if (typeof text !== "string") return fromBase64(blob, file)
  if (text.length > MAX_WORDS_OF_FILE) return { type: "bytes", ...file, bytes: Buffer.from(text.toWellFormed()) }
  return words(`[${said(uri)}]\n${text}`)
}

function fromBase64(base64: unknown, file: { readonly what: string; readonly name: string }): ResultBlock {
  const bytes = Buffer.from(typeof base64 === "string" ? base64 : "", "base64")
  return bytes.length === 0 ? words(`[${file.what} that is empty.]`) : { type: "bytes", ...file, bytes }
}

/** The last part of an address; what it is called in the end is for whoever keeps it to say. */
function nameIn(uri = ""): string {
  const path = uri.slice(0, 2000).replace(/[?#].*$/s, "")
  const last = path.split(/[/\\]/).at(-1) ?? ""
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

const words = (text: string): ResultBlock => ({ type: "words", text })
