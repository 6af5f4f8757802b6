import { createHash } from "node:crypto"
import type { Context } from "hono"
import type { Env } from "../../auth/credentials.ts"

interface StandalonePage {
  readonly title: string
  /** The address of its script, relative to the page. */
  readonly script: string
  /** Our own HTML; text from others is never inserted. */
  readonly body: string
}

/**
 * A page for signing in and granting access. Self-contained, so that it works without the built page. Paths are relative, so
 * that it works behind a proxy with a path prefix.
 */
export const standalonePage = ({ title, script, body }: StandalonePage): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${style}</style>
<script src="${script}" defer></script>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`

/**
 * A box for text that someone else chose, such as a program's name, under our label. Never inside a sentence, where a name
 * could continue it. `showName` fills it.
 */
export const nameBox = (id: string, label: string): string =>
  `<div id="${id}-shown" class="named" hidden><p>${label}</p><p class="box"><bdi id="${id}"></bdi></p></div>`

const style = `:root { color-scheme: light dark }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#fbfaf8, #171817); color: light-dark(#56524b, #bab6ad);
  font: 15px/1.6 -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", "Liberation Sans", Arial, sans-serif }
main { box-sizing: border-box; width: 100%; max-width: 31rem; padding: 1.5rem }
svg { width: 44px; height: 44px; margin-bottom: 1rem }
h1 { margin: 0 0 .75rem; color: light-dark(#1d1c1a, #eceae5); font: 1.9rem/1.2 ui-serif, "Iowan Old Style", Palatino, Georgia, "Liberation Serif", serif }
p { margin: 0 0 .75rem; overflow-wrap: anywhere }
.named p { margin: 0 0 .25rem }
.named .box { margin: 0 0 1rem; padding: .5rem .75rem; max-height: 6.4em; overflow: auto; border: 1px solid light-dark(#b9b3a8, #4a4e4a); border-radius: .6rem;
  background: light-dark(#ffffff, #1f2120); color: light-dark(#1d1c1a, #eceae5); font-weight: 600; white-space: pre-wrap }
pre { margin: 0 0 1rem; padding: .75rem 1rem; overflow-x: auto; border: 1px solid light-dark(#e5e1da, #343734); border-radius: .75rem;
  background: light-dark(#ffffff, #1f2120); color: light-dark(#1d1c1a, #eceae5); font: .875rem ui-monospace, Menlo, Consolas, "Liberation Mono", monospace }
button, a { display: inline-block; padding: .4rem 1rem; border: 0; border-radius: .6rem; font: inherit; font-weight: 500; text-decoration: none; cursor: pointer;
  background: light-dark(#1f5f52, #7cc4b0); color: light-dark(#ffffff, #0d2019) }
:focus-visible { outline: 2px solid light-dark(#1f5f52, #7cc4b0); outline-offset: 2px }
[hidden] { display: none }`

const styleHash = createHash("sha256").update(style).digest("base64")

const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'sha256-${styleHash}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

/** Functions that the scripts share, as source text: each script is one file. */

/** `pageSecret()`: the half of a session that our page stores for its origin; empty if the browser stores nothing. */
export const pageSecretScript = `function pageSecret() {
  try {
    return localStorage.getItem("pawl.session") ?? ""
  } catch {
    return ""
  }
}`

/** `showName(id, text)` fills a `nameBox` with text that another person chose: as text, with hidden characters written out. */
export const showName = `function showName(id, text) {
  const shown = String(text).replace(/\\s+/g, " ").replace(/\\p{C}/gu, (hidden) => "\\u27e8U+" + hidden.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "\\u27e9")
  document.getElementById(id).textContent = shown
  document.getElementById(id + "-shown").hidden = false
}`

interface IssuerButton {
  /** The path from the page to the sign-in routes. */
  readonly auth: string
  /** Code that runs after a sign-in has `started`, before the browser leaves the page. */
  readonly first?: string
}

/**
 * `offerIssuer()` shows the button `other` if the operator has set up an identity provider, and returns true. Only a press
 * of the button leads there, never a link alone.
 */
export const issuerButton = ({ auth, first = "" }: IssuerButton): string => `async function offerIssuer() {
  const response = await fetch("${auth}/ways").catch(() => undefined)
  const ways = response !== undefined && response.ok ? await response.json() : { oidc: null }
  if (ways.oidc === null) return false
  other.textContent = "Sign in with " + ways.oidc.label
  other.hidden = false
  other.addEventListener("click", openIssuer)
  return true
}

async function openIssuer() {
  other.disabled = true
  try {
    const response = await fetch("${auth}/oidc/begin", { method: "POST" })
    const started = await response.json()
    if (response.ok) {
      localStorage.setItem("pawl.oidc", started.pageHalf)
      ${first}
      return location.assign(started.redirectTo)
    }
    say.textContent = started.detail
  } catch {
    say.textContent = "The server could not be reached, or this browser does not store data for this page."
  }
  other.disabled = false
}`

/** Sends such a page: it runs its own script only, cannot be framed, is not cached, and sends no referrer. */
export const sendPage = (c: Context<Env>, html: string) =>
  c.html(html, 200, {
    "content-security-policy": pagePolicy,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
  })

export const sendScript = (c: Context<Env>, script: string) =>
  c.body(script, 200, { "content-type": "text/javascript; charset=utf-8" })

/**
 * The page that a sign-in link opens. The secret is in the fragment, which browsers do not send; the script removes it from
 * the address bar and posts it once.
 */
export const page = standalonePage({
  title: "Sign in to Pawl",
  script: "sign-in.js",
  body: `<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#1f5f52"/><path d="M10 23V9.5h6.6a4.7 4.7 0 0 1 0 9.4H13" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/><circle cx="23" cy="23" r="2" fill="#fff"/></svg>
<h1 id="title">Sign in to Pawl</h1>
<p id="say" role="status">Signing in …</p>
${nameBox("who", "You are signed in as:")}
<div id="how" hidden>
<p>For a new link, run this on the server's machine and open the link, or ask the operator.</p>
<pre tabindex="0">npx pawl invite --user NAME</pre>
</div>
<button id="go" type="button" hidden>Sign in</button>
<button id="other" type="button" hidden></button>
<a id="home" href="./" hidden>Go to Pawl</a>
<noscript><p>Signing in needs JavaScript. Without it, the link's secret would have to be sent in an address.</p></noscript>`,
})

/** Asks before it replaces an existing session: a link from someone else must not sign the person out. */
export const script = `"use strict"
const [title, say, how, go, home, other] = ["title", "say", "how", "go", "home", "other"].map((id) => document.getElementById(id))
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
  say.textContent = text
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

${pageSecretScript}

${showName}

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
      if (!keep(answer.pageSecret)) return useless("Storage is blocked", "This browser does not store data for this page, so you cannot stay signed in. Allow site data for this address, then open a new link.")
      return location.replace("." + answer.next)
    }
    if (answer.code !== "link_spent") return ask(answer.detail, "Try again")
    useless("This link has expired", "A sign-in link works once, within fifteen minutes. This one was already used or is too old.")
  } catch {
    ask("The server could not be reached.", "Try again")
  }
}

${issuerButton({ auth: "api/auth" })}

async function start() {
  const response = await fetch("api/auth/me", { headers: { "x-pawl-session": pageSecret() } }).catch(() => undefined)
  if (response !== undefined && response.ok) name = (await response.json()).user.name
  if (name !== undefined) showName("who", name)
  const hasIssuer = await offerIssuer()
  if (secret === "" && hasIssuer) {
    say.textContent = name === undefined ? "Sign in below, or open a sign-in link." : ""
    home.hidden = name === undefined
    return
  }
  if (secret === "") return useless("This link is incomplete", "The part of the sign-in link after the # is missing. Copy the whole link.")
  go.addEventListener("click", signIn)
  if (name === undefined) return signIn()
  ask("Sign in with this link instead?", "Sign in")
  home.hidden = false
}

void start()
`
