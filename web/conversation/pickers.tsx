import { ChevronDown } from "lucide-react"
import type { ReactNode } from "react"
import type { Mode } from "../../src/protocol/index.ts"
import { attempt } from "../parts/explain.ts"
import { type Choice, Menu, MenuChoices } from "../parts/menu.tsx"
import { Plain } from "../parts/plain.tsx"
import { forPeople, humanName } from "../parts/words.ts"
import { catalogue } from "../state/catalogue.ts"
import { client } from "../state/client.ts"
import { useStore } from "../state/store.ts"

interface PickersProps {
  readonly conversationId: string
  readonly agent: string | null
  readonly model: string | null
  readonly mode: Mode | null
}

/** Who answers, with which model, and what it may do, for a conversation that is there. Its agent is for good. */
export function Pickers({ conversationId, agent, model, mode }: PickersProps) {
  const params = { id: conversationId }
  return (
    <>
      {agent && (
        <span className="truncate px-2 text-[13px] text-faint max-sm:hidden">
          <Plain text={humanName(agent)} />
        </span>
      )}
      <ModelPicker
        value={model ?? undefined}
        onChoose={(name) => void attempt(() => client.chooseModel({ params, body: { name } }))}
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

export function ModelPicker({ value, onChoose }: PickerProps<string>) {
  const models = useStore(catalogue)?.models
  if (!models) return null
  const chosen = value ?? models.default ?? undefined
  const choices = models.items.map(({ name, available, need }) => ({
    value: name,
    name: <Plain text={name} />,
    disabled: !available,
    ...(need && !available ? { says: <Plain text={`To use it: ${forPeople(need)}.`} /> } : {}),
  }))
  const shown = chosen ?? "Choose a model"
  return <Picker label="Model" value={chosen} shown={shown} choices={choices} onChoose={onChoose} />
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
    <Menu
      side="top"
      trigger={
        <button
          type="button"
          aria-label={`${label}: ${shown}`}
          className="flex h-8 min-w-0 items-center gap-1 rounded-lg px-2 text-[13px] text-soft hover:bg-sunken hover:text-ink"
        >
          <span className="truncate">
            <Plain text={shown} />
          </span>
          <ChevronDown className="size-3.5 shrink-0 text-faint" />
        </button>
      }
    >
      <MenuChoices label={label} {...choosing} />
    </Menu>
  )
}
