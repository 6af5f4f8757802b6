/**
 * Collects what must be ended, closed or removed at the end of a test file.
 *
 * The files of one worker share their modules. An `afterAll` in a module would run only for the first file that
 * imports it. `each-file.ts` runs for every file and calls this.
 */
const ends = new Set<() => Promise<void>>()

/** Registers a function to run at the end; a module calls this once, when it is loaded. */
export const atEndOfFile = (end: () => Promise<void>): unknown => ends.add(end)

export async function endFile(): Promise<void> {
  for (const end of ends) await end()
}
