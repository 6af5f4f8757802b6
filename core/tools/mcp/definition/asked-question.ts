import { withoutSecrets } from "../../../engine/calls/tool-end.ts"
import type { ToolQuestion } from "../../../engine/definition/tool.ts"
import { MAX_FIELDS, MAX_PARTS, type QuestionField } from "../../../protocol/conversation/questions.ts"
import { plainWords } from "./server.ts"

const MAX_MESSAGE = 2000
const MAX_NAME = 64
const MAX_LABEL = 200
const MAX_ABOUT = 500
const MAX_OPTIONS = 50
const MAX_URL = 2000

/**
 * What a server asks, as a person may be shown it: plain words, flat fields, an address in full. For a question that is
 * nested, too long or an address that is not what it looks like, the reason why nobody is asked. The reason names fields by
 * their number: a server's words do not stand in a sentence of ours.
 */
export function toAskedQuestion(
  asked: unknown,
  { server, tool, secrets }: { readonly server: string; readonly tool: string; readonly secrets: readonly string[] },
): ToolQuestion | string {
  const { mode, message, requestedSchema, url } = (asked ?? {}) as Record<string, unknown>
  const words = (text: unknown, most: number): string =>
    typeof text === "string" ? plainWords(withoutSecrets(text, secrets).slice(0, most)) : ""
  const common = { server, tool, message: words(message, MAX_MESSAGE) }
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
    const field = toField(name, schema, words)
    if (typeof field === "string") return `field ${index + 1} ${field}`
    fields.push(field)
  }
  return { ...common, fields: fields.map((field) => ({ ...field, isRequired: needed.includes(field.name) })) }
}

type Words = (text: unknown, most: number) => string

function toField(name: string, schema: unknown, words: Words): QuestionField | string {
  const given = (schema ?? {}) as Record<string, unknown>
  // It is sent back as it is, so it has to be what is shown.
  if (name === "" || name.length > MAX_NAME || words(name, MAX_NAME) !== name || name === "__proto__")
    return `has a name that is empty, longer than ${MAX_NAME} characters, or holds characters that are not shown`
  const kind = toKind(given)
  if (!kind) return "is neither a text, a number, a yes or no nor a choice"
  const options = toOptions(given, words)
  if ((kind === "choice" || kind === "choices") && (!options || options.length > MAX_OPTIONS))
    return `does not offer 1 to ${MAX_OPTIONS} plain texts to choose from`
  const about = words(given.description, MAX_ABOUT)
  const format = words(given.format, MAX_NAME)
  return {
    ...{ name, label: words(given.title, MAX_LABEL) || name, kind, isRequired: false },
    ...(about ? { about } : {}),
    ...(format ? { format } : {}),
    ...(kind === "choice" || kind === "choices" ? { options: options ?? [] } : {}),
    ...bound("least", given.minimum ?? given.minLength ?? given.minItems),
    ...bound("most", given.maximum ?? given.maxLength ?? given.maxItems),
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

/** The four ways to write them. Undefined where one is not what it shows. */
function toOptions(schema: Record<string, unknown>, words: Words): QuestionField["options"] {
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
    typeof value === "string" && words(value, MAX_LABEL) === value
      ? [{ value, label: words(label, MAX_LABEL) || value }]
      : [],
  )
  return options.length === pairs.length && options.length > 0 ? options : undefined
}

const bound = (name: "least" | "most", value: unknown) =>
  typeof value === "number" && Number.isFinite(value) ? { [name]: value } : {}

/** Only over TLS, without a name and a password before the host, and spelled as it is looked up. */
function toAddress(url: unknown): string | undefined {
  if (typeof url !== "string" || url.length > MAX_URL || !URL.canParse(url)) return undefined
  const { protocol, username, password, href } = new URL(url)
  return protocol === "https:" && !username && !password && href.length <= MAX_URL ? href : undefined
}
