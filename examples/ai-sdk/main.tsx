import { useEffect, useState } from "react"
import { createRoot } from "react-dom/client"
import { Chat } from "./chat.tsx"
import { readChat, type ToldChat, wordsOf } from "./pawl.ts"

/** The chat keeps its name, and the tab its token: a reload finds both. */
const KEPT = "pawl-token"
const CHAT = "example"

function SignIn() {
  const [token, setToken] = useState(sessionStorage.getItem(KEPT) ?? "")
  const [told, setTold] = useState<ToldChat>()
  const [problem, setProblem] = useState("")
  const open = async () => {
    try {
      setTold(await readChat(CHAT, token))
      sessionStorage.setItem(KEPT, token)
    } catch (error) {
      setProblem(wordsOf(error as Error))
    }
  }
  // With the token that was kept, once.
  useEffect(() => {
    if (token !== "") void open()
  }, [])
  if (told) return <Chat id={CHAT} token={token} told={told} />
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void open()
      }}
    >
      <input
        aria-label="Token"
        type="password"
        placeholder="npx pawl token create --user ada"
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <button>Open</button>
      {problem !== "" && <output role="alert">{problem}</output>}
    </form>
  )
}

createRoot(document.querySelector("#root")!).render(<SignIn />)
