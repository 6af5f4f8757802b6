import type { MessageFile } from "../../../../core/protocol/index.ts"
import { restoreFiles } from "../../state/chosen-files.ts"
import { Store } from "../../state/store.ts"

/** What was typed and not sent, kept for this tab: a reload takes no words away. */
export function readDraft(key: string): string {
  try {
    return sessionStorage.getItem(`pawl.draft.${key}`) ?? ""
  } catch {
    return "" // storage is refused; then a draft lasts as long as its field
  }
}

export function saveDraft(key: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(`pawl.draft.${key}`)
    else sessionStorage.setItem(`pawl.draft.${key}`, text)
  } catch {
    // As above.
  }
}

/** Counts what was put back into a field: a field that is shown reads its draft again when this changes. */
export const restored = new Store(0)

/** Puts words and their files back where they were written, before whatever was written since. */
export function restoreDraft(key: string, text: string, files: readonly MessageFile[] = []): void {
  const since = readDraft(key)
  saveDraft(key, since.trim() === "" ? text : `${text}\n\n${since}`)
  restoreFiles(key, files)
  restored.set(restored.value + 1)
}
