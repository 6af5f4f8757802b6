import { useState } from "react"
import type { ProviderView } from "../../../core/protocol/index.ts"
import { client } from "../state/client.ts"
import { type Key, t } from "../strings/strings.ts"
import { Field, StoreForm } from "./store-form.tsx"

interface AccessProps {
  readonly provider: ProviderView
  readonly onDone: () => Promise<void>
}

/** The default addresses of model servers on the user's own machine. */
const LOCAL_ADDRESSES: ReadonlyMap<string, string> = new Map([
  ["ollama", "http://127.0.0.1:11434"],
  ["lmstudio", "http://127.0.0.1:1234"],
  ["llamacpp", "http://127.0.0.1:8080"],
  ["vllm", "http://127.0.0.1:8000"],
])

const LABELS: ReadonlyMap<string, Key> = new Map([
  ["accessKeyId", "settings.fieldAccessKeyId"],
  ["clientEmail", "settings.fieldClientEmail"],
  ["location", "settings.fieldLocation"],
  ["privateKey", "settings.fieldPrivateKey"],
  ["privateKeyId", "settings.fieldPrivateKeyId"],
  ["project", "settings.fieldProject"],
  ["region", "settings.fieldRegion"],
  ["resourceName", "settings.fieldResourceName"],
  ["secretAccessKey", "settings.fieldSecretAccessKey"],
  ["sessionToken", "settings.fieldSessionToken"],
])

/** A field that this page does not know has the description of the server, which may be newer. */
function labelOf({ name, says }: NonNullable<ProviderView["fields"]>[number]): string {
  const label = LABELS.get(name)
  return label === undefined ? says.replaceAll("`", "").replace(/\.$/, "") : t(label)
}

/** The form for the user's own key and address for a provider, and the other fields that the provider needs. */
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
      <Field label={t("settings.apiKey")} field="apiKey" type="password" value={apiKey} onType={setKey} />
      <Field
        label={t(LOCAL_ADDRESSES.has(name) ? "settings.address" : "settings.addressOptional")}
        field="baseUrl"
        type="url"
        placeholder={LOCAL_ADDRESSES.get(name)}
        value={baseUrl}
        onType={setBaseUrl}
      />
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field.name}
          label={labelOf(field)}
          type={field.isSecret ? "password" : "text"}
          value={more[field.name] ?? ""}
          onType={(text) => setMore({ ...more, [field.name]: text })}
        />
      ))}
    </StoreForm>
  )
}
