import type { MessageFile } from "../../../../core/protocol/index.ts"
import { restoreFiles } from "../../state/chosen-files.ts"
import { Store } from "../../state/store.ts"

/** The unsent text, stored for this tab: it survives a reload. */
export function readDraft(key: string): string {
  try {
    return sessionStorage.getItem(`pawl.draft.${key}`) ?? ""
  } catch {
    return "" // storage is blocked; then a draft lasts as long as its field
  }
}

export function saveDraft(key: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(`pawl.draft.${key}`)
    else sessionStorage.setItem(`pawl.draft.${key}`, text)
  } catch {
    // Storage is blocked.
  }
}

/** Incremented when a draft is restored: a visible field then reads its draft again. */
export const restored = new Store(0)

/** Restores a text and its files to the field where it was typed, before what was typed since. */
export function restoreDraft(key: string, text: string, files: readonly MessageFile[] = []): void {
  const since = readDraft(key)
  saveDraft(key, since.trim() === "" ? text : `${text}\n\n${since}`)
  restoreFiles(key, files)
  restored.set(restored.value + 1)
}
