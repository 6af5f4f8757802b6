import { useState } from "react"
import { modelFacts } from "../components/model-facts.ts"
import type { ProviderView } from "../../../core/protocol/index.ts"
import { Button } from "../components/button.tsx"
import { attempt } from "../components/explain.ts"
import { Select } from "../components/form.tsx"
import { providerName } from "../components/provider-name.ts"
import { Plain } from "../components/plain.tsx"
import { type Catalogue, catalogue, loadCatalogue } from "../state/catalogue.ts"
import { client } from "../state/client.ts"
import { useStore } from "../state/store.ts"
import { toast } from "../state/toasts.ts"
import { Section, ItemList } from "../components/section.tsx"
import { useLoaded } from "../components/use-loaded.tsx"
import { rich, t } from "../strings/strings.ts"
import { AccessForm } from "./access-form.tsx"
import { OwnEndpoints } from "./own-endpoints.tsx"

/** A gateway can have hundreds of models. */
const MOST_LISTED = 150

/** The models, and the user's own keys for their providers. */
export function ModelSettings() {
  const models = useStore(catalogue)?.models
  const { value, reload, trouble } = useLoaded(() => client.listProviders())
  const again = async () => {
    await reload()
    await loadCatalogue()
  }
  return (
    <>
      {trouble}
      <Section title={t("settings.providers")} says={t("settings.providersHint")}>
        <ItemList>
          {value?.items.filter(isProvider).map((provider) => (
            <Provider key={provider.name} provider={provider} onChanged={again} />
          ))}
        </ItemList>
      </Section>
      {value && <OwnEndpoints endpoints={value.items.filter((each) => !isProvider(each))} onChanged={again} />}
      {models && <DefaultModel models={models} />}
      <Section title={t("settings.models")}>
        <ItemList>
          {models?.items.slice(0, MOST_LISTED).map(({ name, provider, available, ...facts }) => (
            <li key={name} className="flex flex-wrap items-baseline gap-x-3 px-3.5 py-2">
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                <Plain text={name} />{" "}
                <span className="text-faint">
                  <Plain text={providerName(provider)} />
                </span>
                <span className="block text-[13px] text-faint">
                  {modelFacts({ name, provider, available, ...facts }).join(" · ")}
                </span>
              </span>
              <span className={`text-[13px] ${available ? "text-good" : "text-faint"}`}>
                {t(available ? "settings.available" : "settings.unavailable")}
              </span>
            </li>
          ))}
        </ItemList>
        {models && models.items.length > MOST_LISTED && (
          <p className="mt-2 text-[13px] text-soft">
            {t("settings.moreModels", { count: models.items.length - MOST_LISTED })}
          </p>
        )}
      </Section>
    </>
  )
}

/** The model that new conversations start with in all clients, until another one is chosen in a client. */
function DefaultModel({ models }: { readonly models: Catalogue["models"] }) {
  const { items, chosenDefault = null, default: current } = models
  const usable = items.filter(({ available, name }) => available || name === chosenDefault).map(({ name }) => name)
  // A model that its endpoint does not list can be the default, too.
  const names = chosenDefault === null || usable.includes(chosenDefault) ? usable : [chosenDefault, ...usable]
  const choose = (name: string) =>
    attempt(async () => {
      await client.chooseDefaultModel({ body: { name: name === "" ? null : name, everywhere: true } })
      await loadCatalogue()
    })
  return (
    <Section
      title={t("settings.defaultModelTitle")}
      says={current === null ? undefined : rich("settings.defaultModel", { model: <Plain text={current} /> })}
    >
      <Select
        aria-label={t("settings.defaultModelTitle")}
        value={chosenDefault ?? ""}
        choices={[["", t("settings.automaticModel")], ...names.map((name) => [name, name] as const)]}
        onChoose={(name) => void choose(name)}
      />
    </Section>
  )
}

/** The user's own endpoints have a section of their own. */
const isProvider = ({ endpoint, lost }: ProviderView): boolean => !endpoint && !lost

interface ProviderProps {
  readonly provider: ProviderView
  readonly onChanged: () => Promise<void>
}

function Provider({ provider, onChanged }: ProviderProps) {
  const { name, configured, source, baseUrl, operatorOnly } = provider
  const [isOpen, setOpen] = useState(false)
  const remove = () =>
    attempt(async () => {
      await client.removeProvider({ params: { name } })
      await onChanged()
      toast(t("settings.removed"))
    })
  return (
    <li className="px-3.5 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 flex-1">
          <Plain text={providerName(name)} />
          <span className="block text-[13px] text-faint">
            {t("settings.provider", { source: configured ? (source ?? "shared") : "none" })}
            {baseUrl && (
              <>
                {" · "}
                <Plain text={baseUrl} />
              </>
            )}
          </span>
        </span>
        {source === "own" && (
          <Button small onClick={() => void remove()}>
            {t("common.remove")}
          </Button>
        )}
        {!operatorOnly && (
          <Button small onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
            {t(source === "own" ? "settings.replace" : configured ? "settings.useOwnKey" : "settings.setUp")}
          </Button>
        )}
      </div>
      {isOpen && (
        <AccessForm
          provider={provider}
          onDone={async () => {
            setOpen(false)
            await onChanged()
          }}
        />
      )}
    </li>
  )
}
