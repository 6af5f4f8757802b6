import type { Context } from "hono"
import { AuthorizationRequest } from "../../../../protocol/account/oauth.ts"
import type { Env } from "../../../door/request-env.ts"
import { doorPage } from "../door-page.ts"
import { issuerButton, keptSession } from "../door-script.ts"
import { sendPage, sendScript } from "../send-page.ts"

/**
 * The page on which a person lets a program in. It runs with the two halves of their session, as every page of ours: the
 * cookie alone says nothing. What the program calls itself is shown as text, and where the answer goes beside it.
 */
const page = doorPage({
  title: "Let a program into Pawl",
  script: "authorize.js",
  body: `<h1 id="title">Let a program in?</h1>
<p id="say" role="status">One moment …</p>
<div id="asked" hidden>
<p>It may <strong id="may"></strong>. It cannot decide: changes that it asks for wait until you say yes in Pawl. You can take this back at any time, under Settings, Tokens.</p>
<button id="yes" type="button">Allow</button>
<button id="no" type="button">Do not allow</button>
</div>
<div id="how" hidden>
<button id="elsewhere" type="button" hidden></button>
<p>Sign in to Pawl in this browser, then load this page again. For a sign-in link, run this beside the server and open what it prints.</p>
<pre tabindex="0">npx pawl invite --user NAME</pre>
<button id="again" type="button">Load again</button>
</div>
<noscript><p>Letting a program in needs JavaScript: without it your session could not be shown to be yours.</p></noscript>`,
})

/** The question is kept with the sign-in that it waits for: another one does not open it. */
const keepQuestion =
  'localStorage.setItem("pawl.consent", JSON.stringify({ pageHalf: begun.pageHalf, question: location.search }))'

const script = `"use strict"
const [title, say, asked, may, yes, no, how, again, elsewhere] = ["title", "say", "asked", "may", "yes", "no", "how", "again", "elsewhere"].map((id) => document.getElementById(id))
const said = new URLSearchParams(location.search)
const FIELDS = ${JSON.stringify(Object.keys(AuthorizationRequest.shape))}
// What a program says beside these is passed over, as RFC 6749 has it. What is shown and what is agreed to is this one object.
const request = Object.fromEntries(FIELDS.filter((name) => said.has(name)).map((name) => [name, said.get(name)]))
const MEANS = { read: "look at your conversations, proposals, notes, documents and databases", chat: "ask agents and query databases in your name" }

${keptSession}

async function ask(init) {
  const response = await fetch("../api/oauth/consent" + (init ? "" : "?" + new URLSearchParams(request)), { ...init, headers: { "x-pawl-session": kept(), "content-type": "application/json" } })
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
    if (!ok) return stop("It cannot be let in", body.detail)
    location.replace(body.redirectTo)
    stop(agrees ? "It is let in" : "It is not let in", "You can close this page.")
  } catch {
    yes.disabled = no.disabled = false
    say.textContent = "The server cannot be reached. Try again."
  }
}

${issuerButton({ auth: "../api/auth", first: keepQuestion })}

async function start() {
  again.addEventListener("click", () => location.reload())
  yes.addEventListener("click", () => decide(true))
  no.addEventListener("click", () => decide(false))
  if (FIELDS.some((name) => said.getAll(name).length > 1)) return stop("It cannot be let in", "The program says something twice.")
  try {
    const { ok, status, body } = await ask()
    if (status === 401) {
      stop("Sign in first", "A program wants to be let in, and nobody is signed in here.")
      await offerIssuer()
      how.hidden = false
      return
    }
    if (!ok) return stop("It cannot be let in", body.detail)
    say.textContent = "\\u201c" + body.client.name + "\\u201d wants to act for " + body.user.name + ". The answer goes to " + body.client.redirectsTo + ": say yes only if you have just come from there."
    may.textContent = body.scopes.map((scope) => MEANS[scope]).join(", and ")
    asked.hidden = false
    no.focus()
  } catch {
    stop("Nobody answers", "The server cannot be reached. Load the page again.")
  }
}

void start()
`

export const showPage = (c: Context<Env>) => sendPage(c, page)

export const showScript = (c: Context<Env>) => sendScript(c, script)
