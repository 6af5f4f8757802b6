type Load = () => Promise<unknown>

const parts = new Set<Load>()

/**
 * Returns a function that loads a module at its first use, or when `loadLazyModules` runs, a second after the start.
 * For code that most first turns do not need: docs/decisions/034-publish-a-bundle.md. A failed load is tried again at
 * the next use.
 */
export function lazyModule<Part>(load: () => Promise<Part>): () => Promise<Part> {
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
 * Loads all of them, one after the other. A server runs for weeks, and an upgrade may have replaced its files by then,
 * so modules must not be read from disk in the middle of a turn. If some fail, the others are loaded all the same, and
 * the first error is thrown at the end.
 */
export async function loadLazyModules(): Promise<void> {
  const problems: unknown[] = []
  for (const load of parts) await load().catch((error: unknown) => problems.push(error))
  if (problems.length > 0) throw problems[0]
}
