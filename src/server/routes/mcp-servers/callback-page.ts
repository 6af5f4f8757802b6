import type { Context } from "hono"
import type { Env } from "../../door/request-env.ts"
import { doorPage } from "../account/door-page.ts"
import { keptSession } from "../account/door-script.ts"
import { sendPage, sendScript } from "../account/send-page.ts"

/**
 * The page that people are sent back to when they have signed in to an MCP server. It takes the answer out of the address and
 * sends it in a body, with the two halves of their session: only who began a sign-in finishes it. Otherwise somebody could
 * have another person sign in for them.
 */
const page = doorPage({
  title: "Sign in to an MCP server",
  script: "callback.js",
  body: `<h1 id="title">Sign in to an MCP server</h1>
<p id="say" role="status">One moment …</p>
<a id="settings" href="../settings/mcp" hidden>Go to the settings</a>
<div id="how" hidden>
<p>Sign in to Pawl in this browser, then load this page again, within ten minutes. For a sign-in link, run this beside the server and open what it prints.</p>
<pre tabindex="0">npx pawl invite --user NAME</pre>
<button id="again" type="button">Load again</button>
</div>
<noscript><p>This needs JavaScript: without it your session could not be shown to be yours.</p></noscript>`,
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

${keptSession}

async function finish() {
  again.addEventListener("click", () => location.reload())
  const answer = location.search.slice(1)
  if (answer === "") return end("Nothing to finish", "This page is where an MCP server sends you back to. Begin in the settings.")
  try {
    const response = await fetch("../api/mcp-sign-in", {
      method: "POST",
      headers: { "x-pawl-session": kept(), "content-type": "application/json" },
      body: JSON.stringify({ answer }),
    })
    const told = await response.json()
    if (response.status === 401) {
      tell("Sign in to Pawl first", "Nobody is signed in to Pawl in this browser.")
      how.hidden = false
      return
    }
    if (!response.ok) return end("You are not signed in", told.detail)
    end("You are signed in", "\\u201c" + told.name + "\\u201d can be used by your agents: " + (told.tools.length === 1 ? "one tool" : told.tools.length + " tools") + ". You can close this page.")
  } catch {
    tell("Nobody answers", "The server cannot be reached. Load the page again.")
  }
}

void finish()
`

export const showMcpCallback = (c: Context<Env>) => sendPage(c, page)

export const showMcpCallbackScript = (c: Context<Env>) => sendScript(c, script)
