import { useState } from "react"
import type { ProviderView } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Labelled } from "../parts/labelled.tsx"
import { client } from "../state/client.ts"
import { toast } from "../state/toasts.ts"

interface AccessProps {
  readonly provider: ProviderView
  readonly onDone: () => Promise<void>
}

/** A key or an address of one's own for a provider, and what else it takes. */
export function AccessForm({ provider: { name, fields = [] }, onDone }: AccessProps) {
  const [apiKey, setKey] = useState("")
  const [baseUrl, setBaseUrl] = useState("")
  const [more, setMore] = useState(() => Object.fromEntries(fields.map((field) => [field.name, field.value ?? ""])))
  const given = Object.fromEntries(Object.entries(more).filter(([, text]) => text.trim() !== ""))
  const save = () =>
    attempt(async () => {
      const body = {
        ...(apiKey.trim() ? { apiKey } : {}),
        ...(baseUrl.trim() ? { baseUrl } : {}),
        ...(Object.keys(given).length > 0 ? { fields: given } : {}),
      }
      await client.saveProvider({ params: { name }, body })
      await onDone()
      toast("Stored.")
    })
  return (
    <form
      className="mt-2 grid gap-3 pb-2 sm:grid-cols-2"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <Labelled label="Key">
        <input
          type="password"
          autoComplete="off"
          value={apiKey}
          onChange={(event) => setKey(event.target.value)}
          className="field"
        />
      </Labelled>
      <Labelled label="Address, where it is not the usual one">
        <input type="url" value={baseUrl} onChange={(event) => setBaseUrl(event.target.value)} className="field" />
      </Labelled>
      {fields.map((field) => (
        <Labelled key={field.name} label={field.says.replaceAll("`", "").replace(/\.$/, "")}>
          <input
            type={field.isSecret ? "password" : "text"}
            autoComplete="off"
            value={more[field.name] ?? ""}
            onChange={(event) => setMore({ ...more, [field.name]: event.target.value })}
            className="field"
          />
        </Labelled>
      ))}
      <div>
        <Button
          look="main"
          type="submit"
          disabled={apiKey.trim() === "" && baseUrl.trim() === "" && Object.keys(given).length === 0}
        >
          Store
        </Button>
      </div>
    </form>
  )
}
