import { createHash } from "node:crypto"

/**
 * The page that a sign-in link leads to. The secret stands behind the # of the link, which no browser sends and no log
 * sees; the script takes it out of the address bar and sends it once, in the body of a POST. Paths are relative, so that
 * it works behind a proxy that puts the server below a path. It is made of nothing but itself: also where the page of the
 * server is not built, and with its colours.
 */
export const pageStyle = `:root { color-scheme: light dark }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#fbfaf8, #171817); color: light-dark(#56524b, #bab6ad);
  font: 15px/1.6 -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", "Liberation Sans", Arial, sans-serif }
main { box-sizing: border-box; width: 100%; max-width: 31rem; padding: 1.5rem }
svg { width: 44px; height: 44px; margin-bottom: 1rem }
h1 { margin: 0 0 .75rem; color: light-dark(#1d1c1a, #eceae5); font: 1.9rem/1.2 ui-serif, "Iowan Old Style", Palatino, Georgia, "Liberation Serif", serif }
p { margin: 0 0 .75rem; overflow-wrap: anywhere }
pre { margin: 0 0 1rem; padding: .75rem 1rem; overflow-x: auto; border: 1px solid light-dark(#e5e1da, #343734); border-radius: .75rem;
  background: light-dark(#ffffff, #1f2120); color: light-dark(#1d1c1a, #eceae5); font: .875rem ui-monospace, Menlo, Consolas, "Liberation Mono", monospace }
button, a { display: inline-block; padding: .4rem 1rem; border: 0; border-radius: .6rem; font: inherit; font-weight: 500; text-decoration: none; cursor: pointer;
  background: light-dark(#1f5f52, #7cc4b0); color: light-dark(#ffffff, #0d2019) }
:focus-visible { outline: 2px solid light-dark(#1f5f52, #7cc4b0); outline-offset: 2px }
[hidden] { display: none }`

export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Sign in to Pawl</title>
<style>${pageStyle}</style>
<script src="sign-in.js" defer></script>
</head>
<body>
<main>
<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#1f5f52"/><path d="M10 23V9.5h6.6a4.7 4.7 0 0 1 0 9.4H13" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/><circle cx="23" cy="23" r="2" fill="#fff"/></svg>
<h1 id="title">Sign in to Pawl</h1>
<p id="say" role="status">Signing in …</p>
<div id="how" hidden>
<p>For a new link, run this beside the server and open what it prints. Whoever runs the server can do it for you.</p>
<pre tabindex="0">npx pawl invite --user NAME</pre>
</div>
<button id="go" type="button" hidden>Sign in</button>
<button id="elsewhere" type="button" hidden></button>
<a id="home" href="./" hidden>Go to Pawl</a>
<noscript><p>Signing in needs JavaScript: without it the secret of the link would have to travel in an address.</p></noscript>
</main>
</body>
</html>
`

const styleHash = createHash("sha256").update(pageStyle).digest("base64")

export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'sha256-${styleHash}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

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

function kept() {
  try {
    return localStorage.getItem("pawl.session") ?? ""
  } catch {
    return ""
  }
}

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

// Where whoever runs the server has an issuer: a press of the button, never a link alone, sends anybody there.
async function offerIssuer() {
  const response = await fetch("api/auth/ways").catch(() => undefined)
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
    const response = await fetch("api/auth/oidc/begin", { method: "POST" })
    const begun = await response.json()
    if (response.ok) {
      localStorage.setItem("pawl.oidc", begun.pageHalf)
      return location.assign(begun.redirectTo)
    }
    say.textContent = begun.detail
  } catch {
    say.textContent = "The server cannot be reached, or this browser keeps nothing for this page."
  }
  elsewhere.disabled = false
}

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
