import { createHash } from "node:crypto"

/**
 * The page that a sign-in link leads to. The secret stands behind the # of the link, which no browser sends and no log
 * sees; the script takes it out of the address bar and sends it once, in the body of a POST. Paths are relative, so that
 * it works behind a proxy that puts the server below a path.
 */
const style = `body { font: 1rem/1.5 system-ui, sans-serif; max-width: 26rem; margin: 20vh auto 0; padding: 0 1rem; text-align: center }
:root { color-scheme: light dark }
button { font: inherit; padding: .5rem 1.5rem; cursor: pointer }`

export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Sign in to Pawl</title>
<style>${style}</style>
<script src="sign-in.js" defer></script>
</head>
<body>
<main>
<h1>Pawl</h1>
<p id="say" role="status">Signing in …</p>
<button id="go" type="button" hidden>Sign in</button>
<noscript><p>Signing in needs JavaScript: without it the secret of the link would have to travel in an address.</p></noscript>
</main>
</body>
</html>
`

const styleHash = createHash("sha256").update(style).digest("base64")

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
const say = document.getElementById("say")
const go = document.getElementById("go")
const secret = location.hash.slice(1)
history.replaceState(null, "", location.pathname)

function ask(text, label) {
  say.textContent = text
  go.textContent = label
  go.hidden = false
  go.focus()
}

async function signIn() {
  go.hidden = true
  say.textContent = "Signing in …"
  try {
    const response = await fetch("api/auth/sign-in", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ secret }),
    })
    const answer = await response.json()
    if (response.ok) return location.replace("." + answer.next)
    say.textContent = answer.detail
  } catch {
    ask("The server cannot be reached.", "Try again")
  }
}

async function start() {
  if (secret === "") {
    say.textContent = "This is not a whole sign-in link. The command pawl invite --user NAME prints one."
    return
  }
  go.addEventListener("click", signIn)
  const response = await fetch("api/auth/me").catch(() => undefined)
  if (response === undefined || !response.ok) return signIn()
  const { user } = await response.json()
  ask("You are signed in as " + user.name + ". Sign in with this link instead?", "Sign in")
}

void start()
`
