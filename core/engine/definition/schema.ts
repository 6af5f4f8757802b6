/**
 * The Standard Schema interface, which zod, valibot and arktype implement. Requiring no more keeps zod (50 ms of
 * start-up time) out of the core.
 */
export interface Schema<Output> {
  readonly "~standard": {
    validate(value: unknown): ValidationResult<Output> | Promise<ValidationResult<Output>>
    readonly jsonSchema: { input(options: { readonly target: "draft-07" }): Record<string, unknown> }
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** The result of validating a value: the parsed value, or the problems. Part of the Standard Schema interface. */
export type ValidationResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly ValidationIssue[] }

/**
 * One problem that validation found: a message, and the path of the invalid field. Part of the Standard Schema
 * interface.
 */
export interface ValidationIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Parses a value, or throws one sentence that names every problem, so that the model can correct its call. */
export async function parse<Output>(
  schema: Schema<Output>,
  value: unknown,
): Promise<{ readonly value: Output } | { readonly problem: string }> {
  const judged = await parseNaming(schema, value)
  return "problem" in judged ? { problem: judged.problem } : judged
}

/** Like `parse`, and also returns the names of the rejected arguments. */
export async function parseNaming<Output>(
  schema: Schema<Output>,
  value: unknown,
): Promise<{ readonly value: Output } | { readonly problem: string; readonly refused: ReadonlySet<string> }> {
  const checked = await schema["~standard"].validate(value)
  if (!checked.issues) return { value: checked.value }
  const refused = new Set(checked.issues.flatMap(({ path }) => (path?.[0] === undefined ? [] : [keyOf(path[0])])))
  return { problem: checked.issues.slice(0, 10).map(toSentence).join("; "), refused }
}

const keyOf = (step: PropertyKey | { readonly key: PropertyKey }) => String(typeof step === "object" ? step.key : step)

/** Limits for the sentence: arguments can have thousands of fields and very long names. */
const MAX_UNKNOWN = 5
const MAX_NAME = 100
const MAX_MESSAGE = 4000

/** Formats an issue as a sentence of limited length, with its path and at most five unknown names. */
export function toSentence(issue: ValidationIssue): string {
  const where = cut((issue.path ?? []).map(keyOf).join("."), 2 * MAX_NAME)
  const message = cut(unknownNames(issue) ?? issue.message, MAX_MESSAGE)
  return where ? `${where}: ${message}` : message
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text)

/**
 * Lists unknown fields. Undefined for other issues, or if the schema has its own message. zod would name every unknown
 * field.
 */
function unknownNames(issue: ValidationIssue): string | undefined {
  const { code, keys } = issue as { readonly code?: unknown; readonly keys?: readonly string[] }
  if (code !== "unrecognized_keys" || !keys || !issue.message.startsWith("Unrecognized key")) return undefined
  const named = keys.slice(0, MAX_UNKNOWN).map((key) => JSON.stringify(cut(key, MAX_NAME)))
  const more = keys.length - named.length
  return `Unrecognized key${keys.length > 1 ? "s" : ""}: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

/**
 * Adds a JSON schema to a schema whose library cannot generate one. Both must agree: the model sees `json`, and
 * arguments are validated with `schema`.
 *
 * @example
 * const text = { "~standard": { version: 1, vendor: "own", validate: (value: unknown) => ({ value: String(value) }) } } as const
 * const input = withJsonSchema(text, { type: "string" })
 * console.log(input["~standard"].jsonSchema.input({ target: "draft-07" }).type) // string
 */
export function withJsonSchema<Output>(
  schema: { readonly "~standard": Omit<Schema<Output>["~standard"], "jsonSchema"> },
  json: Record<string, unknown>,
): Schema<Output> {
  return { "~standard": { ...schema["~standard"], jsonSchema: { input: () => json } } }
}

/** Converting takes a millisecond, and there are a hundred tools, so results are cached. */
const converted = new WeakMap<Schema<unknown>, Record<string, unknown>>()

/**
 * Converts the schema of a tool's arguments to JSON Schema for the model. Throws a `TypeError` if the schema does not
 * support it.
 */
export function toJsonSchema(tool: string, schema: Schema<unknown>): Record<string, unknown> {
  const refuse = (problem: string) => new TypeError(`Tool "${tool}": ${problem}`)
  const standard = (schema as Partial<Schema<unknown>> | undefined)?.["~standard"]
  if (typeof standard?.validate !== "function")
    throw refuse(
      "its input must be a schema that speaks Standard Schema, such as z.object({ … }) of zod. A plain JSON schema " +
        "checks nothing by itself; for no arguments, give an empty object schema.",
    )
  if (typeof standard.jsonSchema?.input !== "function")
    throw refuse(
      "its input schema can check arguments but cannot tell the model about them: its library has no JSON schema under " +
        '"~standard". Use a version that has (zod from 4.2), its own converter, or withJsonSchema(schema, { type: "object", … }).',
    )
  const known = converted.get(schema)
  if (known) return known
  const { $schema: _, ...json } = convert(standard.jsonSchema, refuse)
  if (json.type === "object") {
    converted.set(schema, json)
    return json
  }
  const found = typeof json.type === "string" ? `one of type "${json.type}"` : `one of ${Object.keys(json).join(", ")}`
  throw refuse(`its input must be an object schema, not ${found}. Put it into a field of an object.`)
}

function convert({ input }: Schema<unknown>["~standard"]["jsonSchema"], refuse: (problem: string) => TypeError) {
  let json: unknown
  try {
    // As JSON, because that is what a provider is sent: a field that JSON cannot represent is detected now.
    json = JSON.parse(JSON.stringify(input({ target: "draft-07" })) ?? "null")
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw refuse(
      `its input has a type that has no JSON schema, so a model could not send it: ${problem} Take what JSON has, such ` +
        "as a string for a date, and convert it in `run` or with a transform.",
    )
  }
  if (typeof json === "object" && json !== null && !Array.isArray(json)) return json as Record<string, unknown>
  throw refuse("what its input schema gives as its JSON schema is not an object.")
}
