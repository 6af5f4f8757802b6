import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Labelled } from "../parts/labelled.tsx"
import { client } from "../state/client.ts"

const EMPTY = { name: "", url: "", header: "", value: "" }

interface McpFormProps {
  /** One that is there, and is changed. */
  readonly of?: { readonly name: string; readonly address: string; readonly headers: readonly string[] }
  readonly onDone: () => Promise<void>
}

/** Names a server, or changes one. It is asked for its tools at once; what its headers hold is not shown again. */
export function McpForm({ of, onDone }: McpFormProps) {
  const before = of ? { ...EMPTY, name: of.name, url: of.address } : EMPTY
  const [given, setGiven] = useState(before)
  const [isBusy, setBusy] = useState(false)
  const set = (part: Partial<typeof EMPTY>) => setGiven({ ...given, ...part })
  const store = async () => {
    setBusy(true)
    await attempt(async () => {
      const [name, url, header] = [given.name.trim(), given.url.trim(), given.header.trim()]
      const value = given.value.trim()
      if (!of) {
        const headers = header ? { headers: { [header]: value } } : {}
        await client.addMcpServer({ body: { name, url, ...headers } })
      } else {
        // Nothing behind the name takes the header away.
        const headers = header ? { headers: { [header]: value || null } } : {}
        const moved = url === before.url ? {} : { url }
        await client.changeMcpServer({ params: { name: of.name }, body: { name, ...moved, ...headers } })
      }
      setGiven(EMPTY)
      await onDone()
    })
    setBusy(false)
  }
  return (
    <form
      className="mb-4 space-y-3 rounded-xl bg-sunken px-4 py-3"
      onSubmit={(event) => {
        event.preventDefault()
        void store()
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
      <Labelled
        label={
          of
            ? `Header to set or take away${of.headers.length > 0 ? ` (${of.headers.join(", ")})` : ""}`
            : "Header, if it needs one"
        }
      >
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
        {of ? "Store" : "Add the server"}
      </Button>
      {of && (
        <p className="text-[13px] text-faint">
          At another address it is another server: you agree to its tools again, and headers have to be given again.
        </p>
      )}
    </form>
  )
}
