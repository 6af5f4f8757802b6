import type { Context } from "hono"
import type { Env } from "../../../auth/credentials.ts"
import { standalonePage, sendPage, sendScript } from "../sign-in-page.ts"

/**
 * The page that an issuer redirects to. It takes the answer out of the address and sends it in a body with what this browser
 * stored at the start. So no cookie needs to be sent with a redirect of another site.
 */
const page = standalonePage({
  title: "Sign in to Pawl",
  script: "callback.js",
  body: `<h1 id="title">Sign in to Pawl</h1>
<p id="say" role="status">Signing in …</p>
<a id="again" href="../sign-in" hidden>Start again</a>
<noscript><p>Signing in needs JavaScript. Without it, your session could not be stored for this page only.</p></noscript>`,
})

const script = `"use strict"
const [title, say, again] = ["title", "say", "again"].map((id) => document.getElementById(id))
const answer = location.search.slice(1)
history.replaceState(null, "", location.pathname)

function stop(heading, text) {
  title.textContent = document.title = heading
  say.textContent = text
  again.hidden = false
  again.focus()
}

// The question of a program that waits for this very sign-in. It leads to our own page about it, whatever is kept there.
function consentOf(pageHalf) {
  try {
    const kept = JSON.parse(localStorage.getItem("pawl.consent"))
    localStorage.removeItem("pawl.consent")
    return kept !== null && kept.pageHalf === pageHalf ? String(kept.question) : undefined
  } catch {
    return undefined
  }
}

async function finish() {
  try {
    const pageHalf = localStorage.getItem("pawl.oidc")
    localStorage.removeItem("pawl.oidc")
    const question = consentOf(pageHalf)
    if (question !== undefined) again.href = "../oauth/authorize" + question
    if (pageHalf === null || answer === "") return stop("Nothing to finish", "This sign-in was not started in this browser, or was already completed.")
    const response = await fetch("../api/auth/oidc/finish", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ pageHalf, answer }),
    })
    const result = await response.json()
    if (!response.ok) return stop("You are not signed in", result.detail)
    localStorage.setItem("pawl.session", result.pageSecret)
    location.replace(question === undefined ? ".." + result.next : again.href)
  } catch {
    stop("You are not signed in", "The server could not be reached, or this browser does not store data for this page.")
  }
}

void finish()
`

export const showCallback = (c: Context<Env>) => sendPage(c, page)

export const showCallbackScript = (c: Context<Env>) => sendScript(c, script)
