import type { Context } from "hono"
import type { Env } from "../auth/credentials.ts"
import { standalonePage, nameBox, pageSecretScript, showName, sendPage, sendScript } from "./account/sign-in-page.ts"

/**
 * The page that an MCP server's sign-in redirects to. It takes the answer out of the address and sends it in a body with
 * both halves of the session: only the person who started a sign-in can finish it, otherwise one could have another person
 * sign in for them.
 */
const page = standalonePage({
  title: "Sign in to an MCP server",
  script: "callback.js",
  body: `<h1 id="title">Sign in to an MCP server</h1>
<p id="say" role="status">One moment …</p>
${nameBox("name", "Your agents can use this server:")}
<a id="settings" href="../settings/mcp" hidden>Go to the settings</a>
<div id="how" hidden>
<p>Sign in to Pawl in this browser, then load this page again, within ten minutes. For a sign-in link, run this on the server's machine and open the link.</p>
<pre tabindex="0">npx pawl invite --user NAME</pre>
<button id="again" type="button">Reload</button>
</div>
<noscript><p>This page needs JavaScript. Without it, your session could not be verified.</p></noscript>`,
})

const script = `"use strict"
const [title, say, settings, how, again] = ["title", "say", "settings", "how", "again"].map((id) => document.getElementById(id))

function tell(heading, text) {
  title.textContent = document.title = heading
  say.textContent = text
}

/** Whatever became of it, the answer is used up, and need not stand in the address any longer. */
function end(heading, text) {
  history.replaceState(null, "", location.pathname)
  tell(heading, text)
  settings.hidden = false
  settings.focus()
}

${pageSecretScript}

${showName}

async function finish() {
  again.addEventListener("click", () => location.reload())
  const answer = location.search.slice(1)
  if (answer === "") return end("Nothing to finish", "MCP servers send you to this page after a sign-in. Start in the settings.")
  try {
    const response = await fetch("../api/mcp-sign-in", {
      method: "POST",
      headers: { "x-pawl-session": pageSecret(), "content-type": "application/json" },
      body: JSON.stringify({ answer }),
    })
    const result = await response.json()
    if (response.status === 401) {
      tell("Sign in to Pawl first", "You are not signed in to Pawl in this browser.")
      how.hidden = false
      return
    }
    if (!response.ok) return end("You are not signed in", result.detail)
    showName("name", result.name)
    end("You are signed in", result.tools.length === 1 ? "It has one tool. You can close this page." : "It has " + result.tools.length + " tools. You can close this page.")
  } catch {
    tell("No response", "The server could not be reached. Reload the page.")
  }
}

void finish()
`

export const showMcpCallback = (c: Context<Env>) => sendPage(c, page)

export const showMcpCallbackScript = (c: Context<Env>) => sendScript(c, script)
