type Load = () => Promise<unknown>

const parts = new Set<Load>()

/**
 * Returns a function that loads a part of the code at its first use, or when `loadLateParts` runs, a second after the
 * start. For code that most first turns do not need: docs/decisions/034-publish-a-bundle.md. A load that fails is tried
 * again at the next use.
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
