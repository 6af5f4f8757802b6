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
