import { useState } from "react"
import type { ProviderView } from "../../src/protocol/index.ts"
import { Labelled, Select } from "../parts/labelled.tsx"
import { client } from "../state/client.ts"
import { Field, StoreForm } from "./store-form.tsx"

interface FormProps {
  /** The one that is changed; without, a new one. */
  readonly provider?: ProviderView
  readonly onDone: () => Promise<void>
}

const KINDS = [
  ["openai", "OpenAI's chat completions"],
  ["anthropic", "Anthropic's messages"],
] as const

/** What is said of an endpoint of one's own. Its key and what its headers hold are never shown, and stay where nothing is typed. */
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
    await onDone()
  }
  const stays = provider ? ", empty to keep what is stored" : ""
  const were = endpoint && endpoint.headers.length > 0 ? ` (${endpoint.headers.join(", ")})` : ""
  return (
    <StoreForm isReady={name.trim() !== "" && baseUrl.trim() !== ""} store={store}>
      {!provider && (
        <Field
          label="Name, in small letters"
          pattern="[a-z][a-z0-9\-]{0,39}"
          title="Up to 40 small letters, digits and -"
          value={name}
          onType={setName}
        />
      )}
      <Field label="Address" type="url" placeholder="https://models.example/v1" value={baseUrl} onType={setBaseUrl} />
      <Labelled label="It speaks">
        <Select
          value={kind}
          choices={KINDS}
          onChoose={(chosen) => setKind(chosen === "anthropic" ? chosen : "openai")}
        />
      </Labelled>
      <Field label={`Key${stays}`} type="password" value={apiKey} onType={setKey} />
      <Labelled label={`Headers${were}, a line each as Name: value${stays}`}>
        <textarea rows={3} value={headers} onChange={(event) => setHeaders(event.target.value)} className="field" />
      </Labelled>
      <Labelled label="Models that menus show, a line each">
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
