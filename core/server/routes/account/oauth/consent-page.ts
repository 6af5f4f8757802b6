import type { Context } from "hono"
import { AuthorizationRequest } from "../../../../protocol/account/sign-in.ts"
import type { Env } from "../../../auth/credentials.ts"
import {
  standalonePage,
  nameBox,
  issuerButton,
  pageSecretScript,
  showName,
  sendPage,
  sendScript,
} from "../sign-in-page.ts"

/**
 * The page on which a person grants a program access. Like every page it uses both halves of the session, because the cookie
 * alone proves nothing. The redirect address comes first; the program's chosen name is in a box.
 */
const page = standalonePage({
  title: "Let a program into Pawl",
  script: "authorize.js",
  body: `<h1 id="title">Allow access?</h1>
<p id="say" role="status">One moment …</p>
<div id="asked" hidden>
${nameBox("host", "Access is sent to this address. Allow it only if you have just come from there:")}
${nameBox("name", "The name that the program chose for itself. It is not verified:")}
${nameBox("who", "It would act for the signed-in user:")}
<p>It may <strong id="may"></strong>. It cannot approve changes: they wait for your approval in Pawl. You can revoke its access at any time in the settings, under Tokens.</p>
<button id="yes" type="button">Allow</button>
<button id="no" type="button">Do not allow</button>
</div>
<div id="how" hidden>
<button id="other" type="button" hidden></button>
<p>Sign in to Pawl in this browser, then load this page again. For a sign-in link, run this on the server's machine and open the link.</p>
<pre tabindex="0">npx pawl invite --user NAME</pre>
<button id="again" type="button">Reload</button>
</div>
<noscript><p>Allowing access needs JavaScript. Without it, your session could not be verified.</p></noscript>`,
})

/** Stores the question with its sign-in, so that another sign-in does not open it. */
const keepQuestion =
  'localStorage.setItem("pawl.consent", JSON.stringify({ pageHalf: started.pageHalf, question: location.search }))'

const script = `"use strict"
const [title, say, asked, may, yes, no, how, again, other] = ["title", "say", "asked", "may", "yes", "no", "how", "again", "other"].map((id) => document.getElementById(id))
const said = new URLSearchParams(location.search)
const FIELDS = ${JSON.stringify(Object.keys(AuthorizationRequest.shape))}
// Other parameters are ignored, as RFC 6749 requires. What is shown and what is allowed is this one object.
const request = Object.fromEntries(FIELDS.filter((name) => said.has(name)).map((name) => [name, said.get(name)]))
const MEANS = { read: "read your conversations, proposals, notes, documents and databases", chat: "ask agents and query databases in your name" }

${pageSecretScript}

${showName}

async function ask(init) {
  const response = await fetch("../api/oauth/consent" + (init ? "" : "?" + new URLSearchParams(request)), { ...init, headers: { "x-pawl-session": pageSecret(), "content-type": "application/json" } })
  return { ok: response.ok, status: response.status, body: await response.json() }
}

function stop(heading, text) {
  title.textContent = document.title = heading
  say.textContent = text
  asked.hidden = true
}

async function decide(agrees) {
  yes.disabled = no.disabled = true
  try {
    const { ok, body } = await ask({ method: "POST", body: JSON.stringify({ ...request, agrees }) })
    if (!ok) return stop("Access is not possible", body.detail)
    location.replace(body.redirectTo)
    stop(agrees ? "Access allowed" : "Access denied", "You can close this page.")
  } catch {
    yes.disabled = no.disabled = false
    say.textContent = "The server could not be reached. Try again."
  }
}

${issuerButton({ auth: "../api/auth", first: keepQuestion })}

async function start() {
  again.addEventListener("click", () => location.reload())
  yes.addEventListener("click", () => decide(true))
  no.addEventListener("click", () => decide(false))
  if (FIELDS.some((name) => said.getAll(name).length > 1)) return stop("Access is not possible", "The program sent a parameter twice.")
  try {
    const { ok, status, body } = await ask()
    if (status === 401) {
      stop("Sign in first", "A program asks for access to your account, but you are not signed in.")
      await offerIssuer()
      how.hidden = false
      return
    }
    if (!ok) return stop("Access is not possible", body.detail)
    say.textContent = "A program asks for access to your account."
    showName("host", body.client.redirectsTo)
    showName("name", body.client.name)
    showName("who", body.user.name)
    may.textContent = body.scopes.map((scope) => MEANS[scope]).join(", and ")
    asked.hidden = false
    no.focus()
  } catch {
    stop("No response", "The server could not be reached. Reload the page.")
  }
}

void start()
`

export const showPage = (c: Context<Env>) => sendPage(c, page)

export const showScript = (c: Context<Env>) => sendScript(c, script)
