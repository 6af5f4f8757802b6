import { withoutSecrets } from "../../agent/calls/without-secrets.ts"
import type { AskedQuestion } from "../../agent/definition/lasting.ts"
import { MAX_FIELDS, type QuestionField } from "../../protocol/conversation/questions.ts"
import { plainWords } from "./tool-facts.ts"

const MAX_MESSAGE = 2000
const MAX_NAME = 64
const MAX_LABEL = 200
const MAX_ABOUT = 500
const MAX_OPTIONS = 50
const MAX_URL = 2000

/**
 * What a server asks, as a person may be shown it: plain words, a few flat fields, an address in full. Undefined for what
 * nobody is asked: what is nested or too much, and addresses that are not what they look like.
 */
export function toAskedQuestion(
  asked: unknown,
  { server, tool, secrets }: { readonly server: string; readonly tool: string; readonly secrets: readonly string[] },
): AskedQuestion | undefined {
  const { mode, message, requestedSchema, url } = (asked ?? {}) as Record<string, unknown>
  const words = (text: unknown, most: number): string =>
    typeof text === "string" ? plainWords(withoutSecrets(text, secrets).slice(0, most)) : ""
  const common = { server, tool, message: words(message, MAX_MESSAGE) }
  if (mode === "url") {
    const address = toAddress(url)
    if (address === undefined || withoutSecrets(address, secrets) !== address) return undefined
    return { ...common, fields: [], url: address }
  }
  const { properties, required } = (requestedSchema ?? {}) as Record<string, unknown>
  const entries = Object.entries((properties ?? {}) as Record<string, unknown>)
  const needed: unknown[] = Array.isArray(required) ? required : []
  if (entries.length > MAX_FIELDS) return undefined
  const fields = entries.flatMap(([field, schema]) => toField(field, schema, words) ?? [])
  if (fields.length < entries.length) return undefined
  return { ...common, fields: fields.map((field) => ({ ...field, isRequired: needed.includes(field.name) })) }
}

type Words = (text: unknown, most: number) => string

function toField(name: string, schema: unknown, words: Words): QuestionField | undefined {
  const given = (schema ?? {}) as Record<string, unknown>
  // It is sent back as it is, so it has to be what is shown.
  if (name === "" || name.length > MAX_NAME || words(name, MAX_NAME) !== name || name === "__proto__") return undefined
  const kind = toKind(given)
  if (!kind) return undefined
  const options = toOptions(given, words)
  if ((kind === "choice" || kind === "choices") && (!options || options.length > MAX_OPTIONS)) return undefined
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
