import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Labelled } from "../parts/labelled.tsx"
import { client } from "../state/client.ts"

const EMPTY = { name: "", url: "", header: "", value: "" }

/** Names a server. It is asked for its tools at once; what its header holds is not shown again. */
export function McpForm({ onAdded }: { readonly onAdded: () => Promise<void> }) {
  const [given, setGiven] = useState(EMPTY)
  const [isBusy, setBusy] = useState(false)
  const set = (part: Partial<typeof EMPTY>) => setGiven({ ...given, ...part })
  const add = async () => {
    setBusy(true)
    await attempt(async () => {
      const { name, url, header, value } = given
      const headers = header.trim() ? { headers: { [header.trim()]: value.trim() } } : {}
      await client.addMcpServer({ body: { name: name.trim(), url: url.trim(), ...headers } })
      setGiven(EMPTY)
      await onAdded()
    })
    setBusy(false)
  }
  return (
    <form
      className="mb-4 space-y-3 rounded-xl bg-sunken px-4 py-3"
      onSubmit={(event) => {
        event.preventDefault()
        void add()
      }}
    >
      <Labelled label="Name (small letters and digits)">
        <input
          value={given.name}
          maxLength={24}
          onChange={({ target }) => set({ name: target.value })}
          className="field"
        />
      </Labelled>
      <Labelled label="Address">
        <input
          type="url"
          value={given.url}
          placeholder="https://mcp.example/mcp"
          onChange={({ target }) => set({ url: target.value })}
          className="field"
        />
      </Labelled>
      <Labelled label="Header, if it needs one">
        <input
          value={given.header}
          placeholder="Authorization"
          onChange={({ target }) => set({ header: target.value })}
          className="field"
        />
      </Labelled>
      <Labelled label="What the header holds">
        <input
          type="password"
          autoComplete="off"
          value={given.value}
          onChange={({ target }) => set({ value: target.value })}
          className="field"
        />
      </Labelled>
      <Button look="main" type="submit" disabled={isBusy || !given.name.trim() || !given.url.trim()}>
        Add the server
      </Button>
    </form>
  )
}
