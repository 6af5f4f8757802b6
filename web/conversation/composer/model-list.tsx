import { ChevronRight } from "../../icons/arrows.ts"
import { Check } from "../../icons/signs.ts"
import { useEffect, useId, useRef, useState } from "react"
import { modelFacts, sourceWords } from "../../../src/client/index.ts"
import { Plain } from "../../parts/plain.tsx"
import { hasWords, SearchField } from "../../parts/search-field.tsx"
import { count, forPeople } from "../../parts/words.ts"
import type { Catalogue } from "../../state/catalogue.ts"

type Model = Catalogue["models"]["items"][number]

interface ModelListProps {
  readonly models: readonly Model[]
  readonly chosen: string | undefined
  readonly onChoose: (name: string) => void
}

/** As many as are drawn: a gateway has hundreds, and nobody reads them all. */
const MOST_DRAWN = 150

/** The first of them, and whichever is chosen. */
function drawnOf(models: readonly Model[], chosen: string | undefined): readonly Model[] {
  if (models.length <= MOST_DRAWN) return models
  const first = models.slice(0, MOST_DRAWN)
  return [...first, ...models.slice(MOST_DRAWN).filter(({ name }) => name === chosen)]
}

/**
 * The models that can be used, in a list that is gone through with the arrow keys while the filter has the focus; those
 * that cannot are one line, which says how many and opens to say why.
 */
export function ModelList({ models, chosen, onChoose }: ModelListProps) {
  const id = useId()
  const [words, setWords] = useState("")
  const found = models.filter(({ name, provider, features }) => hasWords(words, name, provider, features.join(" ")))
  const fitting = found.filter(({ available }) => available)
  const usable = drawnOf(fitting, chosen)
  const others = found.filter(({ available }) => !available)
  const [pointed, setPointed] = useState(chosen)
  const at = Math.max(
    0,
    usable.findIndex(({ name }) => name === pointed),
  )
  const list = useRef<HTMLUListElement>(null)
  const active = usable[at]
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: "nearest" })
  }, [at, usable.length])
  const move = (to: number) => setPointed(usable[(to + usable.length) % usable.length]?.name)
  const KEYS: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(at + 1),
    ArrowUp: () => move(at - 1),
    PageDown: () => move(Math.min(at + 8, usable.length - 1)),
    PageUp: () => move(Math.max(at - 8, 0)),
    Enter: () => active && onChoose(active.name),
  }
  return (
    <>
      <div
        className="shrink-0"
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing || !Object.hasOwn(KEYS, event.key)) return
          event.preventDefault()
          KEYS[event.key]?.()
        }}
      >
        <SearchField
          label="Find a model"
          value={words}
          onChange={setWords}
          role="combobox"
          aria-expanded
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={active ? `${id}-${at}` : undefined}
        />
      </div>
      <div className="mt-1.5 min-h-0 flex-1 overflow-y-auto" tabIndex={-1}>
        <ul ref={list} id={id} role="listbox" aria-label="Models that can be used">
          {usable.map(({ name, provider, ...facts }, index) => (
            <li
              key={name}
              id={`${id}-${index}`}
              role="option"
              aria-selected={name === chosen}
              onPointerMove={() => setPointed(name)}
              onClick={() => onChoose(name)}
              className={`flex cursor-pointer items-start gap-2.5 rounded-lg px-2.5 py-1.5 ${index === at ? "bg-sunken" : ""}`}
            >
              <span className="mt-[3px] size-4 shrink-0">
                {name === chosen && <Check className="size-4 text-accent" aria-hidden="true" />}
              </span>
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                <Plain text={name} />
                <span className="block text-[13px] leading-snug text-faint">
                  {modelFacts({ name, provider, ...facts }).join(" · ")}
                </span>
              </span>
              {/* Most names begin with it: to say it twice only takes the room of what is known of them. */}
              {provider !== name && !name.startsWith(`${provider}/`) && (
                <span className="shrink-0 text-[13px] text-faint">
                  <Plain text={provider} />
                </span>
              )}
            </li>
          ))}
        </ul>
        <p role="status" className={usable.length === 0 ? "px-2.5 py-1.5 text-soft" : "sr-only"}>
          {usable.length === 0
            ? words === ""
              ? "No model can be used yet."
              : "No model that can be used has these words."
            : words === ""
              ? ""
              : `${count(fitting.length, "model")} can be used.`}
        </p>
        {fitting.length > usable.length && (
          <p className="px-2.5 py-1.5 text-[13px] text-soft">
            {count(fitting.length - usable.length, "more model")}: find them by their names, or by what they can do.
          </p>
        )}
        {others.length > 0 && (
          <Unusable key={String(usable.length === 0)} models={others} isOpen={usable.length === 0} />
        )}
      </div>
      {active?.sources && (
        <p className="mt-1 shrink-0 border-t border-line px-2.5 pt-1.5 text-[13px] leading-snug text-soft">
          {sourceWords(active.sources)}
        </p>
      )}
    </>
  )
}

/** What this server could use, and what each needs for that. */
function Unusable({ models, isOpen }: { readonly models: readonly Model[]; readonly isOpen: boolean }) {
  const byNeed = Map.groupBy(models, ({ need }) => need ?? "")
  return (
    <details open={isOpen} className="group mt-1 border-t border-line pt-1">
      <summary className="flex items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-soft hover:bg-sunken">
        <ChevronRight className="size-4 shrink-0 transition-transform group-open:rotate-90" aria-hidden="true" />
        {count(models.length, "model")} cannot be used yet
      </summary>
      {[...byNeed].map(([need, own]) => (
        <div key={need} className="px-2.5 pt-1 pb-2 pl-9 text-[13px] leading-snug">
          <p className="text-soft [overflow-wrap:anywhere]">
            <Plain text={own.map(({ name }) => name).join(", ")} />
          </p>
          {need !== "" && (
            <p className="text-faint">
              To use {own.length === 1 ? "it" : "them"}: <Plain text={forPeople(need)} />.
            </p>
          )}
        </div>
      ))}
    </details>
  )
}
