/** One block of a result: words, or bytes that are kept as a file. */
export type ResultBlock =
  | { readonly type: "words"; readonly text: string }
  | { readonly type: "bytes"; readonly what: string; readonly name: string; readonly bytes: Uint8Array }

/** A text that came as a file and is longer is kept as one: the model is shown of it what there is room for. */
const MAX_WORDS_OF_FILE = 8000

/** What a server has put into its result. What it says of the kind of something counts for nothing. */
export function toBlock(block: unknown, name: string): ResultBlock {
  const { type, text, data, resource, uri, name: title } = (block ?? {}) as Record<string, unknown>
  switch (type) {
    case "text":
      return words(typeof text === "string" ? text : "")
    case "image":
    case "audio":
      return fromBase64(data, { what: type === "image" ? "An image" : "A sound", name })
    case "resource":
      return toResource(resource, name)
    case "resource_link":
      return words(`[A link to ${said(title)}: ${said(uri)}. It was not followed.]`)
    default:
      return words(`[Something that is not shown: ${said(type)}.]`)
  }
}

function toResource(resource: unknown, name: string): ResultBlock {
  const { text, blob, uri } = (resource ?? {}) as Record<string, unknown>
  const file = { what: `A file, ${said(uri)},`, name: nameIn(uri) || name }
  if (typeof text !== "string") return fromBase64(blob, file)
  if (text.length > MAX_WORDS_OF_FILE) return { type: "bytes", ...file, bytes: Buffer.from(text.toWellFormed()) }
  return words(`[${said(uri)}]\n${text}`)
}

function fromBase64(base64: unknown, file: { readonly what: string; readonly name: string }): ResultBlock {
  const bytes = Buffer.from(typeof base64 === "string" ? base64 : "", "base64")
  return bytes.length === 0 ? words(`[${file.what} that is empty.]`) : { type: "bytes", ...file, bytes }
}

/** The last part of an address; what it is called in the end is for whoever keeps it to say. */
function nameIn(uri: unknown): string {
  const path = typeof uri === "string" ? uri.slice(0, 2000).replace(/[?#].*$/s, "") : ""
  const last = path.split(/[/\\]/).at(-1) ?? ""
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

const words = (text: string): ResultBlock => ({ type: "words", text })

const said = (value: unknown): string => (typeof value === "string" ? value.slice(0, 200) : "unnamed")
