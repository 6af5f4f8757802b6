import { type ReactNode, useId, useState } from "react"
import {
  efforts,
  type ReplySettings,
  type ReplySettingsPatch,
  type SettingName,
} from "../../../../core/protocol/index.ts"
import { Button } from "../../components/button.tsx"
import { explain } from "../../components/explain.ts"
import { Select } from "../../components/form.tsx"
import { Plain } from "../../components/plain.tsx"
import { noticeSignOut } from "../../state/identity.ts"
import {
  type SettingNotes,
  type SettingsDraft,
  emptySettings,
  readSettingsDraft,
  settingsPatch,
  toSettingsDraft,
} from "./settings-draft.ts"
import { type Key, t } from "../../strings/strings.ts"

interface SettingsFormProps {
  readonly settings: ReplySettings
  readonly notes: SettingNotes
  readonly onChange: (patch: ReplySettingsPatch) => Promise<unknown>
  readonly onClose: () => void
}

type Choices = readonly (readonly [value: string, label: Key])[]

const EFFORT_LABELS: Readonly<Record<(typeof efforts)[number], Key>> = {
  none: "conversation.effortNone",
  minimal: "conversation.effortMinimal",
  low: "conversation.effortLow",
  medium: "conversation.effortMedium",
  high: "conversation.effortHigh",
  xhigh: "conversation.effortXhigh",
  max: "conversation.effortMax",
}
const DEFAULT = ["", "conversation.asDefault"] as const
const EFFORTS: Choices = [DEFAULT, ...efforts.map((each) => [each, EFFORT_LABELS[each]] as const)]
const THINKING: Choices = [DEFAULT, ["true", "conversation.on"], ["false", "conversation.off"]]
const CALLS: Choices = [DEFAULT, ["true", "conversation.inParallel"], ["false", "conversation.oneAtATime"]]

/** The fields of the reply settings. An empty one uses the default of the agent and the server. Saved together. */
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
      <h2 className="mb-3 font-medium">{t("conversation.replySettings")}</h2>
      <div className="grid grid-cols-2 items-start gap-x-3 gap-y-3">
        <Field label={t("conversation.effort")} {...field("effort")} choices={EFFORTS} />
        <Field label={t("conversation.thinking")} {...field("thinking")} choices={THINKING} />
        <Field label={t("conversation.thinkingTokens")} {...field("thinkingTokens")} inputMode="numeric" />
        <Field label={t("conversation.maxOutput")} {...field("maxOutputTokens")} inputMode="numeric" />
        <Field label={t("conversation.temperature")} {...field("temperature")} inputMode="decimal" />
        <Field label={t("conversation.toolCalls")} {...field("parallelCalls")} choices={CALLS} />
        <Field label={t("conversation.stopSequences")} {...field("stop")} isLong />
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
          {t("conversation.resetAll")}
        </Button>
        <Button look="main" type="submit" disabled={isSaving}>
          {t(isSaving ? "common.saving" : "common.save")}
        </Button>
      </div>
    </form>
  )
}

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onText: (text: string) => void
  /** The error of the field. */
  readonly says: string | undefined
  /** A note on what the model does with it. */
  readonly note: string | undefined
  readonly choices?: Choices
  readonly inputMode?: "numeric" | "decimal"
  readonly isLong?: boolean
}

function Field({ label, value, onText, says, note, choices, inputMode, isLong = false }: FieldProps): ReactNode {
  const id = useId()
  // Shown only for a setting that has a value.
  const shown = says ?? (value === "" ? undefined : note)
  const common = { id, value, "aria-describedby": `${id}-says`, "aria-invalid": says !== undefined }
  return (
    <div className={`min-w-0 ${isLong ? "col-span-2" : ""}`}>
      <label htmlFor={id} className="mb-1 block text-[13px] text-soft">
        {label}
      </label>
      {choices ? (
        <Select {...common} choices={choices.map(([value, label]) => [value, t(label)] as const)} onChoose={onText} />
      ) : isLong ? (
        <textarea {...common} rows={2} onChange={({ target }) => onText(target.value)} className="field" />
      ) : (
        <input
          {...common}
          inputMode={inputMode}
          placeholder={t("conversation.asDefault")}
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
