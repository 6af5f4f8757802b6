type Load = () => Promise<unknown>

const parts = new Set<Load>()

/**
 * A part of the code that most first turns do without, loaded when it is first needed: at the latest a moment after the
 * start, by `loadLateParts` (decision 084). One that could not be loaded is tried again.
 */
export function latePart<Part>(load: () => Promise<Part>): () => Promise<Part> {
  let loading: Promise<Part> | undefined
  const get = () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    }))
  parts.add(get)
  return get
}

/**
 * Loads all of them, one after the other. A server runs for weeks, and its files may be those of another version by then:
 * what it needs in the middle of a turn must not have to be read from there. One that cannot be loaded keeps none of the
 * others from being; the first such error is thrown when all were tried.
 */
export async function loadLateParts(): Promise<void> {
  const problems: unknown[] = []
  for (const load of parts) await load().catch((error: unknown) => problems.push(error))
  if (problems.length > 0) throw problems[0]
}
