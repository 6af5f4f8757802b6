import { isInside } from "./find-program.ts"
import { type Folder, fileRefusal } from "./folder.ts"
import { displayName } from "./display-name.ts"

/** The directories on a path, including itself, that do not exist: their real names, the outermost first. */
export function missingDirectories(folder: Folder, path: string): string[] {
  // Directories above the folder are not checked, even if the path is absolute.
  const isWithin = isInside(path, folder.root)
  const relativePath = isWithin ? path.slice(folder.root.length) : path
  const parts = relativePath.split("/").filter((part) => part !== "" && part !== ".")
  const start = relativePath.startsWith("/") && !isWithin ? "/" : ""
  const first = parts.findIndex((_, at) => !folder.find(start + parts.slice(0, at + 1).join("/")))
  if (first < 0) return []
  const rest = parts.slice(first + 1)
  if (rest.includes("..")) throw fileRefusal(`${displayName(path)} uses .. below a missing directory`)
  const outermost = folder.realPath(start + parts.slice(0, first + 1).join("/"), "follow")
  return [outermost, ...rest.map((_, at) => [outermost, ...rest.slice(0, at + 1)].join("/"))]
}
