import { ChevronRight } from "../../icons/arrows.ts"
import { useState } from "react"
import { attempt } from "../../parts/explain.ts"
import { Plain } from "../../parts/plain.tsx"
import { useLoaded } from "../../parts/use-loaded.tsx"
import { catalogue } from "../../state/catalogue.ts"
import { client } from "../../state/client.ts"
import { useStore } from "../../state/store.ts"

interface FallbackChoiceProps {
  readonly conversationId: string
  readonly model: string | null
}

/** Who answers where the chosen model cannot, in the order in which they were ticked. Every tick is kept at once. */
export function FallbackChoice({ conversationId, model }: FallbackChoiceProps) {
  const params = { id: conversationId }
  const { value, trouble } = useLoaded(() => client.readModel({ params }))
  const [ticked, setTicked] = useState<readonly string[]>()
  const models = useStore(catalogue)?.models.items ?? []
  const told = value?.fallback
  if (trouble || !told) return trouble
  const chosen = ticked ?? told.models
  // Where nobody has chosen anybody there is no choice to tell of.
  const isUnsaid = told.from === "server" && told.models.length === 0
  const whose = ticked || isUnsaid || told.from === "conversation" ? "" : ` (chosen by the ${told.from})`
  const usable = models.filter(({ name, available }) => (available && name !== model) || chosen.includes(name))
  const choose = async (fallback: string[]) => {
    if (await attempt(() => client.changeConversation({ params, body: { fallback } }))) setTicked(fallback)
  }
  return (
    <details className="group mt-1 shrink-0 border-t border-line pt-1">
      <summary className="flex items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-soft hover:bg-sunken">
        <ChevronRight className="size-4 shrink-0 transition-transform group-open:rotate-90" aria-hidden="true" />
        <span className="min-w-0 [overflow-wrap:anywhere]">
          If it cannot answer:{" "}
          <Plain text={chosen.length > 0 ? chosen.join(", then ") + whose : `nobody instead${whose}`} />
        </span>
      </summary>
      <fieldset className="max-h-40 overflow-y-auto px-2.5 pb-2 pl-9">
        <legend className="text-[13px] text-faint">
          When it is out of reach, overloaded or out of quota, these are asked in the order in which you tick them.
        </legend>
        {usable.map(({ name }) => (
          <label key={name} className="flex items-start gap-2 py-1 [overflow-wrap:anywhere]">
            <input
              type="checkbox"
              className="mt-1"
              checked={chosen.includes(name)}
              onChange={({ target }) =>
                void choose(target.checked ? [...chosen, name] : chosen.filter((each) => each !== name))
              }
            />
            <Plain text={name} />
          </label>
        ))}
        {usable.length === 0 && <p className="py-1 text-soft">There is no other model that can be used.</p>}
      </fieldset>
    </details>
  )
}
