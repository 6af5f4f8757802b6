import { withoutSecrets } from "../agent/calls/without-secrets.ts"
import { type Answer, answer, failed } from "../agent/definition/tool.ts"
import { plainWords } from "./definition/tool-facts.ts"

/** Characters of all texts of a result together: what is longer is cut before it is looked at, and again where it is kept. */
const MAX_TEXT = 200_000

/** What a server has answered, as words. Nothing in it is taken for more than words. */
export function toAnswer(result: unknown, secrets: readonly string[]): Answer {
  const { content, structuredContent, isError } = (result ?? {}) as Record<string, unknown>
  const blocks: unknown[] = Array.isArray(content) ? content : []
  const words = blocks.map(toWords).filter((text) => text !== "")
  if (words.length === 0 && structuredContent !== undefined) words.push(JSON.stringify(structuredContent))
  const text = plainWords(withoutSecrets(words.join("\n\n").slice(0, MAX_TEXT), secrets)) || "[It answered nothing.]"
  return isError === true ? failed(text) : answer(text)
}

function toWords(block: unknown): string {
  const { type, text, data, mimeType, resource, uri, name } = (block ?? {}) as Record<string, unknown>
  switch (type) {
    case "text":
      return typeof text === "string" ? text : ""
    case "image":
    case "audio":
      return notShown(type === "image" ? "An image" : "A sound", mimeType, data)
    case "resource": {
      const { text: words, blob, mimeType: kind, uri: address } = (resource ?? {}) as Record<string, unknown>
      if (typeof words === "string") return `[${said(address)}]\n${words}`
      return notShown(`A file, ${said(address)}`, kind, blob)
    }
    case "resource_link":
      return `[A link to ${said(name)}: ${said(uri)}]`
    default:
      return `[Something that is not shown: ${said(type)}.]`
  }
}

const said = (value: unknown): string => (typeof value === "string" ? value.slice(0, 200) : "unnamed")

function notShown(what: string, kind: unknown, base64: unknown): string {
  const bytes = typeof base64 === "string" ? Math.floor((base64.length * 3) / 4) : 0
  return `[${what} (${said(kind)}, ${bytes} bytes) that is not shown.]`
}
