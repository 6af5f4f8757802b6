import { createSocketClient } from "../../../client/index.ts"

/** The path in front of the server's addresses: "", or the path at which a proxy publishes it. */
const here = import.meta.url
export const base = new URL("..", here).pathname.replace(/\/$/, "")

/** The connection to the server: single requests over HTTP, everything live over one socket. */
export const client = createSocketClient({ baseUrl: base, pageSecret })

/** The half of the session that no cookie contains: stored by the page of the sign-in link, for this origin only. */
const KEY = "pawl.session"

/** Read each time: another tab may have signed in. */
export function pageSecret(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null // storage is blocked
  }
}

export function forgetPageSecret(): void {
  try {
    localStorage.removeItem(KEY)
  } catch {
    // Storage is blocked.
  }
}
