import { withoutSecrets } from "../../../engine/calls/tool-end.ts"
import type { ToolQuestion } from "../../../engine/definition/tool.ts"
import { MAX_FIELDS, MAX_PARTS, type QuestionField } from "../../../protocol/conversation/questions.ts"
import { plainText } from "./server.ts"

const MAX_MESSAGE = 2000
const MAX_NAME = 64
const MAX_LABEL = 200
const MAX_ABOUT = 500
const MAX_OPTIONS = 50
const MAX_URL = 2000

/**
 * Converts a server's question to plain text and flat fields, with the address in full. Returns the reason if it cannot be
 * shown: nested, too long, or an address that is not a plain https URL. The reason numbers fields, because a server's text
 * must not appear in our sentence.
 */
export function toServerQuestion(
  request: unknown,
  { server, tool, secrets }: { readonly server: string; readonly tool: string; readonly secrets: readonly string[] },
): ToolQuestion | string {
  const { mode, message, requestedSchema, url } = (request ?? {}) as Record<string, unknown>
  const cleanText = (text: unknown, most: number): string =>
    typeof text === "string" ? plainText(withoutSecrets(text, secrets).slice(0, most)) : ""
  const common = { server, tool, message: cleanText(message, MAX_MESSAGE) }
  if (mode === "url") {
    const address = toAddress(url)
    if (address === undefined) return `its address is not a plain https address of at most ${MAX_URL} characters`
    if (withoutSecrets(address, secrets) !== address) return "its address holds what the server was sent in confidence"
    return { ...common, fields: [], url: address }
  }
  const { properties, required } = (requestedSchema ?? {}) as Record<string, unknown>
  const entries = Object.entries((properties ?? {}) as Record<string, unknown>)
  const needed: unknown[] = Array.isArray(required) ? required : []
  const most = MAX_FIELDS * MAX_PARTS
  if (entries.length > most) return `its form has ${entries.length} fields, and ${most} are the most`
  const fields: QuestionField[] = []
  for (const [index, [name, schema]] of entries.entries()) {
    const field = toField(name, schema, cleanText)
    if (typeof field === "string") return `field ${index + 1} ${field}`
    fields.push(field)
  }
  return { ...common, fields: fields.map((field) => ({ ...field, isRequired: needed.includes(field.name) })) }
}

type CleanText = (text: unknown, most: number) => string

function toField(name: string, schema: unknown, cleanText: CleanText): QuestionField | string {
  const definition = (schema ?? {}) as Record<string, unknown>
  // The name is sent back as it is, so it must equal what is shown.
  if (name === "" || name.length > MAX_NAME || cleanText(name, MAX_NAME) !== name || name === "__proto__")
    return `has a name that is empty, longer than ${MAX_NAME} characters, or holds characters that are not shown`
  const kind = toKind(definition)
  if (!kind) return "is neither a text, a number, a yes or no nor a choice"
  const options = toOptions(definition, cleanText)
  if ((kind === "choice" || kind === "choices") && (!options || options.length > MAX_OPTIONS))
    return `does not offer 1 to ${MAX_OPTIONS} plain texts to choose from`
  const about = cleanText(definition.description, MAX_ABOUT)
  const format = cleanText(definition.format, MAX_NAME)
  return {
    ...{ name, label: cleanText(definition.title, MAX_LABEL) || name, kind, isRequired: false },
    ...(about ? { about } : {}),
    ...(format ? { format } : {}),
    ...(kind === "choice" || kind === "choices" ? { options: options ?? [] } : {}),
    ...bound("least", definition.minimum ?? definition.minLength ?? definition.minItems),
    ...bound("most", definition.maximum ?? definition.maxLength ?? definition.maxItems),
  }
}

function toKind(schema: Record<string, unknown>): QuestionField["kind"] | undefined {
  switch (schema.type) {
    case "string":
      return Array.isArray(schema.enum) || Array.isArray(schema.oneOf) ? "choice" : "text"
    case "number":
    case "integer":
    case "boolean":
      return schema.type
    case "array":
      return "choices"
    default:
      return undefined
  }
}

/** The four notations of options. Undefined if one differs from what would be shown. */
function toOptions(schema: Record<string, unknown>, cleanText: CleanText): QuestionField["options"] {
  const {
    enum: plain,
    enumNames,
    oneOf,
    anyOf,
  } = { ...((schema.items as object) ?? {}), ...schema } as Record<string, unknown>
  const titled = oneOf ?? anyOf
  const names: unknown[] = Array.isArray(enumNames) ? enumNames : []
  const pairs: (readonly [unknown, unknown])[] = Array.isArray(titled)
    ? titled.map((each) => [(each as { const?: unknown }).const, (each as { title?: unknown }).title])
    : Array.isArray(plain)
      ? plain.map((value, at) => [value, names[at]])
      : []
  const options = pairs.flatMap(([value, label]) =>
    typeof value === "string" && cleanText(value, MAX_LABEL) === value
      ? [{ value, label: cleanText(label, MAX_LABEL) || value }]
      : [],
  )
  return options.length === pairs.length && options.length > 0 ? options : undefined
}

const bound = (name: "least" | "most", value: unknown) =>
  typeof value === "number" && Number.isFinite(value) ? { [name]: value } : {}

/** Only https, without credentials, and in canonical spelling. */
function toAddress(url: unknown): string | undefined {
  if (typeof url !== "string" || url.length > MAX_URL || !URL.canParse(url)) return undefined
  const { protocol, username, password, href } = new URL(url)
  return protocol === "https:" && !username && !password && href.length <= MAX_URL ? href : undefined
}
