import { hasCode } from "../../../client/index.ts"
import type { Identity } from "../../../core/protocol/index.ts"
import { client, forgetPageSecret } from "./client.ts"
import { Store } from "./store.ts"

export type Presence =
  | { readonly is: "unknown" }
  | { readonly is: "signed-in"; readonly identity: Identity }
  /** Never signed in, signed out, or revoked. */
  | { readonly is: "signed-out"; readonly why?: "half" | undefined }
  | { readonly is: "unreachable"; readonly error: unknown }

export const presence = new Store<Presence>({ is: "unknown" })

export async function findIdentity(): Promise<void> {
  try {
    presence.set({ is: "signed-in", identity: await client.readIdentity() })
  } catch (error) {
    if (!noticeSignOut(error)) presence.set({ is: "unreachable", error })
  }
}

/** Shows the sign-in page if an error means that the session is over. */
export function noticeSignOut(error: unknown): boolean {
  const isHalf = hasCode(error, "half_session")
  if (!isHalf && !hasCode(error, "unauthenticated")) return false
  presence.set({ is: "signed-out", why: isHalf ? "half" : undefined })
  return true
}

/** Redirects to the issuer. The stored state is checked on return (core/server/routes/account/oidc). */
export async function goToIssuer(): Promise<void> {
  const { redirectTo, pageHalf } = await client.beginIssuerSignIn()
  localStorage.setItem("pawl.oidc", pageHalf)
  location.assign(redirectTo)
}

/** Called at sign-out to clear stored data of the person. */
export const forgetting = new Set<() => void>()

export async function signOut(): Promise<void> {
  await client.signOut()
  forgetPageSecret()
  for (const forget of forgetting) forget()
  presence.set({ is: "signed-out" })
}
