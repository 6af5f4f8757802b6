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

type Checked<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] }

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Either the parsed value, or one sentence that names every problem so that the model can mend its call. */
export async function parse<Output>(
  schema: Schema<Output>,
  value: unknown,
): Promise<{ readonly value: Output } | { readonly problem: string }> {
  const checked = await schema["~standard"].validate(value)
  if (!checked.issues) return { value: checked.value }
  return { problem: checked.issues.slice(0, 10).map(toSentence).join("; ") }
}

function toSentence({ path, message }: Issue): string {
  const where = (path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".")
  return where ? `${where}: ${message}` : message
}
