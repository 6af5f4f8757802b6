import { useState } from "react"
import { modelFacts } from "../../src/client/index.ts"
import type { ProviderView } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Plain } from "../parts/plain.tsx"
import { count } from "../parts/words.ts"
import { catalogue, loadCatalogue } from "../state/catalogue.ts"
import { client } from "../state/client.ts"
import { useStore } from "../state/store.ts"
import { toast } from "../state/toasts.ts"
import { Part, Things } from "../parts/part.tsx"
import { useLoaded } from "../parts/use-loaded.tsx"
import { AccessForm } from "./access-form.tsx"
import { OwnEndpoints } from "./own-endpoints.tsx"

/** A gateway has hundreds. */
const MOST_LISTED = 150

/** Which models there are, and keys of one's own for their providers. */
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
      <Part
        title="Providers"
        says="A key of your own is stored encrypted, used for your conversations only, and never shown again. Whoever runs the server can set one for all."
      >
        <Things>
          {value?.items.filter(isProvider).map((provider) => (
            <Provider key={provider.name} provider={provider} onChanged={again} />
          ))}
        </Things>
      </Part>
      {value && <OwnEndpoints endpoints={value.items.filter((each) => !isProvider(each))} onChanged={again} />}
      <Part title="Models" says={models?.default && <>New conversations begin with {models.default}.</>}>
        <Things>
          {models?.items.slice(0, MOST_LISTED).map(({ name, provider, available, ...facts }) => (
            <li key={name} className="flex flex-wrap items-baseline gap-x-3 px-3.5 py-2">
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                <Plain text={name} /> <span className="text-faint">{provider}</span>
                <span className="block text-[13px] text-faint">
                  {modelFacts({ name, provider, available, ...facts }).join(" · ")}
                </span>
              </span>
              <span className={`text-[13px] ${available ? "text-good" : "text-faint"}`}>
                {available ? "can be used" : "needs its provider"}
              </span>
            </li>
          ))}
        </Things>
        {models && models.items.length > MOST_LISTED && (
          <p className="mt-2 text-[13px] text-soft">
            {count(models.items.length - MOST_LISTED, "more model")}: the menu beside what you write finds them.
          </p>
        )}
      </Part>
    </>
  )
}

/** What the person named themselves stands by itself. */
const isProvider = ({ endpoint, lost }: ProviderView): boolean => !endpoint && !lost

const SOURCES = { own: "your own key", shared: "the operator's key" }

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
      toast("Forgotten.")
    })
  return (
    <li className="px-3.5 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 flex-1">
          <Plain text={name} />
          <span className="block text-[13px] text-faint">
            {configured ? `uses ${SOURCES[source ?? "shared"]}` : "nobody's key yet"}
            {baseUrl && (
              <>
                {" "}
                at <Plain text={baseUrl} />
              </>
            )}
          </span>
        </span>
        {source === "own" && (
          <Button small onClick={() => void remove()}>
            Forget mine
          </Button>
        )}
        {!operatorOnly && (
          <Button small onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
            {source === "own" ? "Replace" : "Use my own"}
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
