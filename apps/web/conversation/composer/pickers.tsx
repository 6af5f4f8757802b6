import { type ReactNode, useState } from "react"
import type { Mode } from "../../../../core/protocol/index.ts"
import { ChevronRight } from "../../components/icons.tsx"
import { attempt } from "../../components/explain.ts"
import { type Choice, Menu, MenuChoices } from "../../components/menu.tsx"
import { Plain } from "../../components/plain.tsx"
import { useLoaded } from "../../components/use-loaded.tsx"
import { humanName } from "../../../../client/index.ts"
import { catalogue, suggestModel } from "../../state/catalogue.ts"
import { client } from "../../state/client.ts"
import { useStore } from "../../state/store.ts"
import type { SettledTranscript } from "../../state/use-settled-transcript.ts"
import { type Key, rich, t } from "../../strings/strings.ts"
import { SettingsPicker } from "../reply-settings/settings-picker.tsx"
import { ModelPicker, PickerButton } from "./model-picker.tsx"

interface PickersProps {
  readonly conversationId: string
  readonly transcript: SettledTranscript
}

/** The settings of an existing conversation: model, reply settings, mode. Its agent cannot change. */
export function Pickers({ conversationId, transcript: { model, mode, settings, items } }: PickersProps) {
  const params = { id: conversationId }
  return (
    <>
      <ModelPicker
        value={model ?? undefined}
        below={<FallbackChoice conversationId={conversationId} model={model} />}
        onChoose={(name) => void attempt(() => chooseModel(conversationId, name))}
      />
      <SettingsPicker
        settings={settings}
        model={model ?? undefined}
        items={items}
        onChange={(patch) => client.changeConversation({ params, body: { settings: patch } })}
      />
      <ModePicker
        value={mode ?? "confirm"}
        onChoose={(chosen) => void attempt(() => client.changeConversation({ params, body: { mode: chosen } }))}
      />
    </>
  )
}

/** Sets the model of a conversation, which is also the default of the next one. */
export async function chooseModel(conversationId: string, name: string): Promise<void> {
  await client.chooseModel({ params: { id: conversationId }, body: { name } })
  suggestModel(name)
}

interface PickerProps<Value extends string> {
  readonly value: Value | undefined
  readonly onChoose: (value: Value) => void
}

export function AgentPicker({ value, onChoose }: PickerProps<string>) {
  const agents = useStore(catalogue)?.agents ?? []
  if (agents.length < 2) return null
  const choices = agents.map(({ name, description }) => ({
    value: name,
    name: <Plain text={humanName(name)} />,
    says: <Plain text={description} />,
  }))
  return (
    <Picker
      label={t("conversation.agent")}
      value={value}
      shown={humanName(value ?? "")}
      choices={choices}
      onChoose={onChoose}
    />
  )
}

const MODES: readonly { readonly value: Mode; readonly name: Key; readonly hint: Key }[] = [
  { value: "read-only", name: "conversation.readOnly", hint: "conversation.readOnlyHint" },
  { value: "confirm", name: "conversation.askFirst", hint: "conversation.askFirstHint" },
  { value: "auto", name: "conversation.automatic", hint: "conversation.automaticHint" },
]

export function ModePicker({ value, onChoose }: PickerProps<Mode>) {
  const chosen = MODES.find((mode) => mode.value === value)
  const shown = chosen ? t(chosen.name) : ""
  const choices = MODES.map(({ name, hint, ...mode }) => ({ ...mode, name: t(name), says: t(hint) }))
  return <Picker label={t("conversation.mode")} value={value} shown={shown} choices={choices} onChoose={onChoose} />
}

interface ShownPicker<Value extends string> extends PickerProps<Value> {
  readonly label: string
  readonly shown: string
  readonly choices: readonly Choice<Value>[]
}

function Picker<Value extends string>({ label, shown, ...choosing }: ShownPicker<Value>): ReactNode {
  return (
    <Menu side="top" trigger={<PickerButton label={label} shown={shown} />}>
      <MenuChoices label={label} {...choosing} />
    </Menu>
  )
}

interface FallbackChoiceProps {
  readonly conversationId: string
  readonly model: string | null
}

/** The models that answer if the chosen one cannot, in the order of their selection. Each selection is saved at once. */
function FallbackChoice({ conversationId, model }: FallbackChoiceProps) {
  const params = { id: conversationId }
  const { value, trouble } = useLoaded(() => client.readModel({ params }))
  const [ticked, setTicked] = useState<readonly string[]>()
  const models = useStore(catalogue)?.models.items ?? []
  const told = value?.fallback
  if (trouble || !told) return trouble
  const chosen = ticked ?? told.models
  const names = chosen.length > 0 ? chosen.join(" → ") : t("conversation.fallbackNone")
  // Older servers have no fallbacks.
  const isOwn =
    ticked !== undefined || told.from === "conversation" || (told.from === "server" && told.models.length === 0)
  const shown = isOwn ? names : t("conversation.fallbackFrom", { models: names, from: told.from })
  const usable = models.filter(({ name, available }) => (available && name !== model) || chosen.includes(name))
  const choose = async (fallback: string[]) => {
    if (await attempt(() => client.changeConversation({ params, body: { fallback } }))) setTicked(fallback)
  }
  return (
    <details className="group mt-1 shrink-0 border-t border-line pt-1">
      <summary className="flex items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-soft hover:bg-sunken">
        <ChevronRight className="size-4 shrink-0 transition-transform group-open:rotate-90" aria-hidden="true" />
        <span className="min-w-0 [overflow-wrap:anywhere]">
          {rich("conversation.fallback", { models: <Plain text={shown} /> })}
        </span>
      </summary>
      <fieldset className="max-h-40 overflow-y-auto px-2.5 pb-2 pl-9">
        <legend className="text-[13px] text-faint">{t("conversation.fallbackHint")}</legend>
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
        {usable.length === 0 && <p className="py-1 text-soft">{t("conversation.noFallback")}</p>}
      </fieldset>
    </details>
  )
}
