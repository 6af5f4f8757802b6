/** Functions that scripts of the door's pages share, as text: each script is one file, with nothing to load. */

/** `kept()`: the half of a session that a page of ours keeps for its own origin; empty where the browser keeps nothing. */
export const keptSession = `function kept() {
  try {
    return localStorage.getItem("pawl.session") ?? ""
  } catch {
    return ""
  }
}`

interface IssuerButton {
  /** The way from the page to the addresses of sign-in. */
  readonly auth: string
  /** What else is done once a sign-in has `begun`, before the browser leaves. */
  readonly first?: string
}

/**
 * `offerIssuer()`, where whoever runs the server has one: a press of the button `elsewhere`, never a link alone, sends
 * anybody there. True where there is one.
 */
export const issuerButton = ({ auth, first = "" }: IssuerButton): string => `async function offerIssuer() {
  const response = await fetch("${auth}/ways").catch(() => undefined)
  const ways = response !== undefined && response.ok ? await response.json() : { oidc: null }
  if (ways.oidc === null) return false
  elsewhere.textContent = "Sign in with " + ways.oidc.label
  elsewhere.hidden = false
  elsewhere.addEventListener("click", goElsewhere)
  return true
}

async function goElsewhere() {
  elsewhere.disabled = true
  try {
    const response = await fetch("${auth}/oidc/begin", { method: "POST" })
    const begun = await response.json()
    if (response.ok) {
      localStorage.setItem("pawl.oidc", begun.pageHalf)
      ${first}
      return location.assign(begun.redirectTo)
    }
    say.textContent = begun.detail
  } catch {
    say.textContent = "The server cannot be reached, or this browser keeps nothing for this page."
  }
  elsewhere.disabled = false
}`
