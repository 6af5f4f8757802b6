import { useState } from "react"
import type { ProviderView } from "../../src/protocol/index.ts"
import { client } from "../state/client.ts"
import { Field, StoreForm } from "./store-form.tsx"

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
  const body = {
    ...(apiKey.trim() ? { apiKey } : {}),
    ...(baseUrl.trim() ? { baseUrl } : {}),
    ...(Object.keys(given).length > 0 ? { fields: given } : {}),
  }
  const store = async () => {
    await client.saveProvider({ params: { name }, body })
    await onDone()
  }
  return (
    <StoreForm isReady={Object.keys(body).length > 0} store={store}>
      <Field label="Key" type="password" value={apiKey} onType={setKey} />
      <Field label="Address, where it is not the usual one" type="url" value={baseUrl} onType={setBaseUrl} />
      {fields.map((field) => (
        <Field
          key={field.name}
          label={field.says.replaceAll("`", "").replace(/\.$/, "")}
          type={field.isSecret ? "password" : "text"}
          value={more[field.name] ?? ""}
          onType={(text) => setMore({ ...more, [field.name]: text })}
        />
      ))}
    </StoreForm>
  )
}
