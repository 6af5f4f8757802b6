import { createSocketClient } from "../../../client/index.ts"

/** The path in front of the server's addresses: "", or the path at which a proxy publishes it. */
const here = import.meta.url
export const base = new URL("..", here).pathname.replace(/\/$/, "")

/** The one way to the server: requests for what is asked once, one socket for everything that is live. */
export const client = createSocketClient({ baseUrl: base, pageSecret })

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
