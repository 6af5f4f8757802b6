import { type ReactNode, useId, useState } from "react"
import { efforts, type ReplySettings, type ReplySettingsPatch, type SettingName } from "../../../src/protocol/index.ts"
import { Button } from "../../parts/button.tsx"
import { explain } from "../../parts/explain.ts"
import { Select } from "../../parts/labelled.tsx"
import { Plain } from "../../parts/plain.tsx"
import { noticeSignOut } from "../../state/identity.ts"
import type { SettingNotes } from "./setting-notes.ts"
import {
  emptySettings,
  readSettingsDraft,
  type SettingsDraft,
  settingsPatch,
  toSettingsDraft,
} from "./settings-draft.ts"

interface SettingsFormProps {
  readonly settings: ReplySettings
  readonly notes: SettingNotes
  readonly onChange: (patch: ReplySettingsPatch) => Promise<unknown>
  readonly onClose: () => void
}

const USUAL = ["", "As usual"] as const
const EFFORT_WORDS: Readonly<Record<(typeof efforts)[number], string>> = {
  ...{ none: "None", minimal: "Minimal", low: "Low", medium: "Medium", high: "High" },
  ...{ xhigh: "Very high", max: "As high as it can" },
}
const EFFORTS = [USUAL, ...efforts.map((each) => [each, EFFORT_WORDS[each]] as const)]
const THINKING = [USUAL, ["true", "On"], ["false", "Off"]] as const
const CALLS = [USUAL, ["true", "Several at a time"], ["false", "One at a time"]] as const

/** The fields of what can be set. What is empty is as the agent and the server say; kept when it is saved. */
export function SettingsForm({ settings, notes, onChange, onClose }: SettingsFormProps) {
  const [draft, setDraft] = useState<SettingsDraft>(() => toSettingsDraft(settings))
  const [problems, setProblems] = useState<Partial<Record<SettingName, string>>>({})
  const [refused, setRefused] = useState<string>()
  const [isSaving, setSaving] = useState(false)

  const save = async (next: SettingsDraft) => {
    const read = readSettingsDraft(next)
    setProblems(read.problems ?? {})
    setRefused(undefined)
    if (read.problems) return
    const patch = settingsPatch(settings, read.settings)
    if (Object.keys(patch).length === 0) return onClose()
    setSaving(true)
    try {
      await onChange(patch)
      onClose()
    } catch (error) {
      noticeSignOut(error)
      setRefused(explain(error))
      setSaving(false)
    }
  }
  const field = (name: SettingName) => ({
    value: draft[name],
    says: problems[name],
    note: notes[name],
    onText: (text: string) => setDraft({ ...draft, [name]: text }),
  })
  return (
    <form
      autoComplete="off"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void save(draft)
      }}
    >
      <h2 className="mb-3 font-medium">How the model replies in this conversation</h2>
      <div className="grid grid-cols-2 items-start gap-x-3 gap-y-3">
        <Field label="Effort" {...field("effort")} choices={EFFORTS} />
        <Field label="Thinking" {...field("thinking")} choices={THINKING} />
        <Field label="Tokens to think with" {...field("thinkingTokens")} inputMode="numeric" />
        <Field label="Longest answer (tokens)" {...field("maxOutputTokens")} inputMode="numeric" />
        <Field label="Temperature, 0 to 2" {...field("temperature")} inputMode="decimal" />
        <Field label="Calls of tools" {...field("parallelCalls")} choices={CALLS} />
        <Field label="Stop where it writes (a line each, four at most)" {...field("stop")} isLong />
      </div>
      <p role="alert" className={refused === undefined ? "sr-only" : "mt-3 text-danger"}>
        {refused !== undefined && <Plain text={refused} />}
      </p>
      <div className="sticky -bottom-4 -mb-4 mt-2 flex flex-wrap items-center justify-end gap-2 bg-surface pt-2 pb-4">
        <Button
          look="quiet"
          disabled={isSaving || Object.values(draft).every((text) => text === "")}
          onClick={() => {
            setDraft(emptySettings)
            void save(emptySettings)
          }}
        >
          All as usual
        </Button>
        <Button look="main" type="submit" disabled={isSaving}>
          {isSaving ? "Saving…" : "Save"}
        </Button>
      </div>
    </form>
  )
}

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onText: (text: string) => void
  /** What is wrong with what stands there. */
  readonly says: string | undefined
  /** What the model makes of it. */
  readonly note: string | undefined
  readonly choices?: readonly (readonly [value: string, name: string])[]
  readonly inputMode?: "numeric" | "decimal"
  readonly isLong?: boolean
}

function Field({ label, value, onText, says, note, choices, inputMode, isLong = false }: FieldProps): ReactNode {
  const id = useId()
  // Said where somebody sets it, or has: of what nobody touches it would be noise.
  const shown = says ?? (value === "" ? undefined : note)
  const common = { id, value, "aria-describedby": `${id}-says`, "aria-invalid": says !== undefined }
  return (
    <div className={`min-w-0 ${isLong ? "col-span-2" : ""}`}>
      <label htmlFor={id} className="mb-1 block text-[13px] text-soft">
        {label}
      </label>
      {choices ? (
        <Select {...common} choices={choices} onChoose={onText} />
      ) : isLong ? (
        <textarea {...common} rows={2} onChange={({ target }) => onText(target.value)} className="field" />
      ) : (
        <input
          {...common}
          inputMode={inputMode}
          placeholder="As usual"
          onChange={({ target }) => onText(target.value)}
          className="field"
        />
      )}
      <p id={`${id}-says`} className={`text-[13px] leading-snug not-empty:mt-1 ${says ? "text-danger" : "text-warn"}`}>
        {shown !== undefined && <Plain text={shown} />}
      </p>
    </div>
  )
}
