/**
 * What has to be ended, closed or removed when a file of tests is over, whichever file it is.
 *
 * The files of one worker share their modules. An `afterAll` in a module would be heard for the first file that imports
 * it and for no other; this is asked for by `each-file.ts`, which runs anew for every file.
 */
const ends = new Set<() => Promise<void>>()

/** For a module to say once, when it is loaded. */
export const atEndOfFile = (end: () => Promise<void>): unknown => ends.add(end)

export async function endFile(): Promise<void> {
  for (const end of ends) await end()
}
