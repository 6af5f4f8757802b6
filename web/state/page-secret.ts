/** The half of the session that no cookie carries: put here by the page of the sign-in link, for this origin alone. */
const KEY = "pawl.session"

/** Read each time: another tab may have signed in. */
export function pageSecret(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null // a browser that keeps nothing
  }
}

export function forgetPageSecret(): void {
  try {
    localStorage.removeItem(KEY)
  } catch {
    // Then there is none.
  }
}
