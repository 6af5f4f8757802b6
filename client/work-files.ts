import type { MessageFile, WorkFile } from "../core/protocol/conversation/message.ts"
import { escapeHidden } from "../core/shared/text/hidden-characters.ts"
import { quote } from "../core/shared/text/quote.ts"

/** The paths of a message's files that are in the work folder. */
export function workFilesOf(files: readonly MessageFile[]): { workFiles?: WorkFile[] } {
  const workFiles = files.flatMap(({ id, path, folder }) =>
    path === undefined ? [] : [{ id, path, trusted: folder === "trusted" }],
  )
  return workFiles.length > 0 ? { workFiles } : {}
}

/** How these files restrict the mode `auto`, as a sentence: the mode must not change silently. */
export function whyAutoAsks(files: readonly MessageFile[]): string | undefined {
  const other = files.find(({ folder }) => folder === undefined)
  if (other) {
    const name = quote(escapeHidden(other.name.replaceAll(/\s+/g, " ")))
    return `From here on auto asks before each change: others may have written what is in ${name}, which is not in the work folder.`
  }
  if (files.every(({ folder }) => folder === "trusted")) return undefined
  return "From here on auto asks before it changes anything outside of this folder or sends anything out: you have not trusted the folder. `pawl trust` and a new conversation change that."
}
