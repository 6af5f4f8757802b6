import type { UIMessage } from "ai"
import { useState } from "react"
import { createRoot } from "react-dom/client"
import { Chat } from "./chat.tsx"

/** The chat keeps its name, and the tab its token: a reload finds both. */
const KEPT = "pawl-token"
const CHAT = "example"

interface Opened {
  readonly token: string
  readonly messages: UIMessage[]
}

async function open(token: string): Promise<Opened> {
  const response = await fetch(`/ai-sdk/${CHAT}`, { headers: { authorization: `Bearer ${token}` } })
  if (!response.ok) throw new Error(await response.text())
  sessionStorage.setItem(KEPT, token)
  const { messages } = (await response.json()) as { messages: UIMessage[] }
  return { token, messages }
}

function SignIn() {
  const [opened, setOpened] = useState<Opened>()
  const [token, setToken] = useState(sessionStorage.getItem(KEPT) ?? "")
  if (opened) return <Chat id={CHAT} {...opened} />
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void open(token).then(setOpened)
      }}
    >
      <input aria-label="Token" type="password" value={token} onChange={(event) => setToken(event.target.value)} />
      <button>Open</button>
    </form>
  )
}

createRoot(document.querySelector("#root")!).render(<SignIn />)
