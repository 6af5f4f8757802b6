import { useState } from "react"
import type { ProviderView } from "../../../core/protocol/index.ts"
import { Labelled, Select } from "../components/form.tsx"
import { client } from "../state/client.ts"
import { t } from "../strings/strings.ts"
import { Field, StoreForm } from "./store-form.tsx"

interface FormProps {
  /** The endpoint to edit. If absent, the form adds one. */
  readonly provider?: ProviderView
  readonly onDone: (name: string) => Promise<void>
}

/** The form of the user's own endpoint. Its stored key and header values are never shown, and stay if left empty. */
export function EndpointForm({ provider, onDone }: FormProps) {
  const { endpoint } = provider ?? {}
  const [name, setName] = useState(provider?.name ?? "")
  const [baseUrl, setBaseUrl] = useState(provider?.baseUrl ?? "")
  const [kind, setKind] = useState<"openai" | "anthropic">(endpoint?.kind ?? "openai")
  const [apiKey, setKey] = useState("")
  const [headers, setHeaders] = useState("")
  const [models, setModels] = useState(endpoint?.models.map(({ id }) => id).join("\n") ?? "")
  const store = async () => {
    const known = new Map(endpoint?.models.map((model) => [model.id, model]))
    const body = {
      ...{ kind, baseUrl },
      ...(apiKey.trim() ? { apiKey } : {}),
      ...(headers.trim() ? { headers: toHeaders(headers) } : {}),
      models: linesOf(models).map((id) => known.get(id) ?? { id }),
    }
    if (provider) await client.changeProvider({ params: { name }, body })
    else await client.saveProvider({ params: { name: name.trim() }, body })
    await onDone(name.trim())
  }
  const names = endpoint?.headers.join(", ") ?? ""
  return (
    <StoreForm isReady={name.trim() !== "" && baseUrl.trim() !== ""} store={store}>
      {!provider && (
        <Field
          label={t("settings.endpointName")}
          field="name"
          pattern="[a-z][a-z0-9\-]{0,39}"
          title={t("settings.endpointNameRule")}
          value={name}
          onType={setName}
        />
      )}
      <Field
        label={t("settings.address")}
        field="baseUrl"
        type="url"
        placeholder="https://models.example/v1"
        value={baseUrl}
        onType={setBaseUrl}
      />
      <Labelled label={t("settings.endpointApi")}>
        <Select
          value={kind}
          choices={[
            ["openai", t("settings.apiOpenai")],
            ["anthropic", t("settings.apiAnthropic")],
          ]}
          onChoose={(chosen) => setKind(chosen === "anthropic" ? chosen : "openai")}
        />
      </Labelled>
      <Field
        label={t(provider ? "settings.apiKeyKeep" : "settings.apiKey")}
        field="apiKey"
        type="password"
        value={apiKey}
        onType={setKey}
      />
      <Labelled label={names === "" ? t("settings.headers") : t("settings.headersKeep", { names })} field="headers">
        <textarea rows={3} value={headers} onChange={(event) => setHeaders(event.target.value)} className="field" />
      </Labelled>
      <Labelled label={t("settings.endpointModels")} field="models">
        <textarea rows={3} value={models} onChange={(event) => setModels(event.target.value)} className="field" />
      </Labelled>
    </StoreForm>
  )
}

const linesOf = (text: string): string[] => text.split("\n").flatMap((line) => line.trim() || [])

function toHeaders(text: string): Record<string, string> {
  const pairs = linesOf(text).map((line) => {
    const [name = "", ...rest] = line.split(":")
    return [name.trim(), rest.join(":").trim()]
  })
  return Object.fromEntries(pairs)
}
