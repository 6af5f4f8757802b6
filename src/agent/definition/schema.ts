/**
 * What we need of a schema library: the Standard Schema interfaces, which zod, valibot and arktype implement. Asking for
 * no more keeps zod (50 ms of start-up) out of the heart.
 */
export interface Schema<Output> {
  readonly "~standard": {
    validate(value: unknown): Checked<Output> | Promise<Checked<Output>>
    readonly jsonSchema: { input(options: { readonly target: "draft-07" }): Record<string, unknown> }
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

export type Checked<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] }

export interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Either the parsed value, or one sentence that names every problem so that the model can mend its call. */
export async function parse<Output>(
  schema: Schema<Output>,
  value: unknown,
): Promise<{ readonly value: Output } | { readonly problem: string }> {
  const judged = await parseNaming(schema, value)
  return "problem" in judged ? { problem: judged.problem } : judged
}

/** The same, with the names of the arguments that were refused. */
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

function toSentence({ path, message }: Issue): string {
  const where = (path ?? []).map(keyOf).join(".")
  return where ? `${where}: ${message}` : message
}

/**
 * Gives a schema the JSON schema that its library does not tell, for the model. The two have to agree: what the model is
 * told comes from `json`, what is let through from `schema`.
 */
export function withJsonSchema<Output>(
  schema: { readonly "~standard": Omit<Schema<Output>["~standard"], "jsonSchema"> },
  json: Record<string, unknown>,
): Schema<Output> {
  return { "~standard": { ...schema["~standard"], jsonSchema: { input: () => json } } }
}

/** Converting takes a millisecond, and there are a hundred tools: what was converted once is not converted again. */
const converted = new WeakMap<Schema<unknown>, Record<string, unknown>>()

/** What the model is told of a tool's arguments. Types are a promise, not a proof: whatever is wrong is said here, once. */
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
    // As JSON, because that is what a provider is sent: a field that has no place in it is found out now.
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
