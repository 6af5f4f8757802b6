import type { ReactNode } from "react"
import type { Mode } from "../../../src/protocol/index.ts"
import { attempt } from "../../parts/explain.ts"
import { type Choice, Menu, MenuChoices } from "../../parts/menu.tsx"
import { Plain } from "../../parts/plain.tsx"
import { humanName } from "../../parts/words.ts"
import { catalogue } from "../../state/catalogue.ts"
import { client } from "../../state/client.ts"
import { useStore } from "../../state/store.ts"
import { FallbackChoice } from "./fallback-choice.tsx"
import { ModelPicker } from "./model-picker.tsx"
import { PickerButton } from "./picker-button.tsx"
import { SettingsPicker } from "../reply-settings/settings-picker.tsx"
import type { Unwritten } from "../../state/use-unwritten.ts"

interface PickersProps {
  readonly conversationId: string
  readonly transcript: Unwritten
}

/** With which model, how it replies and what it may do, for a conversation that is there. Its agent is for good. */
export function Pickers({ conversationId, transcript: { model, mode, settings, items } }: PickersProps) {
  const params = { id: conversationId }
  return (
    <>
      <ModelPicker
        value={model ?? undefined}
        below={<FallbackChoice conversationId={conversationId} model={model} />}
        onChoose={(name) => void attempt(() => client.chooseModel({ params, body: { name } }))}
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
  return <Picker label="Agent" value={value} shown={humanName(value ?? "")} choices={choices} onChoose={onChoose} />
}

const MODES: readonly (Choice<Mode> & { readonly name: string })[] = [
  { value: "read-only", name: "Only looks", says: "It reads, and changes nothing." },
  { value: "confirm", name: "Asks first", says: "Every change is shown to you before it is made." },
  { value: "auto", name: "Acts by itself", says: "Changes are made at once. You can undo most of them." },
]

export function ModePicker({ value, onChoose }: PickerProps<Mode>) {
  const shown = MODES.find((mode) => mode.value === value)?.name ?? ""
  return <Picker label="Mode" value={value} shown={shown} choices={MODES} onChoose={onChoose} />
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
