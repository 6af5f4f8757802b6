import { doorPage } from "./door-page.ts"
import { issuerButton, keptSession } from "./door-script.ts"

/**
 * The page that a sign-in link leads to. The secret stands behind the # of the link, which no browser sends and no log
 * sees; the script takes it out of the address bar and sends it once, in the body of a POST.
 */
export const page = doorPage({
  title: "Sign in to Pawl",
  script: "sign-in.js",
  body: `<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#1f5f52"/><path d="M10 23V9.5h6.6a4.7 4.7 0 0 1 0 9.4H13" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/><circle cx="23" cy="23" r="2" fill="#fff"/></svg>
<h1 id="title">Sign in to Pawl</h1>
<p id="say" role="status">Signing in …</p>
<div id="how" hidden>
<p>For a new link, run this beside the server and open what it prints. Whoever runs the server can do it for you.</p>
<pre tabindex="0">npx pawl invite --user NAME</pre>
</div>
<button id="go" type="button" hidden>Sign in</button>
<button id="elsewhere" type="button" hidden></button>
<a id="home" href="./" hidden>Go to Pawl</a>
<noscript><p>Signing in needs JavaScript: without it the secret of the link would have to travel in an address.</p></noscript>`,
})

/** Nobody is signed out by a link that somebody has sent them: whoever is in already is asked first. */
export const script = `"use strict"
const [title, say, how, go, home, elsewhere] = ["title", "say", "how", "go", "home", "elsewhere"].map((id) => document.getElementById(id))
const secret = location.hash.slice(1)
let name
history.replaceState(null, "", location.pathname)

function ask(text, label) {
  say.textContent = text
  go.textContent = label
  go.hidden = false
  go.focus()
}

function useless(heading, text) {
  title.textContent = document.title = heading
  say.textContent = name === undefined ? text : text + " You are still signed in as " + name + "."
  how.hidden = name !== undefined
  home.hidden = name === undefined
}

// Kept for this origin alone; the cookie, which browsers send to every port of this host, counts only with it.
function keep(pageSecret) {
  try {
    localStorage.setItem("pawl.session", pageSecret)
    return true
  } catch {
    return false
  }
}

${keptSession}

async function signIn() {
  go.hidden = home.hidden = true
  say.textContent = "Signing in …"
  try {
    const response = await fetch("api/auth/sign-in", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ secret }),
    })
    const answer = await response.json()
    if (response.ok) {
      if (!keep(answer.pageSecret)) return useless("Nothing can be kept here", "This browser keeps nothing for this page, so nobody can stay signed in. Allow it to store data for this address, then open a new link.")
      return location.replace("." + answer.next)
    }
    if (answer.code !== "link_spent") return ask(answer.detail, "Try again")
    useless("This link is spent", "A sign-in link works once, for fifteen minutes. This one was used before or is too old.")
  } catch {
    ask("The server cannot be reached.", "Try again")
  }
}

${issuerButton({ auth: "api/auth" })}

async function start() {
  const response = await fetch("api/auth/me", { headers: { "x-pawl-session": kept() } }).catch(() => undefined)
  if (response !== undefined && response.ok) name = (await response.json()).user.name
  const hasIssuer = await offerIssuer()
  if (secret === "" && hasIssuer) {
    say.textContent = name === undefined ? "Say who you are, or open a sign-in link." : "You are signed in as " + name + "."
    home.hidden = name === undefined
    return
  }
  if (secret === "") return useless("This link is not whole", "This is not a whole sign-in link: what stands behind its # is missing.")
  go.addEventListener("click", signIn)
  if (name === undefined) return signIn()
  ask("You are signed in as " + name + ". Sign in with this link instead?", "Sign in")
  home.hidden = false
}

void start()
`
