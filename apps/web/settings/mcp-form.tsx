import { useState } from "react"
import { Form, Labelled, SubmitButton } from "../components/form.tsx"
import { client } from "../state/client.ts"
import { t } from "../strings/strings.ts"

const EMPTY = { name: "", url: "", header: "", value: "" }

interface McpFormProps {
  /** The server to edit. If absent, the form adds one. */
  readonly of?: { readonly name: string; readonly address: string; readonly headers: readonly string[] }
  readonly onDone: () => Promise<void>
}

/** Adds or edits a server, whose tools are then read at once. Header values are never shown again. */
export function McpForm({ of, onDone }: McpFormProps) {
  const before = of ? { ...EMPTY, name: of.name, url: of.address } : EMPTY
  const [given, setGiven] = useState(before)
  const set = (part: Partial<typeof EMPTY>) => setGiven({ ...given, ...part })
  const store = async () => {
    const [name, url, header] = [given.name.trim(), given.url.trim(), given.header.trim()]
    const value = given.value.trim()
    if (!of) {
      const headers = header ? { headers: { [header]: value } } : {}
      await client.addMcpServer({ body: { name, url, ...headers } })
    } else {
      // An empty value removes the header.
      const headers = header ? { headers: { [header]: value || null } } : {}
      const moved = url === before.url ? {} : { url }
      await client.changeMcpServer({ params: { name: of.name }, body: { name, ...moved, ...headers } })
    }
    setGiven(EMPTY)
    await onDone()
  }
  return (
    <Form className="mb-4 space-y-3 rounded-xl bg-sunken px-4 py-3" onSubmit={store}>
      <Labelled label={t("settings.mcpName")} field="name">
        <input
          value={given.name}
          maxLength={24}
          onChange={({ target }) => set({ name: target.value })}
          className="field"
        />
      </Labelled>
      <Labelled label={t("settings.address")} field="url">
        <input
          type="url"
          value={given.url}
          placeholder="https://mcp.example/mcp"
          onChange={({ target }) => set({ url: target.value })}
          className="field"
        />
      </Labelled>
      <Labelled label={of ? headerLabel(of.headers) : t("settings.mcpHeader")}>
        <input
          value={given.header}
          placeholder="Authorization"
          onChange={({ target }) => set({ header: target.value })}
          className="field"
        />
      </Labelled>
      <Labelled label={t("settings.mcpHeaderValue")} field="headers">
        <input
          type="password"
          autoComplete="off"
          value={given.value}
          onChange={({ target }) => set({ value: target.value })}
          className="field"
        />
      </Labelled>
      <SubmitButton look="main" disabled={!given.name.trim() || !given.url.trim()}>
        {t(of ? "common.save" : "settings.mcpAdd")}
      </SubmitButton>
      {of && <p className="text-[13px] text-faint">{t("settings.mcpAddressChanges")}</p>}
    </Form>
  )
}

const headerLabel = (saved: readonly string[]): string =>
  saved.length === 0 ? t("settings.mcpHeaderChange") : t("settings.mcpHeaderChangeOf", { names: saved.join(", ") })
