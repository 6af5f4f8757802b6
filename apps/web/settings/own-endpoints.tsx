import { useState } from "react"
import type { ProviderView } from "../../../core/protocol/index.ts"
import { Button } from "../components/button.tsx"
import { attempt } from "../components/explain.ts"
import { Section, ItemList } from "../components/section.tsx"
import { Plain } from "../components/plain.tsx"
import { refreshModels } from "../state/catalogue.ts"
import { client } from "../state/client.ts"
import { toast } from "../state/toasts.ts"
import { rich, t } from "../strings/strings.ts"
import { EndpointForm } from "./endpoint-form.tsx"

interface EndpointsProps {
  readonly endpoints: readonly ProviderView[]
  readonly onChanged: () => Promise<void>
}

/** The model servers that the user added under a name. */
export function OwnEndpoints({ endpoints, onChanged }: EndpointsProps) {
  const [isOpen, setOpen] = useState(false)
  const [silent, setSilent] = useState<Silent>()
  const saved = async (name: string) => {
    setOpen(false)
    setSilent(undefined)
    await onChanged()
    const problem = await problemOf(name)
    if (problem !== undefined) setSilent({ name, problem })
  }
  return (
    <Section title={t("settings.endpoints")} says={t("settings.endpointsHint")}>
      {endpoints.length > 0 && (
        <ItemList>
          {endpoints.map((each) => (
            <Endpoint
              key={each.name}
              provider={each}
              problem={silent?.name === each.name ? silent.problem : undefined}
              onChanged={onChanged}
              onSaved={saved}
            />
          ))}
        </ItemList>
      )}
      <div className="mt-3">
        <Button small onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
          {t("settings.addEndpoint")}
        </Button>
      </div>
      {isOpen && <EndpointForm onDone={saved} />}
    </Section>
  )
}

/** An endpoint that was saved and does not respond. */
interface Silent {
  readonly name: string
  readonly problem: string
}

/** How long saving waits for the first response of an endpoint. */
const WAIT_SECONDS = 3

/** Why a saved endpoint does not list its models; undefined if it responds, or if that cannot be found out. */
async function problemOf(name: string): Promise<string | undefined> {
  const { endpoints = [] } = await refreshModels(true, WAIT_SECONDS).catch(() => ({ endpoints: [] }))
  const found = endpoints.find(({ provider }) => provider === name)
  if (!found || found.state === "answered" || found.state === "unasked") return undefined
  return found.problem ?? t("settings.endpointNoResponse")
}

interface EndpointProps {
  readonly provider: ProviderView
  readonly problem: string | undefined
  readonly onSaved: (name: string) => Promise<void>
  readonly onChanged: () => Promise<void>
}

function Endpoint({ provider, problem, onChanged, onSaved }: EndpointProps) {
  const { name, baseUrl, endpoint, need } = provider
  const [isOpen, setOpen] = useState(false)
  const remove = () =>
    attempt(async () => {
      await client.removeProvider({ params: { name } })
      await onChanged()
      toast(t("settings.removed"))
    })
  const done = async () => {
    setOpen(false)
    await onSaved(name)
  }
  return (
    <li className="px-3.5 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 flex-1">
          <Plain text={name} />
          <span className="block text-[13px] text-faint">
            {need ?? (
              <>
                <Plain text={baseUrl ?? ""} /> ·{" "}
                {t(endpoint?.hasKey ? "settings.endpointHasKey" : "settings.endpointHasNoKey")}
              </>
            )}
          </span>
        </span>
        <Button small onClick={() => void remove()}>
          {t("common.remove")}
        </Button>
        {endpoint && (
          <Button small onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
            {t("settings.edit")}
          </Button>
        )}
      </div>
      {problem !== undefined && (
        <p role="alert" className="mt-1 text-[13px] text-warn [overflow-wrap:anywhere]">
          {rich("settings.endpointSilent", { problem: <Plain text={problem} /> })}
        </p>
      )}
      {isOpen && <EndpointForm provider={provider} onDone={done} />}
    </li>
  )
}
