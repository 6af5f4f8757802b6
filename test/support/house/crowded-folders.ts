import { posix } from "node:path"

/** About thirty names are read at a glance; with more, somebody looks for a thing and does not see it. */
export const MAX_FILES = 32

/** Every folder that holds more source files than that, those in its own folders aside, as a sentence. */
export function crowdedFolders(paths: readonly string[]): string[] {
  const code = paths.filter((path) => /\.tsx?$/.test(path))
  const byFolder = Map.groupBy(code, (path) => posix.dirname(path))
  return [...byFolder].flatMap(([folder, files]) =>
    files.length > MAX_FILES
      ? [`${folder} holds ${files.length} files, ${MAX_FILES} are allowed: give an idea its folder`]
      : [],
  )
}
