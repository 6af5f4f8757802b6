import { Popup } from "../../components/menu.tsx"
import { type ComponentProps, type ReactNode, useEffect, useId, useRef, useState } from "react"
import { Check, ChevronDown, ChevronRight } from "../../components/icons.tsx"
import { Button } from "../../components/button.tsx"
import { attempt } from "../../components/explain.ts"
import { escapeHidden } from "../../../../client/index.ts"
import { describeFactSources, modelFacts } from "../../components/model-facts.ts"
import { providerName } from "../../components/provider-name.ts"
import { Plain } from "../../components/plain.tsx"
import { SearchField, containsText } from "../../components/form.tsx"
import { type Catalogue, catalogue, refreshModels } from "../../state/catalogue.ts"
import { useStore } from "../../state/store.ts"
import { time } from "../../strings/format.ts"
import { rich, t } from "../../strings/strings.ts"

interface ModelPickerProps {
  /** Undefined for the server's choice. */
  readonly value: string | undefined
  readonly onChoose: (name: string) => void
  readonly side?: "top" | "bottom"
  /** More choices at the end of the list. */
  readonly below?: ReactNode
}

/** Selects a model among those that can be used, with a filter. */
export function ModelPicker({ value, onChoose, side = "top", below }: ModelPickerProps) {
  const models = useStore(catalogue)?.models
  const [isOpen, setOpen] = useState(false)
  const endpoints = models?.endpoints ?? []
  const hasEndpoints = endpoints.length > 0
  // The first endpoint may become known while the list is open. If reading fails, the list stays as it is.
  useEffect(() => {
    if (isOpen && hasEndpoints) refreshModels(false).catch(() => {})
  }, [isOpen, hasEndpoints])
  if (!models) return null
  const chosen = value ?? models.default ?? undefined
  const unavailable = value === undefined ? models.unavailableChoice : undefined
  return (
    <>
      <Popup
        label={t("conversation.models")}
        side={side}
        isOpen={isOpen}
        onOpenChange={setOpen}
        className="flex max-h-[min(26rem,var(--radix-popover-content-available-height))] w-[min(22rem,calc(100vw-1rem))] flex-col p-1.5"
        trigger={<PickerButton label={t("conversation.model")} shown={chosen ?? t("conversation.chooseModel")} />}
      >
        <ModelList
          models={models.items}
          chosen={chosen}
          onChoose={(name) => {
            setOpen(false)
            onChoose(name)
          }}
        />
        <ModelEndpoints endpoints={endpoints} />
        {below}
      </Popup>
      {unavailable && (
        <p role="status" className="w-full px-2 pb-1 text-[13px] leading-snug text-warn">
          {rich("conversation.unavailableChoice", {
            name: <Plain text={unavailable.name} />,
            // The variable to set comes first.
            reason: <Plain text={unavailable.need.split(",")[0] ?? ""} />,
          })}{" "}
          {models.default && rich("conversation.unavailableInstead", { model: <Plain text={models.default} /> })}{" "}
          <button type="button" className="text-accent underline underline-offset-2" onClick={() => setOpen(true)}>
            {t("conversation.chooseAnotherModel")}
          </button>
        </p>
      )}
    </>
  )
}

type Model = Catalogue["models"]["items"][number]

interface ModelListProps {
  readonly models: readonly Model[]
  readonly chosen: string | undefined
  readonly onChoose: (name: string) => void
}

/** A gateway has hundreds of models. */
const MOST_DRAWN = 150

/** The first models, and always the chosen one. */
function drawnOf(models: readonly Model[], chosen: string | undefined): readonly Model[] {
  if (models.length <= MOST_DRAWN) return models
  const first = models.slice(0, MOST_DRAWN)
  return [...first, ...models.slice(MOST_DRAWN).filter(({ name }) => name === chosen)]
}

/**
 * The usable models in a list that the arrow keys move through while the filter has the focus. The others are one line,
 * which opens to show why they cannot be used.
 */
function ModelList({ models, chosen, onChoose }: ModelListProps) {
  const id = useId()
  const [words, setWords] = useState("")
  const found = models.filter(({ name, provider, features }) => containsText(words, name, provider, features.join(" ")))
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
          label={t("conversation.searchModels")}
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
        <ul ref={list} id={id} role="listbox" aria-label={t("conversation.availableModels")}>
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
              {/* Most names begin with the provider, which need not be repeated. */}
              {provider !== name && !name.startsWith(`${provider}/`) && (
                <span className="shrink-0 text-[13px] text-faint">
                  <Plain text={providerName(provider)} />
                </span>
              )}
            </li>
          ))}
        </ul>
        <p role="status" className={usable.length === 0 ? "px-2.5 py-1.5 text-soft" : "sr-only"}>
          {usable.length === 0
            ? t(words === "" ? "conversation.noModelAvailable" : "conversation.noModelMatches")
            : words === ""
              ? ""
              : t("conversation.modelsAvailable", { count: fitting.length })}
        </p>
        {fitting.length > usable.length && (
          <p className="px-2.5 py-1.5 text-[13px] text-soft">
            {t("conversation.moreModels", { count: fitting.length - usable.length })}
          </p>
        )}
        {others.length > 0 && (
          <Unusable key={String(usable.length === 0)} models={others} isOpen={usable.length === 0} />
        )}
      </div>
      {active?.sources && (
        <p className="mt-1 shrink-0 border-t border-line px-2.5 pt-1.5 text-[13px] leading-snug text-soft">
          {describeFactSources(active.sources)}
        </p>
      )}
    </>
  )
}

/** Models that are not usable, and what each needs. */
function Unusable({ models, isOpen }: { readonly models: readonly Model[]; readonly isOpen: boolean }) {
  const byNeed = Map.groupBy(models, ({ need }) => need ?? "")
  return (
    <details open={isOpen} className="group mt-1 border-t border-line pt-1">
      <summary className="flex items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-soft hover:bg-sunken">
        <ChevronRight className="size-4 shrink-0 transition-transform group-open:rotate-90" aria-hidden="true" />
        {t("conversation.modelsUnavailable", { count: models.length })}
      </summary>
      {[...byNeed].map(([need, own]) => (
        <div key={need} className="px-2.5 pt-1 pb-2 pl-9 text-[13px] leading-snug">
          <p className="text-soft [overflow-wrap:anywhere]">
            <Plain text={own.map(({ name }) => name).join(", ")} />
          </p>
          {need !== "" && (
            <p className="text-faint">
              {rich("conversation.toUse", { count: own.length, need: <Plain text={need} /> })}
            </p>
          )}
        </div>
      ))}
    </details>
  )
}

/** The state of the endpoints that list their models. They are asked when the menu opens, and on request. */
function ModelEndpoints({ endpoints = [] }: Pick<Catalogue["models"], "endpoints">) {
  const [isAsking, setAsking] = useState(false)
  if (endpoints.length === 0) return null
  const askAgain = async () => {
    setAsking(true)
    await attempt(() => refreshModels(true))
    setAsking(false)
  }
  const words = endpoints.flatMap(describeEndpoint)
  return (
    <div className="mt-1 flex shrink-0 items-start gap-2 border-t border-line pt-1.5 pl-2.5 text-[13px] leading-snug text-soft">
      <div role="status" className="min-w-0 flex-1 py-1.5 [overflow-wrap:anywhere]">
        {words.map((text) => (
          <p key={text}>
            <Plain text={text} />
          </p>
        ))}
      </div>
      <Button small look="quiet" disabled={isAsking} onClick={() => void askAgain()}>
        {t(isAsking ? "conversation.refreshing" : "conversation.refresh")}
      </Button>
    </div>
  )
}

type Endpoint = NonNullable<Catalogue["models"]["endpoints"]>[number]

/** The problem or progress of an endpoint; undefined if it listed all its models. */
function describeEndpoint({ provider, state, leftOut, answeredAt, problem }: Endpoint): string[] {
  if (state === "asking") return [t("conversation.endpointAsking", { provider })]
  if (state === "failed") {
    const failed = t("conversation.endpointFailed", {
      provider,
      problem: problem ?? t("conversation.endpointNoReason"),
    })
    return [answeredAt ? `${failed} ${t("conversation.endpointListFrom", { time: time(answeredAt) })}` : failed]
  }
  return leftOut > 0 ? [t("conversation.endpointLeftOut", { provider, count: leftOut })] : []
}

interface PickerButtonProps extends ComponentProps<"button"> {
  readonly label: string
  /** The label of the current choice. */
  readonly shown: string
}

/** A button that shows the current choice and opens the list. */
export function PickerButton({ label, shown, ...rest }: PickerButtonProps) {
  return (
    <button
      type="button"
      aria-label={`${label}: ${escapeHidden(shown)}`}
      className="flex h-8 min-w-0 items-center gap-1 rounded-lg px-2 text-[13px] text-soft hover:bg-sunken hover:text-ink"
      {...rest}
    >
      <span className="truncate">
        <Plain text={shown} />
      </span>
      <ChevronDown className="size-3.5 shrink-0 text-faint" />
    </button>
  )
}
